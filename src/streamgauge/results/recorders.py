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
from streamgauge.records import ABSTAINED, Batch, Schema, Trace
from streamgauge.streams import File
from streamgauge.streams.output_files import Output, open_output, replace_atomically
from streamgauge.streams.writers import open_row_writer, quote_csv

__all__ = ["ConfusionMatrices", "Misclassified", "Predictions"]

_NO_CLASS, _NO_HIT = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.bool_)
_EMPTY_TRACE = Trace(np.empty(0, dtype=np.int64), _NO_CLASS, _NO_CLASS, _NO_HIT, _NO_HIT)


@dataclass(frozen=True)
class Predictions:
    """Every scored prediction, as a Parquet table.

    Its columns are ``row`` (row of the stream, or of the test set of a holdout), ``after`` (last row of the stream
    before the prediction), ``learner``, ``fold``, ``true``, ``predicted`` (null if the learner abstained), ``weight``
    and, with votes, ``vote CLASS`` for each class.

    Parameters
    ----------
    path
        The file.
    votes
        Whether to write the votes.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow.parquet
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> path = Path(tempfile.mkdtemp()) / "predictions.parquet"
    >>> _ = evaluate(SEA(n_rows=100), NaiveBayes(), recorders=[Predictions(path)])
    >>> pyarrow.parquet.read_table(path).column_names
    ['row', 'after', 'learner', 'fold', 'true', 'predicted', 'weight']
    """

    path: str | Path
    votes: bool = False

    @property
    def needs_votes(self) -> bool:
        """Whether the recorder needs the votes."""
        return self.votes

    @contextmanager
    def open(
        self, _stream: Stream, schema: Schema, learners: Sequence[str], *_: object
    ) -> Iterator[Callable[[CellBatch], None]]:
        """Open the file for a run."""
        import pyarrow as pa  # noqa: PLC0415  (slow to import)
        import pyarrow.parquet as pq  # noqa: PLC0415

        classes = pa.array(schema.classes, pa.string())
        names = pa.array(learners, pa.string())
        text = pa.dictionary(pa.int32(), pa.string())
        kinds = {"row": pa.int64(), "after": pa.int64(), "learner": text, "fold": pa.int32(), "true": text}
        kinds |= {"predicted": text, "weight": pa.float64()}
        kinds |= {f"vote {name}": pa.float64() for name in schema.classes} if self.votes else {}

        def encode(codes: NDArray[Any], values: Any) -> Any:  # noqa: ANN401
            return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=codes == ABSTAINED), values)

        def tabulate(batch: CellBatch) -> Any:  # noqa: ANN401
            trace, n = batch.trace, len(batch.trace)
            columns = [
                batch.step.rows[_find_scored(batch)],
                trace.row,
                encode(np.full(n, learners.index(batch.learner)), names),
                np.full(n, batch.fold, dtype=np.int32),
                encode(trace.y_true, classes),
                encode(trace.y_pred, classes),
                np.ones(n) if trace.weight is None else trace.weight,
                *(trace.votes.T if self.votes and trace.votes is not None else ()),
            ]
            return pa.table([pa.array(column) for column in columns], schema=pa.schema(kinds))

        with (
            replace_atomically(Path(self.path)) as temporary,
            pq.ParquetWriter(temporary, pa.schema(kinds), compression="zstd") as file,
        ):
            yield lambda batch: file.write_table(tabulate(batch)) if len(batch.trace) else None


@dataclass(frozen=True)
class Misclassified:
    """The rows that each learner misclassified in each fold, in the format of the input, with their true classes.

    Files are named ``LEARNER-FOLD.arff`` and so on. The format is ARFF if the stream is not a file, or a file of a
    format that cannot be written.

    Parameters
    ----------
    folder
        Folder of the files.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = evaluate(SEA(n_rows=100), NaiveBayes(), recorders=[Misclassified(folder)])
    >>> [path.name for path in folder.iterdir()]
    ['NaiveBayes-0.arff']
    """

    folder: str | Path
    needs_votes: ClassVar[bool] = False

    @contextmanager
    def open(self, stream: Stream, schema: Schema, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        """Open a file for each learner and fold of a run."""
        suffix = _choose_suffix(stream)
        with ExitStack() as files:
            writers: dict[tuple[str, int], Callable[[Batch], object]] = {}

            def write(cell_batch: CellBatch) -> None:
                cell = (cell_batch.learner, cell_batch.fold)
                batch = cell_batch.step.batch
                if cell not in writers:
                    weight = "weight" if batch.weight is not None and suffix != ".arff" else None
                    name = f"{re.sub(r'[^A-Za-z0-9_.=,-]+', '_', cell_batch.learner)}-{cell_batch.fold}{suffix}"
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
        path = Path(self.path)
        if path.suffix == ".csv":
            with open_output(path) as out:
                out.write(b"row,learner,fold,forgetting,true,predicted,weight\n")
                yield lambda batch: _write_csv(out, batch, schema, forgettings)
            return
        batches: list[CellBatch] = []
        yield lambda batch: batches.append(_drop_rows(batch)) if batch.reading_rows else None
        with replace_atomically(path) as temporary:
            _write_mat(temporary, batches, schema, learners, forgettings)


def _write_csv(out: Output, batch: CellBatch, schema: Schema, forgettings: Sequence[str]) -> None:
    names = [quote_csv(name, ",") for name in schema.classes]
    cell = f"{quote_csv(batch.learner, ',')},{batch.fold}"
    for forgetting, tallies in zip(forgettings, batch.tallies, strict=True):
        for row, tally in zip(batch.reading_rows, tallies, strict=True):
            start = f"{row},{cell},{quote_csv(forgetting, ',')}"
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
    """Return the indices of the scored rows in the step."""
    scored = batch.step.scored
    return np.arange(len(batch.step.batch)) if scored is None else scored


def _choose_suffix(stream: Stream) -> str:
    """Return the suffix of the format of the input."""
    if not isinstance(stream, File):
        return ".arff"
    if stream.kind == "csv" and (stream.delimiter == "\t" or str(stream.path).removesuffix(".gz").endswith(".tsv")):
        return ".tsv"
    return {"arff": ".arff", "csv": ".csv", "parquet": ".parquet"}.get(stream.kind, ".arff")
