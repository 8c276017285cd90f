"""Wrappers: learners that change what another learner is shown, or when it starts anew."""

from dataclasses import dataclass

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.composition import make_builder
from streamgauge.learners.native import NativeLearner
from streamgauge.learners.trees import HoeffdingTree
from streamgauge.protocols import DetectorSpec, LearnerSpec
from streamgauge.records import Schema

__all__ = ["DriftReset", "OneVsRest"]


_ADWIN = (0.002, 32, 5, 5, 10, "up")
"""The options of ADWIN as MOA and River have them, for rises."""


@dataclass(frozen=True)
class DriftReset:
    """A learner whose errors a detector watches; after an alarm it is replaced by a new one, which relearns.

    A row that is to be learnt is predicted first, and the detector is told whether that was wrong. At a drift a new
    learner takes over and learns this row first. With `on_warning`, rows at which the detector warns train a second
    learner in the background, which takes over at the drift; a warning that comes to nothing ends its life.

    Parameters
    ----------
    learner
        What predicts; a learner of any library that is known on sight.
    detector
        What watches it: a detector of `streamgauge.drift`, such as ``DDM()``; None for ADWIN with a delta of 0.002 that
        heeds rises of the error only.
    on_warning
        Whether the learner that takes over was trained since the warning, where the detector gives one.
    seed
        Two learners with the same seed share their randomness in each fold; each new learner has a seed of its own.

    Examples
    --------
    >>> from streamgauge import NaiveBayes, RandomRBF, evaluate
    >>> from streamgauge.streams import Sudden
    >>> stream = Sudden(RandomRBF(seed=1), RandomRBF(seed=2), position=5_000)
    >>> results = evaluate(stream, {"resets": DriftReset(NaiveBayes()), "goes on": NaiveBayes()}, n_rows=10_000)
    >>> bool(results.curve("resets", "accuracy")[-1, 0] > results.curve("goes on", "accuracy")[-1, 0])
    True
    """

    learner: LearnerSpec = HoeffdingTree()
    detector: DetectorSpec | None = None
    on_warning: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))
        if self.detector is not None and (isinstance(self.detector, type) or not hasattr(self.detector, "build")):
            msg = f"this is not a detector: {self.detector!r}; a detector is one of streamgauge.drift, such as DDM()"
            raise StreamgaugeError(msg)

    @property
    def seedless(self) -> bool:
        """Whether the learners use no randomness."""
        return self.learner.seedless

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build a learner that has seen nothing."""
        detector = _native.adwin_detector(*_ADWIN) if self.detector is None else _kernel(self.detector)
        build = make_builder(self.learner, schema)
        kernel = _native.drift_reset(schema.n_values, schema.n_classes, build, detector, self.on_warning, seed)
        return NativeLearner(kernel)


def _kernel(spec: DetectorSpec) -> _native.Detector:
    """Build a detector and give what does its work."""
    kernel = getattr(spec.build(), "kernel", None)
    if not isinstance(kernel, _native.Detector):
        msg = f"{spec!r} is not a native detector, as those of streamgauge.drift are, so it cannot watch a learner"
        raise StreamgaugeError(msg)
    return kernel


@dataclass(frozen=True)
class OneVsRest:
    """One learner per class, which tells this class from the rest; one in all where there are two classes.

    A class gets the share of the votes that its learner gives it, and these are scaled to a sum of 1. It abstains
    where every learner is sure of the rest.

    Parameters
    ----------
    learner
        What tells one class from the rest; a learner of any library that is known on sight.
    seed
        Two learners with the same seed share their randomness in each fold; every class has a seed of its own.

    Examples
    --------
    >>> from streamgauge import NaiveBayes, RandomRBF, evaluate
    >>> results = evaluate(RandomRBF(n_classes=4, n_rows=5_000), OneVsRest(NaiveBayes()))
    >>> bool(results.curve("OneVsRest", "accuracy")[-1, 0] > 0.5)
    True
    """

    learner: LearnerSpec = HoeffdingTree()
    seed: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))

    @property
    def seedless(self) -> bool:
        """Whether the learners use no randomness."""
        return self.learner.seedless

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build learners that have seen nothing."""
        build = make_builder(self.learner, schema)
        return NativeLearner(_native.one_vs_rest(schema.n_values, schema.n_classes, build, seed))
