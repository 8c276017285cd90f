"""Learners of MOA, and WEKA's classifiers: updateable ones through MOA, static ones fitted on collected rows.

The loop that tests and trains runs inside the Java virtual machine (``java/Cell.java``, shipped compiled in
``java/cell.jar``): Python calls Java once per batch, so a learner is as fast as in MOA's own loop.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._optional import library
from streamgauge.errors import LearnerError, StreamgaugeError
from streamgauge.learners.adapters.chunked import clean_votes
from streamgauge.learners.adapters.saved_states import SizeCache, note_pickle, require_trust, seal, unseal
from streamgauge.learners.adapters.seeding import generate_seeds
from streamgauge.learners.refitted import RefittedLearner
from streamgauge.protocols import Learner
from streamgauge.records import UNLABELLED, Schema, Step

__all__ = ["Moa", "find_class_path", "get_moa_command"]

JAR_VARIABLE = "STREAMGAUGE_MOA_JAR"
_START_LOCK = Lock()
_ADDED: set[str] = set()
"""The jars on the class path of the running virtual machine."""

_WEKA = re.compile(
    r"(?P<plain>weka\..*)|\(?(moa\.classifiers\.)?meta\.WEKAClassifier\s+-l\s+\(?(?P<wrapped>weka\.[^()]*?)\)?\s*\)?"
)
_WEKA_CORE = "weka.core.Utils"


@dataclass(frozen=True)
class Moa:
    """A learner of MOA, run in a Java virtual machine in this process; each fold gets its own, with its own seed.

    It needs Java 11 or newer, ``pip install 'streamgauge[moa]'`` and MOA's jar: the one in the environment variable
    ``STREAMGAUGE_MOA_JAR`` (several paths as in a class path, with WEKA's jar if MOA's does not contain it), or else
    that of an installed CapyMOA.

    Nominal and missing values are passed as such; a row has no class while it is predicted. The learner abstains if
    there are no votes, where MOA would predict class 0. All options that are seeds are set, also in nested learners.
    The state is serialised by Java, which can run code like pickle: load only states that you trust. `n_bytes` is the
    size of that state, since MOA needs an agent to measure its memory.

    A static classifier of WEKA, which cannot learn row by row, is built on all its training rows when training ends;
    `Refitted` builds it again and again. (MOA's own WEKAClassifier would build it once, on the first 1,000 rows.)

    Parameters
    ----------
    learner
        A class with its options, as on MOA's command line: ``trees.HoeffdingTree -g 100``, or
        ``moa.classifiers.bayes.NaiveBayes``. A class of WEKA, ``weka.classifiers.bayes.NaiveBayesUpdateable`` or
        ``weka.classifiers.trees.J48 -C 0.25``, may be wrapped in MOA's ``meta.WEKAClassifier -l (...)``, whose other
        options leave the building of static classifiers to MOA.
    seed
        Two learners with the same seed share their random numbers in each fold.

    Examples
    --------
    >>> Moa("trees.HoeffdingTree -g 100").short_name
    'HoeffdingTree'
    """

    learner: str = "trees.HoeffdingTree"
    seed: int = 1

    @property
    def short_name(self) -> str:
        """Default name of the learner."""
        return self.learner.strip(" (").partition(" ")[0].rpartition(".")[2]

    @property
    def _command(self) -> str:
        text = self.learner.strip()
        return f"meta.WEKAClassifier -l ({text})" if text.startswith("weka.") else text

    @property
    def _static_command(self) -> str | None:
        """The static classifier of WEKA with its options; None for other learners."""
        found = _WEKA.fullmatch(self.learner.strip())
        command = found and (found["plain"] or found["wrapped"])
        if not command:
            return None
        _start_jvm()
        updateable = _load_weka("weka.classifiers.UpdateableClassifier", command)
        return None if isinstance(_make_classifier(command), updateable) else command

    @property
    def needs_training(self) -> bool:
        """Whether it is fitted only when training ends."""
        return self._static_command is not None

    @property
    def seedless(self) -> bool:
        """Whether no option of the learner, or of a nested learner, is a seed."""
        _start_jvm()
        static = self._static_command
        if static is not None:
            return not isinstance(_make_classifier(static), _load_class("weka.core.Randomizable"))
        return not list(_find_seed_setters(_parse_learner(self._command)))

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner with its own MOA object, or with a classifier of WEKA that is not built yet."""
        jpype = _start_jvm()
        static = self._static_command
        if static is not None:
            return RefittedLearner(_WekaModel(static, schema), schema, seed)
        learner = _parse_learner(self._command)
        for set_seed, nested_seed in zip(list(_find_seed_setters(learner)), generate_seeds(seed), strict=False):
            set_seed(nested_seed)
        learner.prepareForUse()
        cell = jpype.JClass("streamgauge.Cell")(learner, *_convert_schema(schema))
        return _MoaLearner(cell, schema.n_classes)


def _convert_schema(schema: Schema) -> tuple[Any, Any, Any]:
    """Return the names of the attributes, their values and the classes as arrays of Java."""
    jpype = library("jpype", "moa")
    strings = jpype.JArray(jpype.JString)
    values = [None if a.values is None else strings(list(a.values)) for a in schema.attributes]
    names = strings([attribute.name for attribute in schema.attributes])
    return names, jpype.JArray(strings)(values), strings(list(schema.classes))


def get_moa_command(thing: object) -> str | None:
    """Return the command line of a MOA learner or learner class (a Java object, also in one of CapyMOA), else None.

    Examples
    --------
    >>> get_moa_command("text") is None
    True
    """
    inner: Any = getattr(thing, "moa_learner", thing)
    if not hasattr(inner, "trainOnInstance"):
        return None
    if isinstance(inner, type):
        return str(inner.class_.getName())  # type: ignore[attr-defined]
    return str(inner.getCLICreationString(_load_class("moa.classifiers.Classifier")))


def _start_jvm() -> Any:  # noqa: ANN401
    """Start the Java virtual machine with MOA, if it does not run yet."""
    jpype = library("jpype", "moa")
    with _START_LOCK:
        cell_jar = str(Path(__file__).with_name("java") / "cell.jar")
        if jpype.isJVMStarted():
            for path in {*_list_class_path(), cell_jar} - _ADDED:
                jpype.addClassPath(path)
                _ADDED.add(path)
        else:
            try:
                # -Xrs leaves Ctrl-C to Python
                class_path = [*find_class_path(), cell_jar]
                jpype.startJVM("-Xrs", "-Xss16m", classpath=class_path, convertStrings=False)
                _ADDED.update(class_path)
            except jpype.JVMNotFoundException as error:
                msg = f"MOA needs Java 11 or newer, which was not found: {error}"
                raise StreamgaugeError(msg) from None
    return jpype


def _list_class_path() -> list[str]:
    """Return the paths that the environment variable names; raise if one of them is no file."""
    paths = [path for path in os.environ.get(JAR_VARIABLE, "").split(os.pathsep) if path]
    for path in paths:
        if not Path(path).is_file():
            msg = f"{JAR_VARIABLE} names {path}, which is not a file"
            raise StreamgaugeError(msg)
    return [str(Path(path).resolve()) for path in paths]


def find_class_path() -> list[str]:
    """Return the paths of MOA's jar and of those named with it; raise if there is none."""
    paths = _list_class_path()
    if paths:
        return paths
    capymoa = find_spec("capymoa")
    for folder in (capymoa.submodule_search_locations or ()) if capymoa else ():
        bundled = Path(folder, "jar", "moa.jar")
        if bundled.is_file():
            return [str(bundled)]
    msg = f"MOA's jar was not found: set the environment variable {JAR_VARIABLE} to its path, or install capymoa"
    raise StreamgaugeError(msg)


@cache
def _load_class(name: str) -> Any:  # noqa: ANN401
    jpype = _start_jvm()
    try:
        return jpype.JClass(name)
    except TypeError:
        msg = f"the running Java virtual machine does not have {name}: start it with MOA's jar"
        raise StreamgaugeError(msg) from None


def _parse_learner(command: str) -> Any:  # noqa: ANN401
    """Return the learner of a command line."""
    try:
        return _load_class("moa.options.ClassOption").cliStringToObject(
            command, _load_class("moa.classifiers.Classifier"), None
        )
    except _load_class("java.lang.NoClassDefFoundError") as error:
        msg = f"{command!r} needs {error.getMessage()}, which is not in MOA's jar: add its jar to {JAR_VARIABLE}"
        raise StreamgaugeError(msg) from None
    except _load_class("java.lang.Throwable") as error:
        reason = str(error.getMessage() or error).splitlines()[0]
        msg = f"MOA cannot create the learner {command!r}: {reason}"
        raise StreamgaugeError(msg) from None


def _load_weka(name: str, command: str) -> Any:  # noqa: ANN401
    """Return a class of WEKA, which the classifier of a command line needs."""
    try:
        return library("jpype", "moa").JClass(name)
    except TypeError:
        if name != _WEKA_CORE:
            _load_weka(_WEKA_CORE, command)
            msg = f"WEKA has no class {name}: {command!r} cannot be created"
            raise StreamgaugeError(msg) from None
        msg = f"{command!r} needs WEKA, which is not in MOA's jar: add its jar to {JAR_VARIABLE}"
        raise StreamgaugeError(msg) from None


def _make_classifier(command: str) -> Any:  # noqa: ANN401
    """Return a classifier of WEKA that has not been built."""
    name, *options = (str(part) for part in _load_weka(_WEKA_CORE, command).splitOptions(command))
    classifier = _load_weka(name, command)()
    jpype = library("jpype", "moa")
    try:
        rest = jpype.JArray(jpype.JString)(options)
        classifier.setOptions(rest)
        unknown = [str(option) for option in rest if option is not None and str(option)]
    except jpype.JException as error:
        msg = f"WEKA cannot create {command!r}: {error.getMessage() or error}"
        raise StreamgaugeError(msg) from None
    if unknown:
        msg = f"{name} has no option {unknown[0]}: {command!r} cannot be created"
        raise StreamgaugeError(msg)
    return classifier


class _WekaModel:
    """A static classifier of WEKA; see `streamgauge.learners.refitted.Fittable`."""

    def __init__(self, command: str, schema: Schema) -> None:
        self._command, self._n_classes = command, schema.n_classes
        self._fitted = library("jpype", "moa").JClass("streamgauge.Fitted")(*_convert_schema(schema))
        self.name = command.partition(" ")[0].rpartition(".")[2]

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None, seed: int) -> None:
        classifier, array = _make_classifier(self._command), library("jpype", "moa").JArray.of
        if isinstance(classifier, _load_class("weka.core.Randomizable")):
            classifier.setSeed(next(generate_seeds(seed)))
        columns = [None if column is None else array(column.reshape(-1)) for column in (x, y, weight)]
        try:
            self._fitted.fit(classifier, *columns)
        except _load_class("java.lang.NoClassDefFoundError") as error:
            msg = f"it needs {error.getMessage()}, which is not in WEKA's jar: add its jar to {JAR_VARIABLE}"
            raise StreamgaugeError(msg) from None
        except _load_class("java.lang.Exception") as error:
            raise StreamgaugeError(str(error.getMessage() or error)) from None

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = self._fitted.votes(library("jpype", "moa").JArray.of(np.ascontiguousarray(x).reshape(-1)), len(x))
        return clean_votes(np.array(votes, dtype=np.float64).reshape(len(x), self._n_classes))

    @property
    def n_bytes(self) -> int:
        return len(self.save())

    def save(self) -> bytes:
        note_pickle("Moa")
        return bytes(self._fitted.save())

    def load(self, state: bytes) -> None:
        self._fitted.load(library("jpype", "moa").JArray.of(np.frombuffer(state, dtype=np.int8)))


