"""The public Results class: the data of a run, with conversions to tables, text and HTML."""

from dataclasses import dataclass
from typing import Any

from streamgauge._optional import library
from streamgauge.records import RunData
from streamgauge.results.display import format_html, format_text
from streamgauge.results.tables import tabulate_readings

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
