"""Any learner of MOA, and WEKA's updateable classifiers through it.

The loop that tests and trains runs inside the Java virtual machine (``java/Cell.java``, shipped compiled in
``java/cell.jar``), so that Python and Java meet once a batch and a learner costs what it costs in MOA's own loop.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import LearnerError, StreamgaugeError
from streamgauge.learners.adapters.libraries import library
from streamgauge.learners.adapters.saved_states import Size, note_pickle, opened, require_trust, sealed
from streamgauge.learners.adapters.seeding import seeds
from streamgauge.protocols import Learner
from streamgauge.records import UNLABELLED, Schema, Step

__all__ = ["Moa", "class_path", "moa_text"]

JAR_VARIABLE = "STREAMGAUGE_MOA_JAR"
_STARTING = Lock()


@dataclass(frozen=True)
class Moa:
    """A learner of MOA, which runs in a Java virtual machine in this process; each fold gets its own, seeded apart.

    It needs Java 11 or newer, ``pip install 'streamgauge[moa]'`` and MOA's jar: the one in the variable
    ``STREAMGAUGE_MOA_JAR`` (several paths as in a class path, with WEKA's jar where MOA's does not hold it), or else
    the one that an installed CapyMOA brings.

    Nominal and missing values reach it as such; a row has no class while it is predicted. Where MOA would take no vote
    at all for class 0, the learner abstains. All options called a seed are set, in learners inside learners too. Its
    state is saved by Java, which is as powerful as pickle: load only what you saved yourself. `n_bytes` is the size of
    that state, for MOA cannot tell without an agent.

    Parameters
    ----------
    learner
        A class, with its options as on MOA's command line: ``trees.HoeffdingTree -g 100``, or
        ``moa.classifiers.bayes.NaiveBayes``. A class of WEKA's, ``weka.classifiers.bayes.NaiveBayesUpdateable``, is
        wrapped in MOA's WEKAClassifier.
    seed
        Two learners with the same seed share their randomness in each fold.

    Examples
    --------
    >>> Moa("trees.HoeffdingTree -g 100").short_name
    'HoeffdingTree'
    """

    learner: str = "trees.HoeffdingTree"
    seed: int = 1

    @property
    def short_name(self) -> str:
        """What it is called where it has no other name."""
        return self.learner.strip(" (").partition(" ")[0].rpartition(".")[2]

    @property
    def _command(self) -> str:
        text = self.learner.strip()
        return f"meta.WEKAClassifier -l ({text})" if text.startswith("weka.") else text

    @property
    def seedless(self) -> bool:
        """Whether no option of it, or of a learner in it, is a seed."""
        _start()
        return not list(_seeders(_parsed(self._command)))

    def build(self, schema: Schema, seed: int) -> Learner:
        """Make a learner of its own."""
        jpype = _start()
        learner = _parsed(self._command)
        for set_seed, own in zip(list(_seeders(learner)), seeds(seed), strict=False):
            set_seed(own)
        learner.prepareForUse()
        texts = jpype.JArray(jpype.JString)
        values = [None if a.values is None else texts(list(a.values)) for a in schema.attributes]
        cell = jpype.JClass("streamgauge.Cell")(
            learner,
            texts([attribute.name for attribute in schema.attributes]),
            jpype.JArray(texts)(values),
            texts(list(schema.classes)),
        )
        return _MoaLearner(cell, schema.n_classes)


def moa_text(thing: object) -> str | None:
    """Give the command line of a learner, or learner class, of MOA that is a Java object, or in one of CapyMOA's.

    None for anything else.

    Examples
    --------
    >>> moa_text("text") is None
    True
    """
    inner: Any = getattr(thing, "moa_learner", thing)
    if not hasattr(inner, "trainOnInstance"):
        return None
    if isinstance(inner, type):
        return str(inner.class_.getName())  # type: ignore[attr-defined]
    return str(inner.getCLICreationString(_class("moa.classifiers.Classifier")))


def _start() -> Any:  # noqa: ANN401
    """Start the Java virtual machine, if it does not run, with MOA in it."""
    jpype = library("jpype", "moa")
    with _STARTING:
        ours = str(Path(__file__).with_name("java") / "cell.jar")
        if jpype.isJVMStarted():
            jpype.addClassPath(ours)
        else:
            try:
                # -Xrs: Ctrl-C stays with Python
                jpype.startJVM("-Xrs", "-Xss16m", classpath=[*class_path(), ours], convertStrings=False)
            except jpype.JVMNotFoundException as error:
                msg = f"MOA needs Java 11 or newer, which was not found: {error}"
                raise StreamgaugeError(msg) from None
    return jpype


def class_path() -> list[str]:
    """Find MOA's jar, and those that were named with it; an error where there is none."""
    given = os.environ.get(JAR_VARIABLE)
    if given:
        paths = given.split(os.pathsep)
        for path in paths:
            if not Path(path).is_file():
                msg = f"{JAR_VARIABLE} names {path}, where there is no file"
                raise StreamgaugeError(msg)
        return paths
    capymoa = find_spec("capymoa")
    for folder in (capymoa.submodule_search_locations or ()) if capymoa else ():
        bundled = Path(folder, "jar", "moa.jar")
        if bundled.is_file():
            return [str(bundled)]
    msg = f"MOA's jar was not found: name it in the environment variable {JAR_VARIABLE}, or install capymoa"
    raise StreamgaugeError(msg)


