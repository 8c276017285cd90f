"""The errors of a learner, row by row, from saved predictions."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.text import count
from streamgauge.errors import StreamgaugeError, unknown_name

__all__ = ["SavedErrors", "read_errors"]

FILE = "predictions.parquet"
"""The file of predictions in a folder of results."""


@dataclass(frozen=True)
class SavedErrors:
    """The errors of a learner in one fold, in the order of its tests.

    Parameters
    ----------
    learner, fold
        The learner and the fold.
    rows
        The latest row of the stream at each prediction, int64 [n]; in a prequential evaluation, the predicted row.
    errors
        1 where the prediction was wrong or missing, else 0; float64 [n].

    Examples
    --------
    >>> SavedErrors("tree", 0, np.array([0, 1]), np.array([1.0, 0.0])).errors.mean()
    np.float64(0.5)
    """

    learner: str
    fold: int
    rows: NDArray[np.int64]
    errors: NDArray[np.float64]


def read_errors(path: Path | str, learner: str | None = None, fold: int = 0) -> SavedErrors:
    """Return the errors of a learner from the file of the recorder `Predictions`.

    Parameters
    ----------
    path
        The Parquet file, or a folder of results with ``predictions.parquet`` (``--record predictions``).
    learner
        The name of the learner; may be omitted if there is just one.
    fold
        The fold, from 0 on.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> from streamgauge.results import Predictions
    >>> path = Path(tempfile.mkdtemp()) / "predictions.parquet"
    >>> results = evaluate(SEA(n_rows=1000), NaiveBayes(), measures="error", recorders=[Predictions(path)])
    >>> float(read_errors(path).errors.mean()) == results.final("NaiveBayes", "error").mean
    True
    """
    import pyarrow as pa  # noqa: PLC0415  (slow to import)
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    path = Path(path) / FILE if Path(path).is_dir() else Path(path)
    try:
        table = pq.read_table(path, columns=["after", "learner", "fold", "true", "predicted"])
    except FileNotFoundError:
        msg = f"there is no {path}: evaluate with --out and --record predictions, or with the recorder Predictions"
        raise StreamgaugeError(msg) from None
    except (OSError, pa.ArrowException) as error:
        msg = f"cannot read predictions from {path}: {error}"
        raise StreamgaugeError(msg) from None
    names = pc.unique(table["learner"].cast(pa.string())).to_pylist()
    if learner is None and len(names) != 1:
        msg = f"{path} has {count(len(names), 'learner')}; choose one with learner: {', '.join(names)}"
        raise StreamgaugeError(msg)
    learner = names[0] if learner is None else learner
    if learner not in names:
        raise unknown_name(kind="learner", name=learner, known=names)
    chosen = table.filter(pc.and_(pc.equal(table["learner"].cast(pa.string()), learner), pc.equal(table["fold"], fold)))
    if not len(chosen):
        msg = f"{path} has no fold {fold} of {learner}; folds are counted from 0"
        raise StreamgaugeError(msg)
    right = pc.equal(chosen["true"].cast(pa.string()), chosen["predicted"].cast(pa.string()))
    is_right = pc.fill_null(right, False).to_numpy()  # noqa: FBT003
    return SavedErrors(learner, fold, chosen["after"].to_numpy(), 1.0 - is_right.astype(np.float64))
