"""Records of a run beyond its readings: every prediction, the rows that were misclassified, confusion matrices.

A recorder is a value; the loop opens it for the length of a run. Files appear under their names when the run ends, also
when it is cut short, and not where it fails.
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
_NOTHING = Trace(np.empty(0, dtype=np.int64), _NO_CLASS, _NO_CLASS, _NO_HIT, _NO_HIT)


@dataclass(frozen=True)
class Predictions:
    """Every scored prediction, as a Parquet table.

    Its columns are ``row`` (which row of the stream, or of the test set of a holdout), ``after`` (the row of the stream
    that had come last when it was predicted), ``learner``, ``fold``, ``true``, ``predicted`` (nothing where the learner
    abstained), ``weight`` and, where wanted, ``vote CLASS`` for each class.

    Parameters
    ----------
    path
        The file.
    votes
        Whether to keep the votes, too.

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
        """Whether votes are kept."""
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

        def named(codes: NDArray[Any], values: Any) -> Any:  # noqa: ANN401
            return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=codes == ABSTAINED), values)

        def table(passage: CellBatch) -> Any:  # noqa: ANN401
            trace, n = passage.trace, len(passage.trace)
            columns = [
                *(_scored_rows(passage), trace.row),
                named(np.full(n, learners.index(passage.learner)), names),
                np.full(n, passage.fold, dtype=np.int32),
                *(named(trace.y_true, classes), named(trace.y_pred, classes)),
                np.ones(n) if trace.weight is None else trace.weight,
                *(trace.votes.T if self.votes and trace.votes is not None else ()),
            ]
            return pa.table([pa.array(column) for column in columns], schema=pa.schema(kinds))

        with (
            replace_atomically(Path(self.path)) as temporary,
            pq.ParquetWriter(temporary, pa.schema(kinds), compression="zstd") as file,
        ):
            yield lambda passage: file.write_table(table(passage)) if len(passage.trace) else None


@dataclass(frozen=True)
class Misclassified:
    """The rows that each learner got wrong in each fold, in the format of the input, with their true classes.

    Files are called ``LEARNER-FOLD.arff`` and so on. Streams that are no files, and files of a kind that cannot be
    written, give ARFF.

    Parameters
    ----------
    folder
        Where the files go.

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
        suffix = _suffix(stream)
        with ExitStack() as files:
            writers: dict[tuple[str, int], Callable[[Batch], None]] = {}

            def take(passage: CellBatch) -> None:
                cell = (passage.learner, passage.fold)
                batch = passage.step.batch
                weight = "weight" if batch.weight is not None and suffix != ".arff" else None
                if cell not in writers:
                    name = f"{re.sub(r'[^A-Za-z0-9_.=,-]+', '_', passage.learner)}-{passage.fold}{suffix}"
                    opened = open_row_writer(Path(self.folder) / name, schema, weight=weight)
                    writers[cell] = files.enter_context(opened)
                wrong = _scored_places(passage)[~passage.trace.correct]
                if len(wrong):
                    weights = None if batch.weight is None else batch.weight[wrong]
                    writers[cell](Batch(batch.start, batch.x[wrong], batch.y[wrong], weights))

            yield take


@dataclass(frozen=True)
class ConfusionMatrices:
    """The confusion matrix of every learner, fold and forgetting at every stop.

    A ``.csv`` file has a line for each true and predicted class: ``row,learner,fold,forgetting,true,predicted,weight``,
    with nothing in ``predicted`` where the learner abstained. A ``.mat`` file (MATLAB) has the arrays ``confusion``
    [rows, learners, folds, forgettings, true, predicted] and ``abstained`` [rows, learners, folds, forgettings, true],
    and the names along the axes.

    Parameters
    ----------
    path
        The file, which ends in .csv or .mat.

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
            msg = f"{self.path}: confusion matrices go into a file that ends in .csv or .mat"
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
                yield lambda passage: _write_matrices(out, passage, schema, forgettings)
            return
        taken: list[CellBatch] = []
        yield lambda passage: taken.append(_bare(passage)) if passage.reading_rows else None
        with replace_atomically(path) as temporary:
            _write_mat(temporary, taken, schema, learners, forgettings)


def _write_matrices(out: Output, passage: CellBatch, schema: Schema, forgettings: Sequence[str]) -> None:
    names = [quote_csv(name, ",") for name in schema.classes]
    cell = f"{quote_csv(passage.learner, ',')},{passage.fold}"
    for forgetting, tallies in zip(forgettings, passage.tallies, strict=True):
        for stop, tally in zip(passage.reading_rows, tallies, strict=True):
            start = f"{stop},{cell},{quote_csv(forgetting, ',')}"
            weights = np.column_stack([tally.confusion, tally.abstained]).tolist()
            lines = [
                f"{start},{true},{predicted},{weight!r}\n"
                for true, of_class in zip(names, weights, strict=True)
                for predicted, weight in zip((*names, ""), of_class, strict=True)
            ]
            out.write("".join(lines).encode())


def _bare(passage: CellBatch) -> CellBatch:
    """Leave out what is large and not needed later."""
    return replace(passage, step=passage.step.part(0, 0), trace=_NOTHING)


def _write_mat(
    path: Path, taken: Sequence[CellBatch], schema: Schema, learners: Sequence[str], forgettings: Sequence[str]
) -> None:
    from scipy.io import savemat  # noqa: PLC0415  (slow to import)

    rows = sorted({stop for passage in taken for stop in passage.reading_rows})
    n_folds = 1 + max((passage.fold for passage in taken), default=0)
    shape = (len(rows), len(learners), n_folds, len(forgettings), schema.n_classes)
    confusion, abstained = np.zeros((*shape, schema.n_classes)), np.zeros(shape)
    for passage in taken:
        for f, tallies in enumerate(passage.tallies):
            for stop, tally in zip(passage.reading_rows, tallies, strict=True):
                place = (rows.index(stop), learners.index(passage.learner), passage.fold, f)
                confusion[place], abstained[place] = tally.confusion, tally.abstained
    names = {"learners": list(learners), "forgettings": list(forgettings), "classes": list(schema.classes)}
    columns = {name: np.array(values, dtype=object) for name, values in names.items()}
    with path.open("wb") as file:
        savemat(file, {"rows": np.array(rows), "confusion": confusion, "abstained": abstained, **columns})


def _scored_places(passage: CellBatch) -> NDArray[np.intp]:
    """Give where in the step the scored rows stand."""
    scored = passage.step.scored
    return np.arange(len(passage.step.batch)) if scored is None else scored


def _scored_rows(passage: CellBatch) -> NDArray[np.int64]:
    """Give which rows of the stream were scored."""
    return passage.step.rows[_scored_places(passage)]


def _suffix(stream: Stream) -> str:
    """Give the end of a file's name that says the format of the input."""
    if not isinstance(stream, File):
        return ".arff"
    known = {"arff": ".arff", "csv": ".csv", "parquet": ".parquet"}
    if stream.kind == "csv" and (stream.delimiter == "\t" or str(stream.path).removesuffix(".gz").endswith(".tsv")):
        return ".tsv"
    return known.get(stream.kind, ".arff")
