"""The catalogue of reproductions."""

from papers import bifet_2016, stuffed
from papers.bifet_2015 import electricity, estimates, examples, rejection_tables
from papers.bifet_2015.rejections import REJECTIONS
from papers.findings import Reproduction
from papers.gama_2009 import comparisons, first_stream, holdout, page_hinkley

__all__ = ["REPRODUCTIONS"]

BIFET_2015 = (
    "A. Bifet, G. de Francisci Morales, J. Read, G. Holmes and B. Pfahringer, Efficient online evaluation of big data"
    " stream classifiers, KDD 2015, {}"
)
BIFET_2016 = "A. Bifet, Evaluation, slides, Paris, 2 December 2016, {}"
GAMA_2009 = (
    "J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009, {}"
)
STUFFED = "R. J. Lyon, Stuffed version 2.0, manual, 2015, {}"

_ALL = (
    Reproduction(
        name="bifet-2015-table-1",
        source=BIFET_2015.format("Table 1"),
        title="Sign test and Wilcoxon's test over ten folds: worked example",
        experiment=examples.FOLDS,
        find=examples.find_folds,
    ),
    Reproduction(
        name="bifet-2015-table-2",
        source=BIFET_2015.format("Table 2"),
        title="Rejection rates of tests of two random forests, over 13 streams",
        experiment=REJECTIONS,
        find=rejection_tables.find_overall,
    ),
    Reproduction(
        name="bifet-2015-table-3",
        source=BIFET_2015.format("Table 3"),
        title="Rejection rates of McNemar's test, by stream",
        experiment=REJECTIONS,
        find=rejection_tables.find_mcnemar,
    ),
    Reproduction(
        name="bifet-2015-table-4",
        source=BIFET_2015.format("Table 4"),
        title="Rejection rates of Wilcoxon's test, by stream",
        experiment=REJECTIONS,
        find=rejection_tables.find_wilcoxon,
    ),
    Reproduction(
        name="bifet-2015-table-5",
        source=BIFET_2015.format("Table 5"),
        title="Measures of a confusion matrix: worked example",
        experiment=examples.MATRIX,
        find=examples.find_matrix,
    ),
    Reproduction(
        name="bifet-2015-figure-2",
        source=BIFET_2015.format("Figure 2"),
        title="Accuracy, kappa, harmonic mean and kappa_m on the electricity market",
        experiment=electricity.ELECTRICITY,
        find=electricity.find_measures,
    ),
    Reproduction(
        name="bifet-2015-figure-3",
        source=BIFET_2015.format("Figure 3"),
        title="Accuracy over windows and with ADWIN on the electricity market",
        experiment=electricity.ELECTRICITY,
        find=electricity.find_forgettings,
    ),
    Reproduction(
        name="bifet-2015-figure-4",
        source=BIFET_2015.format("Figure 4"),
        title="Accuracy on a holdout set, with ADWIN and over windows",
        experiment=estimates.ESTIMATES,
        find=estimates.find_estimates,
    ),
    Reproduction(
        name="gama-2009-figure-2",
        source=GAMA_2009.format("Figure 2"),
        title="Prequential error and error on a holdout set",
        experiment=holdout.WAVEFORM,
        find=holdout.find_pessimism,
    ),
    Reproduction(
        name="gama-2009-figure-3",
        source=GAMA_2009.format("Figure 3"),
        title="Prequential error with windows and fading, and error on a holdout set",
        experiment=holdout.WAVEFORM,
        find=holdout.find_windows,
    ),
    Reproduction(
        name="gama-2009-figure-4",
        source=GAMA_2009.format("Figure 4"),
        title="The Q statistic of two learners over all rows",
        experiment=comparisons.LOADS,
        find=comparisons.find_figure_4,
    ),
    Reproduction(
        name="gama-2009-figure-5",
        source=GAMA_2009.format("Figure 5"),
        title="The Q statistic over a window and with fading",
        experiment=comparisons.LOADS,
        find=comparisons.find_figure_5,
    ),
    Reproduction(
        name="gama-2009-figure-6",
        source=GAMA_2009.format("Figure 6"),
        title="The signed McNemar statistic of two naive Bayes variants over all rows",
        experiment=comparisons.VARIANTS,
        find=comparisons.find_figure_6,
    ),
    Reproduction(
        name="gama-2009-figure-7",
        source=GAMA_2009.format("Figure 7"),
        title="The signed McNemar statistic over windows and with fading",
        experiment=comparisons.VARIANTS,
        find=comparisons.find_figure_7,
    ),
    Reproduction(
        name="gama-2009-figure-8",
        source=GAMA_2009.format("Figure 8"),
        title="The Page-Hinkley test at the first drift",
        experiment=first_stream.FIRST_STREAM,
        find=first_stream.find_figure_8,
    ),
    Reproduction(
        name="gama-2009-figure-9",
        source=GAMA_2009.format("Figure 9"),
        title="Delays of the Page-Hinkley test without and with fading",
        experiment=first_stream.FIRST_STREAM,
        find=first_stream.find_figure_9,
    ),
    Reproduction(
        name="gama-2009-table-2",
        source=GAMA_2009.format("Table 2"),
        title="Delays of the Page-Hinkley test for six fading factors",
        experiment=page_hinkley.DELAYS,
        find=page_hinkley.find_delays,
    ),
    Reproduction(
        name="bifet-2016-numbers",
        source=BIFET_2016.format("worked examples"),
        title="Measures, chance matrix, critical values of McNemar and Nemenyi: worked examples",
        experiment=bifet_2016.NUMBERS,
        find=bifet_2016.find_numbers,
    ),
    Reproduction(
        name="bifet-2016-ram-hours",
        source=BIFET_2016.format("cost evaluation"),
        title="RAM-hours of two classifiers",
        experiment=bifet_2016.COSTS,
        find=bifet_2016.find_costs,
    ),
    Reproduction(
        name="stuffed-sampling",
        source=STUFFED.format("section 6.5.1"),
        title="Training and test set of a given balance: worked example",
        experiment=stuffed.SAMPLING,
        find=stuffed.find_sampling,
    ),
    Reproduction(
        name="stuffed-grid",
        source=STUFFED.format("sections 4.1.2 and 5.3"),
        title="Learners on samples of varying balance and labelling",
        experiment=stuffed.GRID,
        find=stuffed.find_grid,
    ),
)

REPRODUCTIONS: dict[str, Reproduction] = {reproduction.name: reproduction for reproduction in _ALL}
"""Reproductions by name."""