@cache
def _class(name: str) -> Any:  # noqa: ANN401
    jpype = _start()
    try:
        return jpype.JClass(name)
    except TypeError:
        msg = f"the Java virtual machine that runs already does not know {name}: start it with MOA's jar"
        raise StreamgaugeError(msg) from None


def _parsed(command: str) -> Any:  # noqa: ANN401
    """Make the learner that a command line names."""
    try:
        return _class("moa.options.ClassOption").cliStringToObject(command, _class("moa.classifiers.Classifier"), None)
    except _class("java.lang.NoClassDefFoundError") as error:
        msg = f"{command!r} needs {error.getMessage()}, which is not in MOA's jar: add its jar to {JAR_VARIABLE}"
        raise StreamgaugeError(msg) from None
    except _class("java.lang.Throwable") as error:
        reason = str(error.getMessage() or error).splitlines()[0]
        msg = f"MOA cannot make a learner of {command!r}: {reason}"
        raise StreamgaugeError(msg) from None


def _seeders(handler: Any) -> Iterator[Callable[[int], object]]:  # noqa: ANN401
    """Give what sets each seed of a learner, and of whatever is in its options, which is made for that."""
    if isinstance(handler, _class("moa.learners.Learner")) and handler.isRandomizable():
        yield handler.setRandomSeed
    for option in handler.getOptions().getOptionArray():
        if isinstance(option, _class("com.github.javacliparser.IntOption")):
            if str(option.getName()).lower().endswith("seed"):
                yield option.setValue
        elif isinstance(option, _class("moa.options.ClassOption")):
            inner = option.getPreMaterializedObject()
            if isinstance(inner, _class("moa.options.OptionHandler")):
                option.setCurrentObject(inner)
                yield from _seeders(inner)


class _MoaLearner:
    """The learner of one fold."""

    def __init__(self, cell: Any, n_classes: int) -> None:  # noqa: ANN401
        self._cell, self._n_classes = cell, n_classes
        self._n_seen, self._size = 0, Size()

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((len(x), self._n_classes))
        self._run(x, np.full(len(x), UNLABELLED, dtype=np.int32), None, None, votes=votes)
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        self._run(x, y, np.zeros(len(y), dtype=np.bool_), weight)

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        predictions, votes, _, _ = self._interleave(step, with_votes=with_votes, taken=None)
        return predictions, votes

    def interleave_timed(
        self, step: Step, *, with_votes: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.uint64], NDArray[np.uint64]]:
        """Do the same, with the nanoseconds that predicting and learning each row took."""
        return self._interleave(step, with_votes=with_votes, taken=np.zeros((2, len(step.batch)), dtype=np.int64))

    def _interleave(
        self, step: Step, *, with_votes: bool, taken: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.uint64], NDArray[np.uint64]]:
        votes = np.zeros((len(step.batch), self._n_classes)) if with_votes else None
        columns = (step.batch.x, step.labels, step.test, step.learning_weight)
        predictions = self._run(*columns, votes=votes, taken=taken)
        predicting, learning = np.zeros((2, 0), np.uint64) if taken is None else taken.astype(np.uint64)
        return predictions, votes, predicting, learning

    def _run(
        self,
        x: NDArray[np.float64],
        labels: NDArray[np.int32],
        tested: NDArray[np.bool_] | None,
        weight: NDArray[np.float64] | None,
        *,
        votes: NDArray[np.float64] | None = None,
        taken: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int32]:
        """Predict and learn rows in Java; fills in votes and times, where they are given."""
        self._n_seen += len(labels)
        array = library("jpype", "moa").JArray.of
        columns = [None if c is None else array(c.reshape(-1)) for c in (x, labels, tested, weight, votes, taken)]
        predictions = np.array(self._cell.interleave(*columns), dtype=np.int32)
        for filled, column in ((votes, columns[4]), (taken, columns[5])):
            if filled is not None:
                filled[:] = np.asarray(column).reshape(filled.shape)
        position = int(self._cell.failedAt())
        if position >= 0:
            done = (predictions[:position], None if votes is None else votes[:position])
            raise LearnerError(str(self._cell.failure()), position, done)
        return predictions

    @property
    def n_bytes(self) -> int:
        """The size of its saved state, as measured every quarter more rows, for that takes long."""
        return self._size.after(self._n_seen, lambda: len(self.save()))

    def save(self) -> bytes:
        note_pickle("Moa")
        return sealed("Moa", bytes(self._cell.save()))

    def load(self, state: bytes) -> None:
        require_trust("Moa")  # Java's way to load objects is as powerful as pickle
        jpype = library("jpype", "moa")
        content = np.frombuffer(opened("Moa", state), dtype=np.int8)
        try:
            self._cell.load(jpype.JArray.of(content))
            self._size = Size()
        except jpype.JException as error:
            msg = f"MOA cannot take over this state: {error}"
            raise StreamgaugeError(msg) from None
