"""Confusion matrices on the page, at several moments of the run."""

import math
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.text import describe_forgetting
from streamgauge.records import Confusions, RunData
from streamgauge.reports.model import Drawing
from streamgauge.reports.series import choose_moments
from streamgauge.significance.compare import LANDMARK

__all__ = ["collect_confusion_data", "draw_confusions"]

MAX_CLASSES = 12
"""The limit of classes for which the page shows confusion matrices."""

MAX_SHARES = 12_000
"""The limit of numbers in the confusion matrices of a page."""


def collect_confusion_data(results: RunData) -> dict[str, object] | None:
    """Return the confusion matrices for the script, at as many moments as fit on the page.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> collect_confusion_data(evaluate(SEA(n_rows=100), NoChange(), every=50))["rows"]
    [50, 100]
    """
    if not _can_show(results.confusions):
        return None
    rows, shares = _select_moments(results.confusions, _choose_forgetting(results))
    per_mille = np.where(np.isnan(shares), -1, np.round(1000 * shares)).astype(int)
    return {"rows": rows.tolist(), "shares": per_mille.tolist()}


def draw_confusions(results: RunData) -> tuple[Drawing | None, str]:
    """Return the final confusion matrix of each learner with a slider to earlier moments, and which rows they cover.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> "<input" in draw_confusions(evaluate(SEA(n_rows=100), NoChange(), every=50))[0].markup
    True
    """
    confusions = results.confusions
    if not _can_show(confusions):
        return None, ""
    forgetting = _choose_forgetting(results)
    rows, shares = _select_moments(confusions, forgetting)
    last = len(rows) - 1
    slider = tag("input", type="range", min=0, max=last, value=last, aria_label="row of the run")
    moment = tag("label", slider, tag("output", f"after {int(rows[-1]):,} rows"), class_="moment screen")
    tables = (
        _build_table(index, name, shares[-1, index], confusions.classes) for index, name in enumerate(results.learners)
    )
    phrase = describe_forgetting(results.forgettings[forgetting])
    return Drawing(join_markup(moment, tag("div", *tables, class_="matrices"))), phrase


def _can_show(confusions: Confusions | None) -> TypeGuard[Confusions]:
    return confusions is not None and len(confusions.rows) > 0 and len(confusions.classes) <= MAX_CLASSES


def _select_moments(confusions: Confusions, forgetting: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows of the moments to show, and the shares [moment, learner, true, predicted] there."""
    n_learners, n_classes = confusions.weights.shape[1], len(confusions.classes)
    moments = choose_moments(len(confusions.rows), max(2, MAX_SHARES // (n_learners * n_classes * (n_classes + 1))))
    return confusions.rows[moments], confusions.shares[moments][:, :, forgetting]


def _choose_forgetting(results: RunData) -> int:
    """Return the index of the forgetting that covers all rows, as the tables do; if there is none, of the first."""
    return results.forgettings.index(LANDMARK) if LANDMARK in results.forgettings else 0


def _build_table(index: int, name: str, shares: NDArray[np.float64], classes: Sequence[str]) -> Markup:
    head = tag(
        "tr",
        tag("th", "true \\ predicted", scope="col"),
        *(tag("th", label, scope="col") for label in (*classes, "none")),
    )
    rows = (
        tag("tr", tag("th", label, scope="row"), *(_build_cell(share) for share in line))
        for label, line in zip(classes, shares.tolist(), strict=True)
    )
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="confusion", data_learner=index)
    return tag("div", tag("h3", name), tag("div", table, class_="scroll", tabindex=0, role="group", aria_label=name))


def _build_cell(share: float) -> Markup:
    if math.isnan(share):
        return tag("td", "")
    return tag("td", f"{100 * share:.1f}", class_=f"shade-{round(10 * share)}")
