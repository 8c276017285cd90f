"""Results as users hold them: the data of a run, its tables, and how it shows itself."""

from dataclasses import dataclass
from typing import Any

from streamgauge._optional import library
from streamgauge.records import RunData
from streamgauge.results.notebook import results_html, results_text
from streamgauge.results.tables import readings_table

__all__ = ["Results"]


@dataclass(frozen=True, repr=False)
class Results(RunData):
    """The results of an evaluation; see `streamgauge.records.RunData` for its fields.

    Examples
    --------
    >>> values = np.array([[[[[0.75]], [[0.85]]]]])
    >>> results = Results(np.array([100]), values, ("tree",), ("Landmark()",), ("accuracy",), (), 100, complete=True)
    >>> results.curve("tree", "accuracy").tolist()
    [[0.75, 0.85]]
    """

    def to_arrow(self) -> Any:  # noqa: ANN401  (pyarrow has no types)
        """Give all readings as one tidy Arrow table: row, learner, fold, measure, forgetting, value.

        Examples
        --------
        >>> values = np.array([[[[[0.75]], [[0.85]]]]])
        >>> names = (("tree",), ("Landmark()",), ("accuracy",))
        >>> results = Results(np.array([100]), values, *names, (), 100, complete=True)
        >>> results.to_arrow().column_names
        ['row', 'learner', 'fold', 'measure', 'forgetting', 'value']
        """
        return readings_table(self)

    def to_pandas(self) -> Any:  # noqa: ANN401
        """Give all readings as a tidy DataFrame of pandas, as `to_arrow`; names are categories.

        Examples
        --------
        >>> from streamgauge import SEA, NoChange, evaluate
        >>> evaluate(SEA(n_rows=100), NoChange(), every=50).to_pandas()["row"].tolist()
        [50, 100]
        """
        library("pandas", "pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:  # noqa: ANN401
        """Give all readings as a tidy DataFrame of polars, as `to_arrow`; names are categories.

        Examples
        --------
        >>> from streamgauge import SEA, NoChange, evaluate
        >>> evaluate(SEA(n_rows=100), NoChange(), every=50).to_polars()["row"].to_list()
        [50, 100]
        """
        return library("polars", "polars").from_arrow(self.to_arrow())

    def __repr__(self) -> str:
        return results_text(self)

    def _repr_html_(self) -> str:
        return results_html(self)
