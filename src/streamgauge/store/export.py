"""The last readings of a store as a file: CSV, Parquet, JSON, or a LaTeX table for a paper."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge._format.text import shorten_stream_names
from streamgauge.errors import StreamgaugeError
from streamgauge.results import write_table
from streamgauge.store.filters import Filter
from streamgauge.store.store import Store
from streamgauge.streams.output_files import replace_atomically

__all__ = ["export", "latex_table"]

if TYPE_CHECKING:
    from streamgauge.reports.document import Cell


def export(store: Store, path: Path | str, wanted: Filter = Filter()) -> Path:
    r"""Write the last readings of a store to a file that ends in .csv, .parquet, .json or .tex.

    Parameters
    ----------
    store
        The store.
    path
        The file.
    wanted
        Which readings; all by default. A LaTeX table is of one measure and one forgetting.

    Examples
    --------
    >>> import tempfile
    >>> import streamgauge as sg
    >>> store = Store(tempfile.mkdtemp(), new=True)
    >>> export(store, store.folder / "all.xlsx")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: ...all.xlsx: readings are written to a file that ends in .csv, .parquet, ...
    """
    path = Path(path)
    if path.suffix in {".csv", ".parquet"}:
        return write_table(store.table(wanted), path)
    if path.suffix not in {".json", ".tex"}:
        msg = f"{path}: readings are written to a file that ends in .csv, .parquet, .json or .tex"
        raise StreamgaugeError(msg)
    rows = store.finals(wanted)
    text = json.dumps(rows, indent=2) + "\n" if path.suffix == ".json" else latex_table(rows)
    with replace_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def latex_table(rows: Sequence[dict[str, Any]]) -> str:
    r"""Write last readings as a LaTeX table (booktabs): a line a stream, a column a learner, the best in bold.

    Values are means over the folds and over the seeds. What differs between lines beside the stream, as the scheme or
    the labelling, stands with its name.

    Parameters
    ----------
    rows
        As `Store.finals` gives them, of one measure and one forgetting.

    Examples
    --------
    >>> row = {"stream": "sea", "scheme": "", "labelling": "", "measure": "accuracy", "forgetting": "Landmark()"}
    >>> row["greater_is_better"] = 1
    >>> print(latex_table([{**row, "learner": "a_b", "mean": 0.9}, {**row, "learner": "c", "mean": 0.8}]))
    \begin{tabular}{lrr}
      \toprule
      accuracy & a\_b & c \\
      \midrule
      sea & \textbf{0.9000} & 0.8000 \\
      \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    from streamgauge.reports.document import Grid  # noqa: PLC0415  (whoever runs experiments needs no reports)
    from streamgauge.reports.latex import tabular  # noqa: PLC0415

    for axis in ("measure", "forgetting"):
        names = sorted({str(row[axis]) for row in rows})
        if len(names) != 1:
            found = (
                f"there are {', '.join(names)}; choose one: --{axis}, or Filter({axis}=...)"
                if names
                else "there are no readings"
            )
            msg = f"a LaTeX table is of one {axis}: {found}"
            raise StreamgaugeError(msg)
    measure, best_is_most = str(rows[0]["measure"]), bool(rows[0]["greater_is_better"])
    streams = list(dict.fromkeys(str(row["stream"]) for row in rows))
    short = dict(zip(streams, shorten_stream_names(streams), strict=True))
    rows = [{**row, "stream": short[str(row["stream"])]} for row in rows]
    learners = tuple(dict.fromkeys(str(row["learner"]) for row in rows))
    lines = tuple(
        (line, _cells([means.get(name) for name in learners], best_is_most=best_is_most))
        for line, means in _lines(rows).items()
    )
    return "\n".join([*tabular(Grid("", (measure, *learners), lines)), ""])


def _lines(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Give per line of the table the mean of each learner."""
    telling = [axis for axis in ("stream", "scheme", "labelling") if axis == "stream" or _differs(rows, axis)]
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        line = values.setdefault(", ".join(str(row[axis]) for axis in telling), {})
        if row["mean"] is not None:
            line.setdefault(str(row["learner"]), []).append(row["mean"])
    return {line: {name: sum(of) / len(of) for name, of in found.items()} for line, found in values.items()}


def _differs(rows: Sequence[dict[str, Any]], axis: str) -> bool:
    return len({row[axis] for row in rows}) > 1


def _cells(means: Sequence[float | None], *, best_is_most: bool) -> "tuple[Cell, ...]":
    from streamgauge.reports.document import Cell  # noqa: PLC0415

    known = [round(mean, 4) for mean in means if mean is not None]
    best = (max(known) if best_is_most else min(known)) if known else None
    return tuple(Cell("--") if mean is None else Cell(f"{mean:.4f}", best=round(mean, 4) == best) for mean in means)
