"""Incremental decision trees."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from streamgauge import _native
from streamgauge.errors import require_at_least, require_between, unknown_name
from streamgauge.learners.native import NativeLearner
from streamgauge.records import Schema

__all__ = [
    "ExtremelyFastDecisionTree",
    "HoeffdingAdaptiveTree",
    "HoeffdingTree",
    "LeafPrediction",
    "MemorySize",
    "SplitCriterion",
]

LeafPrediction = Literal["majority", "naive_bayes", "adaptive"]
"""The model that predicts at a leaf."""

SplitCriterion = Literal["info_gain", "gini", "hellinger"]
"""The criterion by which splits are compared."""

MemorySize = Literal["sensor", "handheld", "server"]
"""The memory limit of a tree, by kind of device."""

MEMORY_SIZES: dict[str, int] = {"sensor": 2**18, "handheld": 2**25, "server": 2**32}


@dataclass(frozen=True)
class TreeOptions:
    """The options that all trees share; see `HoeffdingTree`.

    Examples
    --------
    >>> TreeOptions(max_bytes="sensor").n_bytes_allowed
    262144
    """

    grace_period: int = 200
    split_confidence: float = 1e-7
    tie_threshold: float = 0.05
    leaf_prediction: LeafPrediction = "adaptive"
    binary_splits: bool = False
    split_criterion: SplitCriterion = "info_gain"
    remove_poor_attributes: bool = False
    max_bytes: int | MemorySize = "handheld"

    def __post_init__(self) -> None:
        require_at_least("grace_period", self.grace_period, 1)
        require_between("split_confidence", self.split_confidence, 0.0, 1.0)
        require_between("tie_threshold", self.tie_threshold, 0.0, 1.0, open_low=False)
        for option, value, known in (
            ("leaf_prediction", self.leaf_prediction, get_args(LeafPrediction)),
            ("split_criterion", self.split_criterion, get_args(SplitCriterion)),
        ):
            if value not in known:
                raise unknown_name(kind=option, name=str(value), known=known)
        if not isinstance(self.max_bytes, str):
            require_at_least("max_bytes", self.max_bytes, 1)
        elif self.max_bytes not in MEMORY_SIZES:
            raise unknown_name(kind="max_bytes", name=self.max_bytes, known=MEMORY_SIZES)

    @property
    def n_bytes_allowed(self) -> int:
        """The memory limit of a tree in bytes."""
        return MEMORY_SIZES[self.max_bytes] if isinstance(self.max_bytes, str) else self.max_bytes

    @property
    def native(self) -> _native.TreeOptions:
        """The options as native code takes them."""
        return _native.TreeOptions(
            self.grace_period,
            self.split_confidence,
            self.tie_threshold,
            self.leaf_prediction,
            self.binary_splits,
            self.split_criterion,
            self.remove_poor_attributes,
            self.n_bytes_allowed,
        )


@dataclass(frozen=True)
class HoeffdingTree(TreeOptions):
    """A tree whose leaves split when the Hoeffding bound shows that the best split is reliably the best (VFDT).

    Every `grace_period` of weight, a leaf that has seen two classes compares its attributes. It splits on the best one
    if that beats the second best, and the option not to split, by more than
    ``sqrt(r**2 * log(1 / split_confidence) / (2 * n))``, where n is the weight of the leaf and r the range of the
    criterion: for "info_gain" the log2 of the number of classes up to the last one seen, else 1. It also splits if that
    bound is below `tie_threshold`. The defaults are those of MOA.

    A numeric attribute has ten candidate thresholds, scored with a normal distribution per class; a nominal one has one
    branch per value, or one value against the rest if that is better. A row with a missing value at a node follows the
    child that was heaviest when the node split. Votes add up to 1: posterior probabilities if naive Bayes predicts,
    class shares if the majority does; all are 0 before the first row has been learnt.

    Parameters
    ----------
    grace_period
        The weight that a leaf learns between two attempts to split.
    split_confidence
        The probability that a split is the wrong one.
    tie_threshold
        The bound below which the best attributes count as tied, so that the leaf splits on the best one.
    leaf_prediction
        The model that predicts at a leaf: the "majority" class, "naive_bayes", or "adaptive", whichever of the two has
        been right more often at this leaf.
    binary_splits
        Whether a nominal attribute is split only into one value and the rest.
    split_criterion
        How splits are compared: "info_gain", the reduction of class entropy; "gini", the reduction of Gini impurity;
        "hellinger", the distance between the classes regardless of their weights, for streams with a rare class
        (GH-VFDT): numeric attributes are compared by the Hellinger distance of their normal distributions and split
        where the class shares below the threshold differ most. With more than two classes, it is the mean over all
        pairs.
    remove_poor_attributes
        Whether a leaf permanently drops attributes that fell behind the best by more than the bound. Naive Bayes still
        uses them.
    max_bytes
        The memory limit of the tree: a number of bytes, or "sensor" (256 KiB), "handheld" (32 MiB) or "server" (4 GiB).
        A full tree deactivates the least promising leaves, those whose majority is wrong for the least weight, and
        reactivates them when they become more promising. An inactive leaf only counts classes and predicts the
        majority.
    seed
        Not used: the tree makes no random choice.

    References
    ----------
    P. Domingos and G. Hulten, Mining high-speed data streams, KDD 2000.
    R. J. Lyon, J. M. Brooke, J. D. Knowles and B. W. Stappers, Hellinger distance trees for imbalanced streams, ICPR
    2014.

    Examples
    --------
    >>> HoeffdingTree(grace_period=100).leaf_prediction
    'adaptive'
    >>> from streamgauge.streams import SEA
    >>> tree = HoeffdingTree(max_bytes=30_000).build(SEA().schema, seed=1)
    >>> rows = next(SEA().batches(20_000))
    >>> tree.learn(rows.x, rows.y, None)
    >>> tree.n_bytes <= 30_000
    True
    >>> HoeffdingTree(tie_threshold=2.0)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: tie_threshold = 2.0: it must be a number in [0, 1]
    """

    seed: int = 1
    seedless: ClassVar[bool] = True

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build an untrained tree."""
        return NativeLearner(_native.hoeffding_tree(schema.n_values, schema.n_classes, self.native))


