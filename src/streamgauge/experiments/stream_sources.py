"""Sources of the rows of an experiment: streams given as text or objects, and samples of files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from streamgauge._foreign import adopt_stream
from streamgauge.errors import StreamgaugeError, is_possible_path, path_exists, shorten
from streamgauge.names import find_labelled_stream
from streamgauge.protocols import Labelling, Scheme, Stream
from streamgauge.records.locks import open_temporary_folder
from streamgauge.schemes import Pretrained
from streamgauge.streams import DATASETS, Balance, File, as_stream, open_test, sample
from streamgauge.streams import load as load_dataset

__all__ = ["OpenedStream", "SampleSource", "Source"]

SEED = "{seed}"
"""Placeholder for the seed of the run in the text of a stream."""


@dataclass(frozen=True)
class OpenedStream:
    """A stream that is ready for an evaluation.

    Parameters
    ----------
    stream
        The stream.
    labelling
        The labelling of a sample; None for that of the experiment.
    training
        Rows to learn before the first row; None for none.
    """

    stream: Stream
    labelling: Labelling | None = None
    training: Stream | None = None

    def add_training(self, scheme: Scheme) -> Scheme:
        """Return a scheme that starts with the training set, if there is one."""
        return scheme if self.training is None else Pretrained(self.training, scheme)


@dataclass(frozen=True)
class Source:
    """A stream of an experiment.

    Parameters
    ----------
    what
        A stream, or text in the syntax of the command line; ``{seed}`` in it is the seed of the run.
    rows
        Number of rows to read; None for the setting of the experiment.
    reading
        Options of `File`; `what` is then the path of the file.
    folder
        Folder that relative paths start from; None for the current one.

    Examples
    --------
    >>> first, second = Source("SEA(seed={seed})"), Source("SEA(seed=2)")
    >>> first.compute_fingerprint(seed=2) == second.compute_fingerprint(seed=1)
    True
    """

    what: object
    rows: int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def sampling(self) -> dict[str, Any]:
        """How the rows are sampled: not at all."""
        return {}

    def compute_fingerprint(self, seed: int) -> str:
        """Return the fingerprint of the rows."""
        return self.find(seed).stream.fingerprint

    @contextmanager
    def open(self, seed: int) -> Iterator[OpenedStream]:
        """Open the stream for the length of a run."""
        yield self.find(seed)

    def check(self, seed: int, limited: bool) -> None:  # noqa: FBT001
        """Raise if the stream does not exist, or never ends and is not limited; data sets may be downloaded later."""
        if isinstance(self.what, str) and self.what in DATASETS:
            return
        stream = self.find(seed).stream
        if isinstance(stream, File) and not _is_file(stream):
            msg = f"there is no file {shorten(str(stream.path))}"
            raise StreamgaugeError(msg)
        ends = limited or self.rows is not None or adopt_stream(stream).ends
        if not ends and stream.n_rows is None:
            msg = f"{self.what} never ends: set the number of rows to read with rows"
            raise StreamgaugeError(msg)

    def find(self, seed: int) -> OpenedStream:
        """Return the stream of a seed."""
        if not isinstance(self.what, str):
            return OpenedStream(as_stream(self.what))
        text = self.what.replace(SEED, str(seed))
        if self.reading:
            return OpenedStream(_open_file(text, self.reading, self.folder))
        path = _add_folder(text, self.folder)
        is_path = "(" not in text and path_exists(path)
        stream, labelling = find_labelled_stream(path if is_path else text)
        if isinstance(stream, File) and text not in DATASETS:
            stream = replace(stream, path=_add_folder(str(stream.path), self.folder))
        return OpenedStream(stream, labelling)


@dataclass(frozen=True)
class SampleSource:
    """A sample of a file: a training set that is learnt first, and a test set with a part of its labels.

    Parameters
    ----------
    name
        Name of the rows of the file.
    file
        The file, by its path or the name of a data set.
    reading
        Options of `File`.
    training_positives, training_balance, test_balance, positive
        As for `Balance`.
    labelled
        Fraction of the test rows whose label is shown.
    folder
        Folder that relative paths start from; None for the current one.
    rows
        Largest number of rows to read of the test set; None for all.

    Examples
    --------
    >>> skin = SampleSource("skin", "skin.arff", training_positives=100, test_balance=0.1, labelled=0.05)
    >>> skin.stream_name, skin.labelling_name
    ('skin, balance 0.1', 'labelled 0.05')
    """

    name: str
    file: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    training_positives: int = 0
    training_balance: float | None = None
    test_balance: float | None = None
    positive: str | None = None
    labelled: float = 1.0
    folder: Path | None = None
    rows: int | None = None

    @property
    def stream_name(self) -> str:
        """Name of the sample, with what distinguishes it from other samples of the file."""
        balance = "" if self.test_balance is None else f", balance {self.test_balance:g}"
        training = "" if self.training_balance is None else f", training balance {self.training_balance:g}"
        return f"{self.name}{balance}{training}"

    @property
    def labelling_name(self) -> str:
        """The fraction of labels that are shown, as text."""
        return f"labelled {self.labelled:g}"

    @property
    def sampling(self) -> dict[str, Any]:
        """How the rows are sampled."""
        return {name: value for name, value in asdict(self).items() if name not in ("name", "file", "folder", "rows")}

    def compute_fingerprint(self, seed: int) -> str:  # noqa: ARG002  (the seed is part of the condition anyway)
        """Return the fingerprint of the file."""
        return self._source.fingerprint

    def check(self) -> None:
        """Raise if the sample cannot be drawn."""
        _ = self._balance
        if not 0.0 <= self.labelled <= 1.0:
            msg = f"labelled = {self.labelled!r}: it must be a number in [0, 1]"
            raise StreamgaugeError(msg)
        if self.file not in DATASETS and not _is_file(self._source):
            msg = f"there is no file {shorten(str(self._source.path))}"
            raise StreamgaugeError(msg)

    @contextmanager
    def open(self, seed: int) -> Iterator[OpenedStream]:
        """Draw the sample for the length of a run; every draw gives the same rows."""
        with open_temporary_folder() as folder:
            # ARFF declares all values, whichever of them are drawn.
            drawn = sample(self._source, folder, self._balance, labelled=self.labelled, seed=seed, suffix="arff")
            training = None if drawn.training is None else File(drawn.training)
            yield OpenedStream(*open_test(folder), training)

    @property
    def _balance(self) -> Balance:
        return Balance(self.training_positives, self.training_balance, self.test_balance, self.positive)

    @property
    def _source(self) -> File:
        return _open_file(self.file, self.reading, self.folder)


def _open_file(text: str, reading: Mapping[str, Any], folder: Path | None) -> File:
    """Open a file by its path, or the file of a data set by its name."""
    options: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in reading.items()}
    path = _add_folder(text, folder)
    if text in DATASETS and not path_exists(path):
        return load_dataset(text, **options)
    return File(path, **options)


def _is_file(file: File) -> bool:
    return is_possible_path(file.path) and Path(file.path).is_file()


def _add_folder(path: str, folder: Path | None) -> str:
    return path if folder is None else str(folder / path)