def _find_seed_setters(handler: Any) -> Iterator[Callable[[int], object]]:  # noqa: ANN401
    """Yield a setter for each seed of a learner and of the objects in its options, which are created for that."""
    if isinstance(handler, _load_class("moa.learners.Learner")) and handler.isRandomizable():
        yield handler.setRandomSeed
    for option in handler.getOptions().getOptionArray():
        if isinstance(option, _load_class("com.github.javacliparser.IntOption")):
            if str(option.getName()).lower().endswith("seed"):
                yield option.setValue
        elif isinstance(option, _load_class("moa.options.ClassOption")):
            inner = option.getPreMaterializedObject()
            if isinstance(inner, _load_class("moa.options.OptionHandler")):
                option.setCurrentObject(inner)
                yield from _find_seed_setters(inner)


class _MoaLearner:
    """The learner of one fold."""

    def __init__(self, cell: Any, n_classes: int) -> None:  # noqa: ANN401
        self._cell, self._n_classes = cell, n_classes
        self._n_seen, self._size = 0, SizeCache()

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((len(x), self._n_classes))
        self._run(x, np.full(len(x), UNLABELLED, dtype=np.int32), None, None, votes=votes)
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        self._run(x, y, np.zeros(len(y), dtype=np.bool_), weight)

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        predictions, votes, _, _ = self._interleave(step, with_votes=with_votes, times=None)
        return predictions, votes

    def interleave_timed(
        self, step: Step, *, with_votes: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.uint64], NDArray[np.uint64]]:
        """Also return the nanoseconds that predicting and learning each row took."""
        return self._interleave(step, with_votes=with_votes, times=np.zeros((2, len(step.batch)), dtype=np.int64))

    def _interleave(
        self, step: Step, *, with_votes: bool, times: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.uint64], NDArray[np.uint64]]:
        votes = np.zeros((len(step.batch), self._n_classes)) if with_votes else None
        columns = (step.batch.x, step.labels, step.test, step.learning_weight)
        predictions = self._run(*columns, votes=votes, times=times)
        predicting, learning = np.zeros((2, 0), np.uint64) if times is None else times.astype(np.uint64)
        return predictions, votes, predicting, learning

    def _run(
        self,
        x: NDArray[np.float64],
        labels: NDArray[np.int32],
        tested: NDArray[np.bool_] | None,
        weight: NDArray[np.float64] | None,
        *,
        votes: NDArray[np.float64] | None = None,
        times: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int32]:
        """Predict and learn rows in Java; fill `votes` and `times` if they are given."""
        self._n_seen += len(labels)
        array = library("jpype", "moa").JArray.of
        columns = [None if c is None else array(c.reshape(-1)) for c in (x, labels, tested, weight, votes, times)]
        predictions = np.array(self._cell.interleave(*columns), dtype=np.int32)
        for out, column in ((votes, columns[4]), (times, columns[5])):
            if out is not None:
                out[:] = np.asarray(column).reshape(out.shape)
        position = int(self._cell.failedAt())
        if position >= 0:
            done = (predictions[:position], None if votes is None else votes[:position])
            raise LearnerError(str(self._cell.failure()), position, done)
        return predictions

    @property
    def n_bytes(self) -> int:
        """Bytes of the saved state; measured only after every quarter more rows, since it is slow."""
        return self._size.get(self._n_seen, lambda: len(self.save()))

    def save(self) -> bytes:
        note_pickle("Moa")
        return seal("Moa", bytes(self._cell.save()))

    def load(self, state: bytes) -> None:
        require_trust("Moa")  # deserialisation in Java can run code, too
        jpype = library("jpype", "moa")
        content = np.frombuffer(unseal("Moa", state), dtype=np.int8)
        try:
            self._cell.load(jpype.JArray.of(content))
            self._size = SizeCache()
        except jpype.JException as error:
            msg = f"MOA cannot load this state: {error}"
            raise StreamgaugeError(msg) from None
