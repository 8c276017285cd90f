"""Losses estimated with few labels, as every report shows them: estimates beside the truth, never called verdicts."""

import math
from collections.abc import Sequence

from streamgauge._format.numbers import MISSING, format_difference, format_value
from streamgauge._format.text import count
from streamgauge.records import LabelEstimate
from streamgauge.reports.model import Cell, Grid

__all__ = ["build_estimates_grid", "describe_estimates", "tabulate_estimates", "title_estimates"]

COLUMNS = ("labels and confidence, %", "labels alone, %", "width (best)", "no labels, % (off by)", "truth, %")
"""The columns of a table after the learner and its loss."""

Cells = tuple[tuple[str, str], ...]


def title_estimates(estimates: Sequence[LabelEstimate]) -> str:
    """Return the title of a table of estimates, with the number of labels if it is the same for all.

    Examples
    --------
    >>> alone, powered = (0.217, (0.192, 0.242)), (0.217, (0.196, 0.238))
    >>> estimate = LabelEstimate("tree", "error", 20_000, 1000, 217, *alone, *powered, 1.0, 0.21, 0.212)
    >>> title_estimates([estimate])
    'Estimates from 1,000 labels (5.0% of 20,000 rows)'
    """
    sizes = {(estimate.n_labelled, estimate.n_rows) for estimate in estimates}
    if len(sizes) > 1:
        return "Estimates from few labels"
    n_labelled, n_rows = sizes.pop()
    if not n_labelled:
        return "Estimates without labels"
    return f"Estimates from {count(n_labelled, 'label')} ({100 * n_labelled / max(n_rows, 1):.1f}% of {n_rows:,} rows)"


def tabulate_estimates(estimates: Sequence[LabelEstimate]) -> tuple[tuple[str, ...], list[Cells]]:
    """Return the columns after the learner and its loss, without empty ones, and the cells of each estimate.

    A cell has two parts: a number, and its interval or what else belongs to it.

    Examples
    --------
    >>> alone, powered = (0.217, (0.192, 0.242)), (0.217, (0.196, 0.238))
    >>> sizes = ("tree", "error", 20_000, 1000, 217)
    >>> columns, (cells,) = tabulate_estimates([LabelEstimate(*sizes, *alone, *powered, 1.0, 0.21, 0.212, 0.83, 0.8)])
    >>> columns[2:], cells[2:]
    (('width (best)', 'no labels, % (off by)', 'truth, %'), (('0.83', '(0.80)'), ('21.00', '(-0.20)'), ('21.20', '')))
    """
    rows = list(map(_format_cells, estimates))
    kept = [index for index in range(len(COLUMNS)) if any(row[index][0] != MISSING for row in rows)]
    return tuple(COLUMNS[index] for index in kept), [tuple(row[index] for index in kept) for row in rows]


def _format_cells(estimate: LabelEstimate) -> Cells:
    offset, truth = estimate.offset, estimate.truth
    has_best = math.isfinite(estimate.best_ratio) and math.isfinite(estimate.width_ratio)
    return (
        (format_value(estimate.powered), _format_interval(estimate.powered_interval)),
        (format_value(estimate.labelled), _format_interval(estimate.labelled_interval)),
        (
            f"{estimate.width_ratio:.2f}" if math.isfinite(estimate.width_ratio) else MISSING,
            f"({estimate.best_ratio:.2f})" if has_best else "",
        ),
        (format_value(estimate.unlabelled), "" if offset is None else f"({format_difference(offset)})"),
        (MISSING if truth is None else format_value(truth), ""),
    )


def _format_interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{', '.join(map(format_value, interval))}]"


def describe_estimates(estimates: Sequence[LabelEstimate]) -> tuple[str, ...]:
    """Return what the columns of a table of estimates mean and assume, and the notes of the estimates.

    Examples
    --------
    >>> describe_estimates([])
    ()
    """
    if not estimates:
        return ()
    confidence = f"{100 * (1 - estimates[0].alpha):g}%"
    folds = f", means over {estimates[0].n_folds} folds" if estimates[0].n_folds > 1 else ""
    notes = dict.fromkeys(estimate.note for estimate in estimates if estimate.note)
    columns = tabulate_estimates(estimates)[0]
    intervals = f" with {confidence} intervals" if COLUMNS[1] in columns else ""
    powered = (
        "Labels and confidence: the confidence of the model in the rows without labels is used as well, valid whatever"
        " it is worth."
    )
    width = "Width: of that interval, in widths of the one of labels alone, beside the best possible."
    return (
        f"Estimates at the last row{intervals}{folds}; no verdicts, which would hold at any number of looks.",
        *([powered] if COLUMNS[0] in columns else []),
        *([width] if COLUMNS[2] in columns else []),
        "No labels: by the confidence alone, which assumes that it is calibrated on these rows. Truth: over all rows,"
        " which no estimate uses.",
        *(f"Note: {note.rstrip('.')}." for note in notes),
    )


def build_estimates_grid(estimates: Sequence[LabelEstimate]) -> Grid:
    """Return the table of estimates, a row for each learner and loss.

    Examples
    --------
    >>> alone, powered = (0.217, (0.192, 0.242)), (0.217, (0.196, 0.238))
    >>> estimate = LabelEstimate("tree", "error", 20_000, 1000, 217, *alone, *powered, 1.0, 0.21, 0.212)
    >>> build_estimates_grid([estimate]).rows[0][0]
    'tree, error'
    """
    columns, all_cells = tabulate_estimates(estimates)
    rows = tuple(
        (f"{estimate.learner}, {estimate.measure}", tuple(Cell(*cell) for cell in cells))
        for estimate, cells in zip(estimates, all_cells, strict=True)
    )
    return Grid(title_estimates(estimates), ("learner", *columns), rows)
