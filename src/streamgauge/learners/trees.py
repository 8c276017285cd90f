"""Decision trees that grow with the stream."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from streamgauge import _native
from streamgauge.errors import require_at_least, require_between, unknown_name
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = ["HoeffdingTree", "LeafPrediction"]

LeafPrediction = Literal["majority", "naive_bayes", "adaptive"]
"""What predicts at a leaf."""


@dataclass(frozen=True)
class HoeffdingTree:
    """A tree whose leaves split once the Hoeffding bound says that the best split is the best for good (VFDT).

    Every `grace_period` of weight, a leaf that has seen two classes compares its attributes by information gain. It
    splits by the best one if that leads the second, and no split at all, by more than
    ``sqrt(r**2 * log(1 / split_confidence) / (2 * n))``, with n the weight of the leaf and r the log2 of the number
    of classes up to the last one seen, or if that bound is below `tie_threshold`. The defaults are those of MOA.

    A numeric attribute offers ten thresholds, judged by a normal distribution per class; a nominal one offers a
    branch per value, or one value against the rest where that is better. A row whose value is missing where a node
    asks for it goes to the child that was heaviest when the node split. Votes add up to 1: posterior probabilities
    where naive Bayes predicts, shares of the classes where the majority does; all are 0 before the first row was
    learnt.

    Parameters
    ----------
    grace_period
        The weight a leaf learns between two attempts to split.
    split_confidence
        The probability with which a split may be the wrong one.
    tie_threshold
        Attributes closer than this are told apart by chance.
    leaf_prediction
        What predicts at a leaf: the "majority" class, "naive_bayes", or, "adaptive", whichever of the two was right
        more often at this leaf.
    binary_splits
        Whether a nominal attribute is split into one value and the rest only.
    max_bytes
        The tree stops growing when it holds so many bytes, so that an endless stream does not fill the memory.
    seed
        Not used: the tree makes no random choice.

    References
    ----------
    P. Domingos and G. Hulten, Mining high-speed data streams, KDD 2000.

    Examples
    --------
    >>> HoeffdingTree(grace_period=100).leaf_prediction
    'adaptive'
    >>> HoeffdingTree(tie_threshold=2.0)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: tie_threshold = 2.0: it must be a number in [0, 1]
    """

    grace_period: int = 200
    split_confidence: float = 1e-7
    tie_threshold: float = 0.05
    leaf_prediction: LeafPrediction = "adaptive"
    binary_splits: bool = False
    max_bytes: int = 2**25
    seed: int = 1
    seedless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_at_least("grace_period", self.grace_period, 1)
        require_between("split_confidence", self.split_confidence, 0.0, 1.0)
        require_between("tie_threshold", self.tie_threshold, 0.0, 1.0, open_low=False)
        require_at_least("max_bytes", self.max_bytes, 1)
        if self.leaf_prediction not in get_args(LeafPrediction):
            raise unknown_name(kind="leaf_prediction", name=str(self.leaf_prediction), known=get_args(LeafPrediction))

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build a tree that has seen nothing."""
        kernel = _native.hoeffding_tree(
            schema.n_values,
            schema.n_classes,
            self.grace_period,
            self.split_confidence,
            self.tie_threshold,
            self.leaf_prediction,
            self.binary_splits,
            self.max_bytes,
        )
        return NativeLearner(kernel)
