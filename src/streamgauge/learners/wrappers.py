"""Wrappers: learners that change what another learner is shown, when it restarts, or what it predicts."""

from dataclasses import dataclass, field
from typing import ClassVar

from streamgauge import _native
from streamgauge._foreign import find_kernel
from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.composition import make_builder
from streamgauge.learners.native import NativeLearner
from streamgauge.learners.trees import HoeffdingTree
from streamgauge.protocols import DetectorSpec, LearnerSpec
from streamgauge.randomness import fold_seed
from streamgauge.records import Schema

__all__ = ["DriftReset", "NoiseFilter", "OneVsRest"]


_ADWIN = (0.002, 32, 5, 5, 10, "up")
"""The options of ADWIN in MOA and River, for rises only."""


@dataclass(frozen=True)
class DriftReset:
    """A learner that is replaced by a new one when a detector finds a rise of its error.

    Each row is predicted before it is learnt, and the detector receives the error. At a drift a new learner takes over
    and starts with this row. With `on_warning`, a background learner is trained from the warning on and takes over at
    the drift; it is dropped if the warning ends without a drift.

    Parameters
    ----------
    learner
        The learner; it may come from any supported library.
    detector
        A detector from `streamgauge.drift`, such as ``DDM()``; None for ADWIN with a delta of 0.002, for rises of the
        error only.
    on_warning
        Whether to train a background learner from warnings on, if the detector has warnings.
    seed
        Two learners with the same seed share their randomness in each fold; each new learner has a separate seed.

    Examples
    --------
    >>> from streamgauge import NaiveBayes, RandomRBF, evaluate
    >>> from streamgauge.streams import Sudden
    >>> stream = Sudden(RandomRBF(seed=1), RandomRBF(seed=2), position=5_000)
    >>> results = evaluate(stream, {"resets": DriftReset(NaiveBayes()), "plain": NaiveBayes()}, n_rows=10_000)
    >>> bool(results.curve("resets", "accuracy")[-1, 0] > results.curve("plain", "accuracy")[-1, 0])
    True
    """

    learner: LearnerSpec = HoeffdingTree()
    detector: DetectorSpec | None = None
    on_warning: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))
        detector: object = self.detector
        if detector is not None and (isinstance(detector, type) or not isinstance(detector, DetectorSpec)):
            msg = f"{detector!r} is not a detector: use one from streamgauge.drift, such as DDM()"
            raise StreamgaugeError(msg)

    @property
    def seedless(self) -> bool:
        """Whether the learners use no randomness."""
        return self.learner.seedless

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained learner."""
        detector = _native.adwin_detector(*_ADWIN) if self.detector is None else _build_kernel(self.detector)
        build = make_builder(self.learner, schema)
        kernel = _native.drift_reset(schema.n_values, schema.n_classes, build, detector, self.on_warning, seed)
        return NativeLearner(kernel)


def _build_kernel(spec: DetectorSpec) -> _native.Detector:
    """Build a detector and return its kernel."""
    kernel = find_kernel(spec.build())
    if not isinstance(kernel, _native.Detector):
        msg = f"{spec!r} is not a native detector and cannot monitor a learner: use one from streamgauge.drift"
        raise StreamgaugeError(msg)
    return kernel


@dataclass(frozen=True)
class OneVsRest:
    """One binary learner per class, or a single one if there are only two classes.

    The votes for a class are the share of the votes that its learner gives it; they are scaled to a sum of 1. It
    abstains if every learner gives all votes to the rest.

    Parameters
    ----------
    learner
        The binary learner; it may come from any supported library.
    seed
        Two learners with the same seed share their randomness in each fold; every class has a separate seed.

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
        """Build untrained learners."""
        build = make_builder(self.learner, schema)
        return NativeLearner(_native.one_vs_rest(schema.n_values, schema.n_classes, build, seed))


@dataclass(frozen=True)
class NoiseFilter:
    """Changes each prediction of a learner, with probability p, to another class, drawn uniformly.

    It creates a difference of known size between two learners, to check whether a test finds it. An accuracy of a
    becomes ``a * (1 - p) + (1 - a) * p / (c - 1)`` with c classes. Learning is not affected; the drawn class gets the
    votes of the winner, and an abstention stays one.

    The random draw is addressed by the row's values and the number of rows learnt before.

    Parameters
    ----------
    learner
        The learner; it may come from any supported library.
    p
        The probability with which a prediction is changed.
    seed
        The seed of the random draws and, together with the learner's own seed, of the learner.
    redraw
        Whether to draw from all classes, the predicted one included: an accuracy of a becomes
        ``a * (1 - p) + p / c``.

    References
    ----------
    A. Bifet, G. de Francisci Morales, J. Read, G. Holmes and B. Pfahringer, Efficient online evaluation of big data
    stream classifiers, KDD 2015, section 4.1.

    Examples
    --------
    >>> from streamgauge import HoeffdingTree
    >>> NoiseFilter(HoeffdingTree(), p=0.1).p
    0.1
    """

    learner: LearnerSpec = NaiveBayes()
    p: float = 0.05
    seed: int = 1
    redraw: bool = field(default=False, kw_only=True)
    seedless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))
        require_between("p", self.p, 0.0, 1.0, open_low=False)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build a filter around an untrained learner."""
        build = make_builder(self.learner, schema)
        base_seed = fold_seed(seed, 0, self.learner.seed)
        kernel = _native.noise_filter(schema.n_values, schema.n_classes, build, base_seed, self.p, self.redraw, seed)
        return NativeLearner(kernel)
