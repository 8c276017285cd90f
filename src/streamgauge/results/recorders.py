"""Records of a run besides its readings: predictions, misclassified rows, confusion matrices.

A recorder is configuration; the loop opens it for the duration of a run. Its files appear when the run ends, also if
it is cut short, but not if it fails.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import CellBatch, Stream
from streamgauge.records import Attribute, Batch, NumericTarget, Schema, Trace
from streamgauge.streams import File
from streamgauge.streams.base import require_classes
from streamgauge.streams.output_files import Output, detect_format, open_output, replace_atomically
from streamgauge.streams.writers import open_row_writer, quote_csv
from streamgauge.tasks import Task, find_task

__all__ = ["ConfusionMatrices", "Misclassified", "Predictions"]

_NO_CLASS, _NO_HIT = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.bool_)
_EMPTY_TRACE = Trace(np.empty(0, dtype=np.int64), _NO_CLASS, _NO_CLASS, _NO_HIT, _NO_HIT)


@dataclass(frozen=True)
class Predictions:
    """Every scored prediction, and those for rows of unknown class, as a table.

    Its columns are ``row`` (row of the stream, or of the test set of a holdout), ``after`` (last row of the stream
    before the prediction), ``learner``, ``fold``, ``predicted`` (missing if the learner abstained), ``weight``, with
    votes ``vote.CLASS`` for each class, and ``true`` (missing if the class is unknown). The rows are in the order of
    ``after``, learner and fold, whatever the size of batches. If a prediction is scored when its label arrives
    (``score`` of "last" or "labelled"), a row whose label never arrives has none.

    `streamgauge.streams.File` reads the file as a stream, on which ``Precomputed("predicted")`` and
    ``Precomputed("vote")`` repeat the predictions and the votes.

    Parameters
    ----------
    path
        The file. Its name determines the format: ``.csv``, ``.tsv``, ``.arff`` (each also with ``.gz`` or ``.zst``),
        ``.parquet``, ``.arrow`` or ``.feather``.
    votes
        Whether to write the votes.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> path = Path(tempfile.mkdtemp()) / "predictions.csv"
    >>> _ = evaluate(SEA(n_rows=100), NaiveBayes(), recorders=[Predictions(path)])
    >>> path.read_text().splitlines()[:3]
    ['row,after,learner,fold,predicted,weight,true', '0,0,NaiveBayes,0,?,1,1', '1,1,NaiveBayes,0,1,1,1']
    """

    path: str | Path
    votes: bool = False

    def __post_init__(self) -> None:
        detect_format(Path(self.path))

    @property
    def needs_votes(self) -> bool:
        """Whether the recorder needs the votes."""
        return self.votes

    @contextmanager
    def open(
        self, _stream: Stream, schema: Schema, learners: Sequence[str], *_: object
    ) -> Iterator[Callable[[CellBatch], None]]:
        """Open the file for a run."""
        names: dict[str, tuple[str, ...] | None] = {"row": None, "after": None, "learner": tuple(learners)}
        names |= {"fold": None, "predicted": schema.classes or None, "weight": None}
        names |= {f"vote.{name}": None for name in schema.classes} if self.votes else {}
        attributes = tuple(Attribute(name, values) for name, values in names.items())
        columns = replace(schema, attributes=attributes, target=schema.target and NumericTarget("true"))
        whole = ("row", "after", "fold")
        with open_row_writer(Path(self.path), columns, target="true", whole=whole) as write:
            table = _OrderedPredictions(learners, write, find_task(schema), votes=self.votes)
            cells = _BatchesOfAllCells(table.add)
            yield cells.add
            cells.flush()
            table.write(held_back=False)


class _BatchesOfAllCells:
    """Collects what all cells did in a batch, which is complete when one of them comes again, and passes it on."""

    def __init__(self, write: Callable[[Sequence[CellBatch]], object]) -> None:
        self._write = write
        self._batches: dict[tuple[str, int], CellBatch] = {}

    def add(self, batch: CellBatch) -> None:
        """Add what a cell did."""
        cell = batch.learner, batch.fold
        if cell in self._batches:
            self.flush()
        self._batches[cell] = batch

    def flush(self) -> None:
        """Pass on what waits."""
        batches, self._batches = list(self._batches.values()), {}
        self._write(batches)


class _OrderedPredictions:
    """Brings the predictions of all cells into the order of time, learner and fold, batch by batch."""

    def __init__(self, learners: Sequence[str], write: Callable[[Batch], object], task: Task, *, votes: bool) -> None:
        self._learners, self._write, self._task, self._votes = learners, write, task, votes
        self._parts: list[tuple[NDArray[np.float64], NDArray[Any]]] = []

    def add(self, batches: Sequence[CellBatch]) -> None:
        """Add what all cells predicted in a batch, and write what came before."""
        for batch in batches:
            self._add_trace(batch, batch.trace, _find_scored(batch))
            if batch.unlabelled is not None:
                self._add_trace(batch, batch.unlabelled, batch.step.unlabelled[: len(batch.unlabelled)])
        self.write(held_back=True)

    def _add_trace(self, batch: CellBatch, trace: Trace, positions: NDArray[np.intp]) -> None:
        n = len(trace)
        columns = [
            batch.step.rows[positions],
            trace.row,
            np.full(n, self._learners.index(batch.learner)),
            np.full(n, batch.fold),
            np.where(self._task.find_predicted(trace.y_pred), trace.y_pred, np.nan),
            np.ones(n) if trace.weight is None else trace.weight,
            *(trace.votes.T if self._votes and trace.votes is not None else ()),
        ]
        if n:
            self._parts.append((np.stack(columns, axis=1, dtype=np.float64), trace.y_true))

    def write(self, *, held_back: bool) -> None:
        """Write the rows; hold back those of the latest moment, to which the next batch may add."""
        if not self._parts:
            return
        x, y = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        row, after, learner, fold = x.T[:4]
        order = np.lexsort((np.arange(len(y)), fold, learner, after))
        n = int(np.count_nonzero(after < after.max())) if held_back else len(y)
        self._parts = [(x[order[n:]], y[order[n:]])]
        if n:
            self._write(Batch(int(row[order[0]]), x[order[:n]], y[order[:n]]))


@dataclass(frozen=True)
class Misclassified:
    """The rows that each learner misclassified in each fold, with their true classes.

    Files are named ``LEARNER-FOLD.arff`` and so on.

    Parameters
    ----------
    folder
        Folder of the files.
    format
        One of ``arff csv tsv parquet arrow``, the first three also followed by ``.gz`` or ``.zst``; None for the format
        of the input, or ARFF if the stream is not a file, or a file of a format that cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = evaluate(SEA(n_rows=100), NaiveBayes(), recorders=[Misclassified(folder, "csv")])
    >>> [path.name for path in folder.iterdir()]
    ['NaiveBayes-0.csv']
    """

    folder: str | Path
    format: str | None = None
    needs_votes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.format is not None:
            detect_format(Path(self.folder) / f"rows.{self.format}")

    @contextmanager
    def open(self, stream: Stream, schema: Schema, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        """Open a file for each learner and fold of a run."""
        require_classes(schema, "a file of misclassified rows")
        suffix = self.format or _choose_format(stream)
        with ExitStack() as files:
            writers: dict[tuple[str, int], Callable[[Batch], object]] = {}

            def write(cell_batch: CellBatch) -> None:
                cell = (cell_batch.learner, cell_batch.fold)
                batch = cell_batch.step.batch
                if cell not in writers:
                    weight = "weight" if batch.weight is not None and not suffix.startswith("arff") else None
                    name = f"{re.sub(r'[^A-Za-z0-9_.=,-]+', '_', cell_batch.learner)}-{cell_batch.fold}.{suffix}"
                    writer = open_row_writer(Path(self.folder) / name, schema, weight=weight)
                    writers[cell] = files.enter_context(writer)
                wrong = _find_scored(cell_batch)[~cell_batch.trace.correct]
                if len(wrong):
                    weights = None if batch.weight is None else batch.weight[wrong]
                    writers[cell](Batch(batch.start, batch.x[wrong], batch.y[wrong], weights))

            yield write


@dataclass(frozen=True)
class ConfusionMatrices:
    """The confusion matrix of every learner, fold and forgetting at every reading.

    A ``.csv`` file has a line per true and predicted class: ``row,learner,fold,forgetting,true,predicted,weight``, with
    an empty ``predicted`` for abstentions. A ``.mat`` file (MATLAB) has the arrays ``confusion`` [rows, learners,
    folds, forgettings, true, predicted] and ``abstained`` [rows, learners, folds, forgettings, true], and the names
    along the axes.

    Parameters
    ----------
    path
        The .csv or .mat file.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, MajorityClass, evaluate
    >>> path = Path(tempfile.mkdtemp()) / "confusion.csv"
    >>> _ = evaluate(SEA(n_rows=100), MajorityClass(), recorders=[ConfusionMatrices(path)], every=100)
    >>> len(path.read_text().splitlines())
    7
    """

    path: str | Path
    needs_votes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if Path(self.path).suffix not in {".csv", ".mat"}:
            msg = f"{self.path}: the file of confusion matrices must end in .csv or .mat"
            raise StreamgaugeError(msg)

    @contextmanager
    def open(
        self, _stream: Stream, schema: Schema, learners: Sequence[str], forgettings: Sequence[str]
    ) -> Iterator[Callable[[CellBatch], None]]:
        """Open the file for a run."""
        require_classes(schema, "a file of confusion matrices")
        path = Path(self.path)
        if path.suffix == ".csv":
            with open_output(path) as out:
                out.write(b"row,learner,fold,forgetting,true,predicted,weight\n")
                cells = _BatchesOfAllCells(lambda batches: _write_csv(out, batches, schema, learners, forgettings))
                yield lambda batch: cells.add(_drop_rows(batch))
                cells.flush()
            return
        batches: list[CellBatch] = []
        yield lambda batch: batches.append(_drop_rows(batch)) if batch.reading_rows else None
        with replace_atomically(path) as temporary:
            _write_mat(temporary, batches, schema, learners, forgettings)


def _write_csv(
    out: Output, batches: Sequence[CellBatch], schema: Schema, learners: Sequence[str], forgettings: Sequence[str]
) -> None:
    """Write the matrices of a batch in the order of rows, learners, folds and forgettings."""
    names = [quote_csv(name, ",") for name in schema.classes]
    tallies = {
        (row, learners.index(batch.learner), batch.fold, f): tally
        for batch in batches
        for f, by_row in enumerate(batch.tallies)
        for row, tally in zip(batch.reading_rows, by_row, strict=True)
    }
    for (row, learner, fold, f), tally in sorted(tallies.items()):
        start = f"{row},{quote_csv(learners[learner], ',')},{fold},{quote_csv(forgettings[f], ',')}"
        weights = np.column_stack([tally.confusion, tally.abstained]).tolist()
        lines = [
            f"{start},{true},{predicted},{weight!r}\n"
            for true, class_weights in zip(names, weights, strict=True)
            for predicted, weight in zip((*names, ""), class_weights, strict=True)
        ]
        out.write("".join(lines).encode())


def _drop_rows(batch: CellBatch) -> CellBatch:
    """Return a batch without its rows and its trace, which would fill the memory."""
    return replace(batch, step=batch.step.part(0, 0), trace=_EMPTY_TRACE)


def _write_mat(
    path: Path, batches: Sequence[CellBatch], schema: Schema, learners: Sequence[str], forgettings: Sequence[str]
) -> None:
    from scipy.io import savemat  # noqa: PLC0415  (slow to import)

    rows = sorted({row for batch in batches for row in batch.reading_rows})
    n_folds = 1 + max((batch.fold for batch in batches), default=0)
    shape = (len(rows), len(learners), n_folds, len(forgettings), schema.n_classes)
    confusion, abstained = np.zeros((*shape, schema.n_classes)), np.zeros(shape)
    for batch in batches:
        for f, tallies in enumerate(batch.tallies):
            for row, tally in zip(batch.reading_rows, tallies, strict=True):
                index = (rows.index(row), learners.index(batch.learner), batch.fold, f)
                confusion[index], abstained[index] = tally.confusion, tally.abstained
    names = {"learners": list(learners), "forgettings": list(forgettings), "classes": list(schema.classes)}
    columns = {name: np.array(values, dtype=object) for name, values in names.items()}
    with path.open("wb") as file:
        savemat(file, {"rows": np.array(rows), "confusion": confusion, "abstained": abstained, **columns})


def _find_scored(batch: CellBatch) -> NDArray[np.intp]:
    """Return the indices of the scored rows in the step, up to where the learner failed."""
    scored = batch.step.scored
    return (np.arange(len(batch.step.batch)) if scored is None else scored)[: len(batch.trace)]


def _choose_format(stream: Stream) -> str:
    """Return the format of the input, or ARFF if it cannot be written."""
    if not isinstance(stream, File):
        return "arff"
    if stream.kind == "csv" and (stream.delimiter == "\t" or str(stream.path).removesuffix(".gz").endswith(".tsv")):
        return "tsv"
    return stream.kind if stream.kind in {"arff", "csv", "parquet", "arrow"} else "arff"
