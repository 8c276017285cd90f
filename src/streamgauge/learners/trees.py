"""Trees that grow with the stream."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from streamgauge import _native
from streamgauge.errors import require_at_least, require_between, unknown_name
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = ["HoeffdingTree"]

LeafPrediction = Literal["majority", "naive_bayes", "adaptive"]


@dataclass(frozen=True)
class HoeffdingTree:
    """VFDT: a leaf splits once the Hoeffding bound says that its best attribute is really the best.

    With R the range of the gain, n the weight in the leaf and delta the split confidence, it splits where the best
    attribute leads the second by more than ``sqrt(R^2 ln(1 / delta) / (2 n))``, or where that bound falls below the
    tie threshold. The defaults are MOA's.

    Parameters
    ----------
    grace_period
        The weight a leaf takes in between two attempts to split.
    split_confidence
        One minus the confidence in the choice of a split.
    tie_threshold
        The bound below which a split is made although the best attributes are as good as equal.
    leaf_prediction
        "majority" class, "naive_bayes", or "adaptive": whichever of the two was right more often in the leaf.
    binary_splits
        Whether nominal attributes split one value from all others, rather than all from each other.
    seed
        Without effect: it uses no randomness.

    References
    ----------
    Domingos, Hulten (2000): Mining high-speed data streams. KDD.

    Examples
    --------
    >>> HoeffdingTree(grace_period=0)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: grace_period = 0: it must be a whole number of at least 1
    """

    grace_period: int = 200
    split_confidence: float = 1e-7
    tie_threshold: float = 0.05
    leaf_prediction: LeafPrediction = "adaptive"
    binary_splits: bool = False
    seed: int = 1
    seedless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_at_least("grace_period", self.grace_period, 1)
        require_between("split_confidence", self.split_confidence, 0.0, 1.0)
        require_between("tie_threshold", self.tie_threshold, 0.0, 1.0, open_low=False)
        if self.leaf_prediction not in get_args(LeafPrediction):
            raise unknown_name(kind="leaf_prediction", name=str(self.leaf_prediction), known=get_args(LeafPrediction))

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build a learner that has seen nothing."""
        options = (
            float(self.grace_period),
            self.split_confidence,
            self.tie_threshold,
            self.leaf_prediction,
            self.binary_splits,
            2**40,
        )
        return NativeLearner(_native.hoeffding_tree(schema.n_values, schema.n_classes, *options))
