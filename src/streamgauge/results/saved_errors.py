"""The errors of a learner, row by row, from saved predictions."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.text import count
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import UNLABELLED
from streamgauge.records.checksums import compute_file_checksum
from streamgauge.streams import File

__all__ = ["PREDICTION_FORMATS", "SavedErrors", "read_errors"]

STEM = "predictions"
"""The name of the file of predictions in a folder of results, without its suffix."""

PREDICTION_FORMATS = ("parquet", "csv", "arff", "tsv", "arrow")
"""The formats of that file, the first by default."""

COLUMNS = ("after", "learner", "fold", "predicted")


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
        The file, of any format, or a folder of results with ``predictions.parquet`` or another format (``--record
        predictions``). Rows of unknown class are left out.
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
    path = _find_file(Path(path))
    _check_file(path)
    columns, learners = _read_columns(path)
    names = [name for code, name in enumerate(learners) if (columns["learner"] == code).any()]
    if learner is None and len(names) != 1:
        msg = f"{path} has {count(len(names), 'learner')}; choose one with learner: {', '.join(names)}"
        raise StreamgaugeError(msg)
    learner = names[0] if learner is None else learner
    if learner not in names:
        msg = f"{path}: {unknown_name(kind='learner', name=learner, known=names)}" if names else f"{path} has no rows"
        raise StreamgaugeError(msg)
    chosen = (columns["learner"] == learners.index(learner)) & (columns["fold"] == fold)
    if not chosen.any():
        msg = f"{path} has no fold {fold} of {learner}; folds are counted from 0"
        raise StreamgaugeError(msg)
    chosen &= ~np.isnan(columns["true"])  # nothing is known of the errors in rows of unknown class
    rows, true, predicted = (columns[name][chosen] for name in ("after", "true", "predicted"))
    return SavedErrors(learner, fold, rows.astype(np.int64), (true != predicted).astype(np.float64))


def _find_file(path: Path) -> Path:
    """Return the file of predictions in a folder of results, whatever its format."""
    if path.is_dir():
        found = [path / f"{STEM}.{kind}" for kind in PREDICTION_FORMATS]
        path = next((file for file in found if file.is_file()), found[0])
    if not path.is_file():
        msg = f"there is no {path}: evaluate with --out and --record predictions, or with the recorder Predictions"
        raise StreamgaugeError(msg)
    return path


def _check_file(path: Path) -> None:
    """Raise if the file is listed in the manifest of the results beside it and has changed since."""
    from streamgauge.results.files import holds_results, read_manifest  # noqa: PLC0415  (it imports this module)

    if holds_results(path.parent):
        written = (read_manifest(path.parent).files or {}).get(path.name)
        if written is not None and compute_file_checksum(path) != written:
            msg = f"{path} does not match its checksum in manifest.json: it is damaged, or another run replaced it"
            raise StreamgaugeError(msg)


def _read_columns(path: Path) -> tuple[dict[str, NDArray[np.float64]], tuple[str, ...]]:
    """Return the columns of saved predictions, codes for names and NaN for missing ones; and the names of learners."""
    try:
        file = File(path, target="true")
        names = ("learner", "predicted", "true") if file.kind == "csv" else ()
        file = File(path, target="true", keep=COLUMNS, nominal=names)
        attributes = file.schema.attributes
        batches = list(file.batches(1 << 16))
    except StreamgaugeError as error:
        msg = f"cannot read predictions from {path}: {error}"
        raise StreamgaugeError(msg) from None
    values = np.concatenate([np.empty((0, len(attributes))), *(batch.x for batch in batches)])
    columns = {attribute.name: column for attribute, column in zip(attributes, values.T, strict=True)}
    if set(columns) != set(COLUMNS):
        msg = f"cannot read predictions from {path}: its columns {', '.join(columns)} are not those of predictions"
        raise StreamgaugeError(msg)
    by_name = {attribute.name: attribute.values or () for attribute in attributes}
    codes = np.array([_find_code(name, file.schema.classes) for name in by_name["predicted"]] + [np.nan])
    missing = np.isnan(columns["predicted"])
    columns["predicted"] = codes[np.where(missing, -1, columns["predicted"]).astype(np.intp)]
    y = np.concatenate([np.empty(0), *(batch.y for batch in batches)])
    columns["true"] = np.where(y == UNLABELLED, np.nan, y)
    return columns, by_name["learner"]


def _find_code(name: str, classes: tuple[str, ...]) -> float:
    return classes.index(name) if name in classes else -1.0
