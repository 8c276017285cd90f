"""Confusion matrices as text, for a terminal."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import format_value
from streamgauge._format.text import count, describe_forgetting, make_printable
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import Confusions, RunData

__all__ = ["find_forgetting", "find_moments", "format_confusion", "list_confusions", "require_confusions"]


def format_confusion(
    results: RunData,
    forgetting: str | None = None,
    *,
    learners: Sequence[str] | None = None,
    row: int | None = None,
) -> str:
    r"""Return the confusion matrix of each learner as text: counts, the recall of each class and its precision.

    Parameters
    ----------
    results
        The results of an evaluation.
    forgetting
        The name of the forgetting; by default the first.
    learners
        The learners to show; by default all.
    row
        The row of the stream up to which the last matrix that was kept is shown; by default the end.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> print(format_confusion(evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes()})))
    Confusion matrix of bayes after 1,000 rows, over all rows
    true \ predicted      0      1  none  recall %
    0                   226    124     0     64.57
    1                    33    616     1     94.77
    precision %       87.26  83.24
    """
    confusions, f = require_confusions(results), find_forgetting(results, forgetting)
    (moment,) = find_moments(confusions, results.n_rows if row is None else row).tolist()
    for name in learners or ():
        if name not in results.learners:
            raise unknown_name(kind="learner", name=name, known=results.learners)
    phrase = make_printable(describe_forgetting(results.forgettings[f]))
    folds = f", sum of {results.n_folds} folds" if results.n_folds > 1 else ""
    n_rows = count(int(confusions.rows[moment]), "row")
    parts = []
    for name in learners or results.learners:
        title = f"Confusion matrix of {make_printable(name)} after {n_rows}, {phrase}"
        weights = confusions.weights[moment, results.learners.index(name), f]
        parts.append(f"{title}{folds}\n{_format_matrix(weights, confusions.classes)}")
    return "\n\n".join(parts)


def list_confusions(results: RunData) -> list[dict[str, object]]:
    """Return the last confusion matrix of each learner and forgetting as plain values, for JSON.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> matrix = list_confusions(evaluate(SEA(n_rows=1000), NaiveBayes()))[0]
    >>> matrix["predicted"], matrix["weights"]
    (['0', '1', None], [[226.0, 124.0, 0.0], [33.0, 616.0, 1.0]])
    """
    confusions = require_confusions(results)
    weights = confusions.weights[-1].astype(object)
    weights[np.isnan(confusions.weights[-1])] = None
    return [
        {
            "row": int(confusions.rows[-1]),
            "learner": learner,
            "forgetting": forgetting,
            "true": list(confusions.classes),
            "predicted": [*confusions.classes, None],
            "weights": weights[m, f].tolist(),
        }
        for m, learner in enumerate(results.learners)
        for f, forgetting in enumerate(results.forgettings)
    ]


def require_confusions(results: RunData) -> Confusions:
    """Return the confusion matrices of a run; raise if there are none.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> require_confusions(evaluate(SEA(n_rows=100), NoChange())).classes
    ('0', '1')
    """
    if results.confusions is None or not len(results.confusions.rows):
        msg = "this run has no confusion matrices: with more than 20 classes, keep them by --record confusion"
        raise StreamgaugeError(msg)
    return results.confusions


def find_moments(confusions: Confusions, rows: int | Sequence[int]) -> NDArray[np.int64]:
    """Return for each row of the stream the index of the last matrix up to it, each once.

    Examples
    --------
    >>> matrices = Confusions(np.array([100, 200]), ("a", "b"), np.zeros((2, 1, 1, 2, 3)))
    >>> find_moments(matrices, [150, 300]).tolist()
    [0, 1]
    """
    wanted = np.atleast_1d(np.asarray(rows, dtype=np.int64))
    first = int(confusions.rows[0])
    if wanted.min(initial=first) < first:
        msg = f"there is no confusion matrix up to row {wanted.min():,}: the first is at row {first:,}"
        raise StreamgaugeError(msg)
    return np.unique(np.searchsorted(confusions.rows, wanted, side="right")) - 1


def find_forgetting(results: RunData, forgetting: str | None) -> int:
    """Return the index of a forgetting, by default the first; raise if it is unknown.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> find_forgetting(evaluate(SEA(n_rows=100), NoChange()), "Landmark()")
    0
    """
    if forgetting is None:
        return 0
    if forgetting not in results.forgettings:
        raise unknown_name(kind="forgetting", name=forgetting, known=results.forgettings)
    return results.forgettings.index(forgetting)


def _format_matrix(weights: NDArray[np.float64], classes: Sequence[str]) -> str:
    """Return a matrix [true, predicted and none] as lines of equal columns."""
    names = list(map(make_printable, classes))
    abstains = bool(np.nansum(weights[:, -1]) > 0.0)
    n_shown = len(names) + abstains
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.diag(weights[:, :-1])
        recall, precision = hits / weights.sum(axis=1), hits / weights[:, :-1].sum(axis=0)
    lines = [["true \\ predicted", *names, *(["none"] if abstains else []), "recall %"]]
    for name, line, share in zip(names, weights[:, :n_shown].tolist(), recall.tolist(), strict=True):
        lines.append([name, *map(_format_weight, line), format_value(share)])
    lines.append(["precision %", *map(format_value, precision.tolist())])
    widths = [max(len(line[index]) for line in lines if index < len(line)) for index in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) if index else cell.ljust(width)
                  for index, (cell, width) in enumerate(zip(line, widths, strict=False)))
        for line in lines
    )  # fmt: skip


def _format_weight(weight: float) -> str:
    return format_value(weight, "rows") if weight >= 1000 else f"{weight:.4g}"
