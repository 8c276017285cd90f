"""The public Results class: the data of a run, with conversions to tables, text and HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge._optional import library
from streamgauge.records import RunData
from streamgauge.results.display import format_html, format_text
from streamgauge.results.tables import tabulate_readings
from streamgauge.significance.all_pairs import Comparisons
from streamgauge.significance.compare import compare, compare_all
from streamgauge.significance.comparison import Comparison
from streamgauge.significance.ranking import Ranking, rank

if TYPE_CHECKING:
    from streamgauge.plots import Figure

__all__ = ["Results"]


@dataclass(frozen=True, repr=False)
class Results(RunData):
    """The results of an evaluation; see `streamgauge.records.RunData` for its fields.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=100), NoChange(), every=50)
    >>> results.curve("NoChange", "accuracy").shape
    (2, 1)
    """

    def __getitem__(self, learners: str | Sequence[str]) -> "Results":
        """Return the results of one learner or of several; see `select`.

        Examples
        --------
        >>> from streamgauge import SEA, evaluate
        >>> evaluate(SEA(n_rows=1000), ["NaiveBayes", "NoChange"])["NaiveBayes"]
        After 1,000 rows of SEA(n_rows=1000), over all rows
                    accuracy %
        NaiveBayes       84.20
        """
        return self.select(learners)

    def compare(self, first: str | None = None, second: str | None = None, **options: Any) -> Comparison | Comparisons:  # noqa: ANN401
        """Test two learners, or every pair if there are more and none is named, with adjusted p-values.

        Parameters
        ----------
        first, second
            Names of the learners.
        options
            As for `streamgauge.compare`, such as ``measure="kappa"``.

        Examples
        --------
        >>> from streamgauge import SEA, evaluate
        >>> learners = ["NaiveBayes", "NoChange", "MajorityClass"]
        >>> results = evaluate(SEA(n_rows=2000), learners, scheme="Bootstrap(5)")
        >>> results.compare("NaiveBayes", "NoChange").better
        'NaiveBayes'
        >>> [outcome.better for outcome in results.compare()]
        ['NaiveBayes', 'NaiveBayes', 'MajorityClass']
        """
        if first is None and second is None and len(self.pairs) > 1:
            return compare_all(self, **options)
        return compare(self, first, second, **options)

    def rank(self, *others: RunData, **options: Any) -> Ranking:  # noqa: ANN401
        """Rank the learners over the streams of this run and of others, with tests over the streams.

        Parameters
        ----------
        others
            The results of the same learners on other streams.
        options
            As for `streamgauge.rank`, such as ``value="mean"``.

        Examples
        --------
        >>> from streamgauge import evaluate
        >>> learners = ["NaiveBayes", "NoChange", "MajorityClass"]
        >>> streams = ["SEA(n_rows=500)", "RandomRBF(n_rows=500)", "LED(n_rows=500)"]
        >>> first, *others = (evaluate(stream, learners) for stream in streams)
        >>> first.rank(*others).learners[0]
        'NaiveBayes'
        """
        return rank([self, *others], **options)

    def plot(self, measures: str | Sequence[str] | None = None, forgettings: object = None, **options: Any) -> "Figure":  # noqa: ANN401
        """Draw measures along the stream; a notebook shows the figure, and `Figure.save` writes it.

        Parameters
        ----------
        measures, forgettings, options
            As for `streamgauge.plots.curves`.

        Examples
        --------
        >>> from streamgauge import SEA, evaluate
        >>> evaluate(SEA(n_rows=1000), "NaiveBayes").plot().drawn.axes[0].get_ylabel()
        'accuracy %'
        """
        from streamgauge.plots import curves  # noqa: PLC0415  (Matplotlib is slow to import)

        return curves(self, measures, forgettings, **options)

    def report(self, path: Path | str = "report.html", **options: Any) -> Path:  # noqa: ANN401
        """Write a report with tests of all pairs to a file and return its path: .html, .md or .tex.

        Parameters
        ----------
        path
            The file; its suffix decides the format.
        options
            As for `streamgauge.reports.write_report`, such as ``measure="kappa"``.

        Examples
        --------
        >>> from tempfile import mkdtemp
        >>> from streamgauge import SEA, evaluate
        >>> evaluate(SEA(n_rows=1000), "NaiveBayes").report(Path(mkdtemp()) / "report.html").name
        'report.html'
        """
        from streamgauge.reports import write_report  # noqa: PLC0415

        return write_report(self, path, **options)

    def save(self, path: Path | str) -> Path:
        """Save the results in a folder and return its path; `streamgauge.load` reads them.

        Examples
        --------
        >>> from tempfile import mkdtemp
        >>> from streamgauge import SEA, evaluate, load
        >>> folder = evaluate(SEA(n_rows=1000), "NaiveBayes").save(Path(mkdtemp()) / "run")
        >>> load(folder).learners
        ('NaiveBayes',)
        """
        from streamgauge.results.files import save  # noqa: PLC0415  (it builds results)

        return save(self, path)

    def to_latex(self, **options: Any) -> str:  # noqa: ANN401
        r"""Return the tables of a report in LaTeX; they need booktabs.

        Parameters
        ----------
        options
            As for `streamgauge.reports.report`, such as ``measure="kappa"``.

        Examples
        --------
        >>> from streamgauge import SEA, evaluate
        >>> "NaiveBayes & 84.20" in evaluate(SEA(n_rows=1000), "NaiveBayes").to_latex()
        True
        """
        from streamgauge.reports import report  # noqa: PLC0415

        return report(self, format="latex", **options)

    def to_arrow(self) -> Any:  # noqa: ANN401  (pyarrow has no types)
        """Return all readings as one tidy Arrow table: row, learner, fold, measure, forgetting, value.

        If the rows carry times, a column ``time`` follows the row: timestamps in UTC, or seconds if times start at 0.

        Examples
        --------
        >>> from streamgauge import SEA, NoChange, evaluate
        >>> evaluate(SEA(n_rows=100), NoChange()).to_arrow().column_names
        ['row', 'learner', 'fold', 'measure', 'forgetting', 'value']
        """
        return tabulate_readings(self)

    def to_pandas(self) -> Any:  # noqa: ANN401
        """Return all readings as a tidy pandas DataFrame with the columns of `to_arrow`; names are categories.

        Examples
        --------
        >>> from streamgauge import SEA, NoChange, evaluate
        >>> evaluate(SEA(n_rows=100), NoChange(), every=50).to_pandas()["row"].tolist()
        [50, 100]
        """
        library("pandas", "pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:  # noqa: ANN401
        """Return all readings as a tidy polars DataFrame with the columns of `to_arrow`; names are categories.

        Examples
        --------
        >>> from streamgauge import SEA, NoChange, evaluate
        >>> evaluate(SEA(n_rows=100), NoChange(), every=50).to_polars()["row"].to_list()
        [50, 100]
        """
        return library("polars", "polars").from_arrow(self.to_arrow())

    def __repr__(self) -> str:
        return format_text(self)

    def _repr_html_(self) -> str:
        return format_html(self)
