"""The last readings of a store as a file: CSV, Parquet, JSON, or a LaTeX table."""

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

__all__ = ["build_latex_table", "export"]

if TYPE_CHECKING:
    from streamgauge.reports.model import Cell


def export(store: Store, path: Path | str, wanted: Filter = Filter()) -> Path:
    r"""Write the last readings of a store to a .csv, .parquet, .json or .tex file.

    Parameters
    ----------
    store
        The store.
    path
        The file.
    wanted
        Which readings to write; all by default. A LaTeX table has one measure and one forgetting.

    Examples
    --------
    >>> import tempfile
    >>> import streamgauge as sg
    >>> store = Store(tempfile.mkdtemp(), new=True)
    >>> export(store, store.folder / "all.xlsx")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: ...all.xlsx: the name of the file must end in .csv, .parquet, .json or .tex
    """
    path = Path(path)
    if path.suffix in {".csv", ".parquet"}:
        return write_table(store.table(wanted), path)
    if path.suffix not in {".json", ".tex"}:
        msg = f"{path}: the name of the file must end in .csv, .parquet, .json or .tex"
        raise StreamgaugeError(msg)
    rows = store.finals(wanted)
    text = json.dumps(rows, indent=2) + "\n" if path.suffix == ".json" else build_latex_table(rows)
    with replace_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def build_latex_table(rows: Sequence[dict[str, Any]]) -> str:
    r"""Build a LaTeX table (booktabs) of last readings: a line per stream, a column per learner, the best in bold.

    Values are means over the folds and over the seeds. If the scheme or the labelling differ between lines, they follow
    the name of the stream.

    Parameters
    ----------
    rows
        Rows of `Store.finals` with one measure and one forgetting.

    Examples
    --------
    >>> row = {"stream": "sea", "scheme": "", "labelling": "", "measure": "accuracy", "forgetting": "Landmark()"}
    >>> row["greater_is_better"] = 1
    >>> print(build_latex_table([{**row, "learner": "a_b", "mean": 0.9}, {**row, "learner": "c", "mean": 0.8}]))
    \begin{tabular}{lrr}
      \toprule
      accuracy & a\_b & c \\
      \midrule
      sea & \textbf{0.9000} & 0.8000 \\
      \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    from streamgauge.reports.latex import to_tabular  # noqa: PLC0415
    from streamgauge.reports.model import Grid  # noqa: PLC0415  (running experiments needs no reports)

    for axis in ("measure", "forgetting"):
        _require_single(axis, sorted({str(row[axis]) for row in rows}))
    measure, best_is_most = str(rows[0]["measure"]), bool(rows[0]["greater_is_better"])
    streams = list(dict.fromkeys(str(row["stream"]) for row in rows))
    short = dict(zip(streams, shorten_stream_names(streams), strict=True))
    rows = [{**row, "stream": short[str(row["stream"])]} for row in rows]
    learners = tuple(dict.fromkeys(str(row["learner"]) for row in rows))
    lines = tuple(
        (line, _build_cells([means.get(name) for name in learners], best_is_most=best_is_most))
        for line, means in _average(rows).items()
    )
    return "\n".join([*to_tabular(Grid("", (measure, *learners), lines)), ""])


def _require_single(axis: str, names: Sequence[str]) -> None:
    if len(names) == 1:
        return
    reason = (
        f"found {', '.join(names)}; choose one with --{axis} or Filter({axis}=...)" if names else "found no readings"
    )
    msg = f"a LaTeX table needs exactly one {axis}: {reason}"
    raise StreamgaugeError(msg)


def _average(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the mean of each learner over the seeds, per line of the table."""
    axes = [axis for axis in ("stream", "scheme", "labelling") if axis == "stream" or _differs(rows, axis)]
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        line = values.setdefault(", ".join(str(row[axis]) for axis in axes), {})
        if row["mean"] is not None:
            line.setdefault(str(row["learner"]), []).append(row["mean"])
    return {
        line: {name: sum(means) / len(means) for name, means in learners.items()} for line, learners in values.items()
    }


def _differs(rows: Sequence[dict[str, Any]], axis: str) -> bool:
    return len({row[axis] for row in rows}) > 1


def _build_cells(means: Sequence[float | None], *, best_is_most: bool) -> "tuple[Cell, ...]":
    from streamgauge.reports.model import Cell  # noqa: PLC0415

    known = [round(mean, 4) for mean in means if mean is not None]
    best = (max(known) if best_is_most else min(known)) if known else None
    return tuple(Cell("--") if mean is None else Cell(f"{mean:.4f}", best=round(mean, 4) == best) for mean in means)
