"""Where the rows of an experiment come from: streams as a file or a program names them, and samples of files."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.names import find_labelled_stream
from streamgauge.protocols import Labelling, Scheme, Stream
from streamgauge.schemes import Pretrained
from streamgauge.streams import DATASETS, Balance, File, as_stream, open_test, sample
from streamgauge.streams import load as load_dataset

__all__ = ["Opened", "Sample", "Source", "imported"]

SEED = "{seed}"
"""Stands in the text of a stream for the seed of the run."""


@dataclass(frozen=True)
class Opened:
    """A stream that is ready to be evaluated on.

    Parameters
    ----------
    stream
        Its rows.
    labelling
        The labelling that comes with it; None for that of the experiment.
    training
        What is learnt before the first row; None for nothing.
    """

    stream: Stream
    labelling: Labelling | None = None
    training: Stream | None = None

    def scheme(self, scheme: Scheme) -> Scheme:
        """Let a scheme begin with the training set, where there is one."""
        return scheme if self.training is None else Pretrained(self.training, scheme)


@dataclass(frozen=True)
class Source:
    """A stream of an experiment.

    Parameters
    ----------
    what
        A stream, or the text that names one as the command line takes it; ``{seed}`` in it is the seed of the run.
    rows
        How many rows to read of it; None for as many as the experiment says.
    reading
        How a file is read, as the options of `File`; `what` is then its path.
    folder
        The folder that paths start from; None for the current one.

    Examples
    --------
    >>> Source("SEA(seed={seed})").fingerprint(seed=2) == Source("SEA(seed=2)").fingerprint(seed=1)
    True
    """

    what: object
    rows: int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def sampled(self) -> dict[str, Any]:
        """How it is drawn: it is not."""
        return {}

    def fingerprint(self, seed: int) -> str:
        """Give that of the rows."""
        return self._found(seed).stream.fingerprint

    @contextmanager
    def opened(self, seed: int) -> Iterator[Opened]:
        """Open it for the length of a run."""
        yield self._found(seed)

    def check(self, seed: int, limited: bool) -> None:  # noqa: FBT001
        """Raise where it cannot be, or never ends and is not limited; a real stream need not be here yet."""
        if self._is_real:
            return
        stream = self._found(seed).stream
        if isinstance(stream, File) and not Path(stream.path).is_file():
            msg = f"there is no file {stream.path}"
            raise StreamgaugeError(msg)
        ends = limited or self.rows is not None or getattr(stream, "ends", False)
        if not ends and stream.n_rows is None:
            msg = f"{self.what} never ends: say with rows how many rows to read"
            raise StreamgaugeError(msg)

    @property
    def _is_real(self) -> bool:
        return isinstance(self.what, str) and self.what in DATASETS

    def _found(self, seed: int) -> Opened:
        if not isinstance(self.what, str):
            return Opened(as_stream(self.what))
        text = self.what.replace(SEED, str(seed))
        if self.reading:
            return Opened(_file(text, self.reading, self.folder))
        stream, labelling = find_labelled_stream(self._in_folder(text))
        if isinstance(stream, File) and text not in DATASETS:
            stream = replace(stream, path=_placed(str(stream.path), self.folder))
        return Opened(stream, labelling)

    def _in_folder(self, text: str) -> str:
        """Give a text that names a path as that path; others as they are."""
        here = _placed(text, self.folder)
        return here if "(" not in text and Path(here).exists() else text


@dataclass(frozen=True)
class Sample:
    """One sample of a file: a training set that is learnt first, and a test set with a part of its labels.

    Parameters
    ----------
    name
        What the rows of the file are called.
    file
        The file, by its path or the name of a real stream.
    reading
        How it is read, as the options of `File`.
    training_positives, training_balance, test_balance, positive
        As for `Balance`.
    labelled
        The fraction of the test rows whose label is shown.
    folder
        The folder that paths start from; None for the current one.
    rows
        How many rows to read of the test set at most; None for all.

    Examples
    --------
    >>> one = Sample("skin", "skin.arff", training_positives=100, test_balance=0.1, labelled=0.05)
    >>> one.stream_name, one.labelling_name
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
        """Its name, with what sets its rows apart from other samples of the file."""
        balance = "" if self.test_balance is None else f", balance {self.test_balance:g}"
        training = "" if self.training_balance is None else f", training balance {self.training_balance:g}"
        return f"{self.name}{balance}{training}"

    @property
    def labelling_name(self) -> str:
        """How many of its labels are shown."""
        return f"labelled {self.labelled:g}"

    @property
    def sampled(self) -> dict[str, Any]:
        """How it is drawn."""
        return {name: value for name, value in asdict(self).items() if name not in ("name", "file", "folder", "rows")}

    def fingerprint(self, seed: int) -> str:  # noqa: ARG002  (the seed is a part of the condition anyway)
        """Give that of the file; what is drawn of it is in `sampled`."""
        return self._source.fingerprint

    def check(self) -> None:
        """Raise where it cannot be."""
        _ = self._wanted
        if not 0.0 <= self.labelled <= 1.0:
            msg = f"labelled = {self.labelled!r}: it must be a number in [0, 1]"
            raise StreamgaugeError(msg)
        if self.file not in DATASETS and not Path(self._source.path).is_file():
            msg = f"there is no file {self._source.path}"
            raise StreamgaugeError(msg)

    @contextmanager
    def opened(self, seed: int) -> Iterator[Opened]:
        """Draw it for the length of a run; it is drawn again, the same, whenever it is needed."""
        with TemporaryDirectory(prefix="streamgauge-sample-") as folder:
            # ARFF, for it says which values there are, whichever of them are drawn.
            drawn = sample(self._source, folder, self._wanted, labelled=self.labelled, seed=seed, suffix="arff")
            training = None if drawn.training is None else File(drawn.training)
            yield Opened(*open_test(folder), training)

    @property
    def _wanted(self) -> Balance:
        return Balance(self.training_positives, self.training_balance, self.test_balance, self.positive)

    @property
    def _source(self) -> File:
        return _file(self.file, self.reading, self.folder)


def _file(text: str, reading: Mapping[str, Any], folder: Path | None) -> File:
    """Open a file by its path, or that of a real stream by its name."""
    options: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in reading.items()}
    path = _placed(text, folder)
    if text in DATASETS and not Path(path).exists():
        return load_dataset(text, **options)
    return File(path, **options)


def _placed(path: str, folder: Path | None) -> str:
    return path if folder is None else str(folder / path)


def imported(text: str, folder: Path | None = None) -> object:
    """Import an object of a Python module, as ``module:name``; what is made by a function without arguments is made.

    Parameters
    ----------
    text
        The module and the name in it.
    folder
        A folder in which modules are looked for first.

    Examples
    --------
    >>> imported("streamgauge:NoChange")
    NoChange(seed=1)
    >>> imported("streamgauge:NoChang")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no name in streamgauge 'NoChang'; did you mean NoChange?
    """
    module_name, _, name = text.partition(":")
    if not name:
        msg = f"cannot read {text!r}; write it as module:name"
        raise StreamgaugeError(msg)
    if folder is not None and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        module = import_module(module_name)
    except ImportError as error:
        msg = f"cannot import {module_name}: {error}"
        raise StreamgaugeError(msg) from None
    if not hasattr(module, name):
        raise unknown_name(kind=f"name in {module_name}", name=name, known=_public(module))
    found = getattr(module, name)
    return found() if callable(found) and (isinstance(found, type) or not hasattr(found, "predict")) else found


def _public(module: ModuleType) -> list[str]:
    return [name for name in vars(module) if not name.startswith("_")]
