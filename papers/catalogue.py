"""All that can be reproduced, by name."""

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
        "bifet-2015-table-1",
        BIFET_2015.format("Table 1"),
        "Sign test and Wilcoxon's test of ten folds, worked out",
        examples.FOLDS,
        examples.find_folds,
    ),
    Reproduction(
        "bifet-2015-table-2",
        BIFET_2015.format("Table 2"),
        "How often tests tell two random forests apart, over 13 streams",
        REJECTIONS,
        rejection_tables.find_overall,
    ),
    Reproduction(
        "bifet-2015-table-3",
        BIFET_2015.format("Table 3"),
        "How often McNemar's test does so, on each stream",
        REJECTIONS,
        rejection_tables.find_mcnemar,
    ),
    Reproduction(
        "bifet-2015-table-4",
        BIFET_2015.format("Table 4"),
        "How often Wilcoxon's test does so, on each stream",
        REJECTIONS,
        rejection_tables.find_wilcoxon,
    ),
    Reproduction(
        "bifet-2015-table-5",
        BIFET_2015.format("Table 5"),
        "Measures of a confusion matrix, worked out",
        examples.MATRIX,
        examples.find_matrix,
    ),
    Reproduction(
        "bifet-2015-figure-2",
        BIFET_2015.format("Figure 2"),
        "Accuracy, kappa, harmonic mean and kappa_m on the electricity market",
        electricity.ELECTRICITY,
        electricity.find_measures,
    ),
    Reproduction(
        "bifet-2015-figure-3",
        BIFET_2015.format("Figure 3"),
        "Accuracy over windows and over ADWIN's on the electricity market",
        electricity.ELECTRICITY,
        electricity.find_forgettings,
    ),
    Reproduction(
        "bifet-2015-figure-4",
        BIFET_2015.format("Figure 4"),
        "Accuracy on a holdout set, with ADWIN and over windows",
        estimates.ESTIMATES,
        estimates.find_estimates,
    ),
    Reproduction(
        "gama-2009-figure-2",
        GAMA_2009.format("Figure 2"),
        "Prequential error and error on a holdout set",
        holdout.WAVEFORM,
        holdout.find_pessimism,
    ),
    Reproduction(
        "gama-2009-figure-3",
        GAMA_2009.format("Figure 3"),
        "Prequential error with windows and fading, and error on a holdout set",
        holdout.WAVEFORM,
        holdout.find_windows,
    ),
    Reproduction(
        "gama-2009-figure-4",
        GAMA_2009.format("Figure 4"),
        "The Q statistic of two learners over all rows",
        comparisons.LOADS,
        comparisons.find_figure_4,
    ),
    Reproduction(
        "gama-2009-figure-5",
        GAMA_2009.format("Figure 5"),
        "The Q statistic over a window and with fading",
        comparisons.LOADS,
        comparisons.find_figure_5,
    ),
    Reproduction(
        "gama-2009-figure-6",
        GAMA_2009.format("Figure 6"),
        "The signed McNemar statistic of two naive Bayes variants over all rows",
        comparisons.VARIANTS,
        comparisons.find_figure_6,
    ),
    Reproduction(
        "gama-2009-figure-7",
        GAMA_2009.format("Figure 7"),
        "The signed McNemar statistic over windows and with fading",
        comparisons.VARIANTS,
        comparisons.find_figure_7,
    ),
    Reproduction(
        "gama-2009-figure-8",
        GAMA_2009.format("Figure 8"),
        "The Page-Hinkley test at the first drift",
        first_stream.FIRST_STREAM,
        first_stream.find_figure_8,
    ),
    Reproduction(
        "gama-2009-figure-9",
        GAMA_2009.format("Figure 9"),
        "Delays of the Page-Hinkley test without and with fading",
        first_stream.FIRST_STREAM,
        first_stream.find_figure_9,
    ),
    Reproduction(
        "gama-2009-table-2",
        GAMA_2009.format("Table 2"),
        "Delays of the Page-Hinkley test for six fading factors",
        page_hinkley.DELAYS,
        page_hinkley.find_delays,
    ),
    Reproduction(
        "bifet-2016-numbers",
        BIFET_2016.format("worked examples"),
        "Measures, the matrix of chance, McNemar's and Nemenyi's critical values, worked out",
        bifet_2016.NUMBERS,
        bifet_2016.find_numbers,
    ),
    Reproduction(
        "bifet-2016-ram-hours",
        BIFET_2016.format("cost evaluation"),
        "RAM-hours of two classifiers",
        bifet_2016.COSTS,
        bifet_2016.find_costs,
    ),
    Reproduction(
        "stuffed-sampling",
        STUFFED.format("section 6.5.1"),
        "A training and a test set of a wanted balance, worked out",
        stuffed.SAMPLING,
        stuffed.find_sampling,
    ),
    Reproduction(
        "stuffed-grid",
        STUFFED.format("sections 4.1.2 and 5.3"),
        "Learners on samples of any balance and labelling",
        stuffed.GRID,
        stuffed.find_grid,
    ),
)

REPRODUCTIONS: dict[str, Reproduction] = {reproduction.name: reproduction for reproduction in _ALL}
"""The tables and figures by name."""