@dataclass(frozen=True)
class HoeffdingAdaptiveTree(TreeOptions):
    """A Hoeffding tree that monitors the error of its nodes and replaces subtrees whose error rises.

    Each node monitors the error below it with ADWIN. If the error of an inner node rises, an alternate tree starts to
    learn beside it. It replaces the node as soon as it splits for the first time, or once both have seen more than 300
    rows and its error is lower by more than ``sqrt(2 * e * (1 - e) * log(2 / 0.05) * (1 / n + 1 / m))``, where e and n
    are the error and the rows of the node and m the rows of the alternate; it is dropped once its error is higher by as
    much. The paper compares the two in every case; MOA does not, and follows drifts faster.

    Parameters
    ----------
    grace_period, split_confidence, tie_threshold, leaf_prediction, binary_splits, split_criterion
        As in `HoeffdingTree`.
    remove_poor_attributes
        As in `HoeffdingTree`.
    max_bytes
        As in `HoeffdingTree`, but the tree stops growing, and starts no alternate, if it could then exceed the limit.
    delta
        The significance level of a change of the error.
    bootstrap
        Whether a leaf multiplies the weight of a row by a Poisson(1) number, or by 1 if that is 0, as in MOA.
    seed
        The seed of the random numbers of `bootstrap`.

    References
    ----------
    A. Bifet and R. Gavaldà, Adaptive learning from evolving data streams, IDA 2009.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> tree = HoeffdingAdaptiveTree().build(SEA().schema, seed=1)
    >>> rows = next(SEA().batches(5_000))
    >>> tree.learn(rows.x, rows.y, None)
    >>> sorted(tree.facts)
    ['depth', 'n_alternates', 'n_leaves', 'n_nodes', 'n_switched']
    """

    delta: float = 0.002
    bootstrap: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        TreeOptions.__post_init__(self)
        require_between("delta", self.delta, 0.0, 1.0, open_high=True)

    @property
    def seedless(self) -> bool:
        """Whether the tree makes no random choice."""
        return not self.bootstrap

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained tree."""
        kernel = _native.hoeffding_adaptive_tree(
            schema.n_values, schema.n_classes, self.native, self.delta, self.bootstrap, seed
        )
        return NativeLearner(kernel)


@dataclass(frozen=True)
class ExtremelyFastDecisionTree(TreeOptions):
    """A tree that splits as soon as a split helps, and revises its splits later (Hoeffding anytime tree).

    Every `grace_period` of weight, a leaf that has seen two classes splits on its best attribute if that is better than
    no split by more than the Hoeffding bound, on average over its attempts, or if the bound is below `tie_threshold`.
    Inner nodes continue to learn. Every `revision_period` rows, the nodes on the path of the row compare their
    attributes again: if another beats the current one by more than the bound, or by half of `tie_threshold` if the
    bound is below that, the node splits again and its subtree is dropped. The margin is the sum of all gains so far
    divided by the number of attempts since the split, as in MOA, so a young node is revised quickly.

    Parameters
    ----------
    grace_period, split_confidence, tie_threshold, leaf_prediction, binary_splits, split_criterion
        As in `HoeffdingTree`.
    remove_poor_attributes
        As in `HoeffdingTree`.
    max_bytes
        As in `HoeffdingTree`, but the tree stops growing if it would exceed the limit.
    revision_period
        The number of rows between two revisions of the nodes on the path of a row.
    seed
        Not used: the tree makes no random choice.

    References
    ----------
    C. Manapragada, G. I. Webb and M. Salehi, Extremely fast decision tree, KDD 2018.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> tree = ExtremelyFastDecisionTree().build(SEA().schema, seed=1)
    >>> rows = next(SEA().batches(5_000))
    >>> tree.learn(rows.x, rows.y, None)
    >>> sorted(tree.facts)
    ['depth', 'n_leaves', 'n_nodes', 'n_revised']
    """

    revision_period: int = 2000
    seed: int = 1
    seedless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        TreeOptions.__post_init__(self)
        require_at_least("revision_period", self.revision_period, 1)

    def build(self, schema: Schema, seed: int) -> NativeLearner:  # noqa: ARG002
        """Build an untrained tree."""
        kernel = _native.extremely_fast_decision_tree(
            schema.n_values, schema.n_classes, self.native, self.revision_period
        )
        return NativeLearner(kernel)
