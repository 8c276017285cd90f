"""Reliability: how often rows are of a class for which a learner voted with a certain share."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.numbers import MISSING, format_value
from streamgauge._format.palette import COLOURS, DASHES
from streamgauge.records import RunData
from streamgauge.reports.model import Cell, Drawing, Grid
from streamgauge.reports.svg import draw_key, wrap_picture

__all__ = ["build_calibration_grid", "collect_reliability", "draw_calibration", "find_shares"]

N_GROUPS = 10
"""The number of groups of shares of the same width."""

FEWEST = 20
"""The fewest rows of a group that is shown; of fewer the observed share is mostly luck."""

HALF = np.float64(0.5).view(np.int64)
SIZE, MARGIN = 360, 46


def find_shares(bins: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the shares of votes in the middle of bins, as the kernels number them: ascending, mirrored at one half.

    Examples
    --------
    >>> find_shares(np.array([2 * -(1 << 52) + 1, 1])).round(6).tolist()  # a quarter, and one half
    [0.25, 0.5]
    """
    indices = bins >> 1
    distance = np.where(indices < 0, -indices, indices + 1)
    smaller = np.maximum(HALF - distance, 0).view(np.float64)  # the least ones share bins, and are 0 here
    return np.where(indices < 0, smaller, 1.0 - smaller)


def collect_reliability(results: RunData) -> tuple[str, dict[str, NDArray[np.float64]]]:
    """Return whose votes are shown, and for each learner the mean share, the observed share and the rows of each group.

    Of two classes the rarer is shown, of more all together. Empty unless votes were kept, as they are where learners
    are compared by areas under curves.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> learners = {"bayes": "NaiveBayes", "last": "NoChange"}
    >>> run = evaluate("SEA(n_rows=1000)", learners, measures="pr_auc_ovr_macro")
    >>> whose, groups = collect_reliability(run)
    >>> whose, groups["bayes"].shape
    ('class 0', (3, 10))
    """
    blocks, labels = results.blocks, results.labels
    if blocks is None or not blocks.votes or labels is None or not len(labels.rows):
        return "", {}
    n_classes = len(labels.classes)
    chosen = [int(labels.by_class[-1].argmin())] if n_classes == 2 else list(range(n_classes))
    whose = f"class {labels.classes[chosen[0]]}" if n_classes == 2 else "all classes"
    groups: dict[str, NDArray[np.float64]] = {}
    for index, name in enumerate(results.learners):
        sums = np.zeros((3, N_GROUPS))
        for (learner, _, code), (bins, weights) in blocks.votes.items():
            if learner != index or code not in chosen:
                continue
            own, others = weights.sum(axis=1)
            shares = find_shares(bins)
            places = np.minimum((shares * N_GROUPS).astype(np.int64), N_GROUPS - 1)
            for row, values in enumerate((shares * (own + others), own, own + others)):
                sums[row] += np.bincount(places, values, minlength=N_GROUPS)
        if sums[2].any():
            shown = np.where(sums[2] >= FEWEST, sums[2], np.nan)
            groups[name] = np.stack([sums[0] / shown, sums[1] / shown, sums[2]])
    return whose, groups


def build_calibration_grid(results: RunData) -> Grid | None:
    """Return the observed share of a class for each group of predicted shares; None if votes were not kept.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> build_calibration_grid(evaluate("SEA(n_rows=1000)", "NaiveBayes")) is None
    True
    """
    whose, groups = collect_reliability(results)
    if not groups:
        return None
    width = 100 // N_GROUPS
    columns = ("learner", *(f"{width * group}-{width * (group + 1)}" for group in range(N_GROUPS)))
    rows = tuple(
        (name, tuple(Cell(format_value(value) if np.isfinite(value) else MISSING) for value in values[1].tolist()))
        for name, values in groups.items()
    )
    note = (
        f"Observed % of {whose} where a learner predicted it with that many %. Groups of fewer than {FEWEST} rows: –."  # noqa: RUF001
    )
    return Grid("Calibration", columns, rows, f"{note} A calibrated learner has values within the group.")


def draw_calibration(results: RunData, learners: Sequence[str] = ()) -> Drawing:
    """Return the reliability diagram of a run whose votes were kept; `learners` has those of the whole page.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> run = evaluate("SEA(n_rows=1000)", ["NaiveBayes", "NoChange"], measures="pr_auc_ovr_macro")
    >>> draw_calibration(run).markup.count("<polyline")
    2
    """
    whose, groups = collect_reliability(results)
    return Drawing(_draw_reliability(groups, learners or results.learners, whose))


def _draw_reliability(groups: Mapping[str, NDArray[np.float64]], learners: Sequence[str], whose: str) -> Markup:
    def project(x: float, y: float) -> tuple[float, float]:
        return round(MARGIN + (SIZE - MARGIN - 10) * x, 1), round((SIZE - MARGIN) - (SIZE - MARGIN - 22) * y, 1)

    marks = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        (x, foot), (_, top), (left, y), (right, _) = (
            project(*at) for at in ((share, 0), (share, 1), (0, share), (1, share))
        )
        marks += [tag("line", x1=x, y1=foot, x2=x, y2=top, class_="grid")]
        marks += [tag("line", x1=left, y1=y, x2=right, y2=y, class_="grid")]
        marks += [tag("text", f"{100 * share:g}", x=x, y=foot + 16, class_="axis", text_anchor="middle")]
        marks += [tag("text", f"{100 * share:g}", x=left - 6, y=y + 4, class_="axis", text_anchor="end")]
    (x1, y1), (x2, y2) = project(0, 0), project(1, 1)
    marks.append(tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="front"))
    for name, (predicted, observed, _) in groups.items():
        key = learners.index(name)
        kept = np.isfinite(predicted)
        ends = [project(*pair) for pair in zip(predicted[kept].tolist(), observed[kept].tolist(), strict=True)]
        dash = " ".join(map(str, DASHES[key % len(DASHES)])) or None
        points = " ".join(f"{x},{y}" for x, y in ends)
        colour = f"curve-{key % len(COLOURS)}"
        marks.append(tag("polyline", points=points, class_=colour, stroke_dasharray=dash))
        marks += [tag("circle", cx=x, cy=y, r=3, class_=colour) for x, y in ends]
    marks.append(
        tag("text", f"predicted share of {whose}, %", x=SIZE - 10, y=SIZE - 8, class_="axis", text_anchor="end")
    )
    marks.append(tag("text", "observed, %", x=4, y=12, class_="axis"))
    label = f"Observed share of {whose} against the predicted one, by learner"
    keys = tag("ul", *(tag("li", draw_key(learners.index(name)), name) for name in groups), class_="keys")
    return join_markup(wrap_picture(marks, SIZE, SIZE, label), keys)
