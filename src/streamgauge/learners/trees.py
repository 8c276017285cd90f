"""Decision trees that grow with the stream."""

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
"""What predicts at a leaf."""

SplitCriterion = Literal["info_gain", "gini", "hellinger"]
"""What makes a split good."""

MemorySize = Literal["sensor", "handheld", "server"]
"""How much memory a device has for a tree."""

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
        if self.leaf_prediction not in get_args(LeafPrediction):
            raise unknown_name(kind="leaf_prediction", name=str(self.leaf_prediction), known=get_args(LeafPrediction))
        if self.split_criterion not in get_args(SplitCriterion):
            raise unknown_name(kind="split_criterion", name=str(self.split_criterion), known=get_args(SplitCriterion))
        if not isinstance(self.max_bytes, str):
            require_at_least("max_bytes", self.max_bytes, 1)
        elif self.max_bytes not in MEMORY_SIZES:
            raise unknown_name(kind="max_bytes", name=self.max_bytes, known=MEMORY_SIZES)

    @property
    def n_bytes_allowed(self) -> int:
        """The most bytes a tree may hold."""
        return MEMORY_SIZES[self.max_bytes] if isinstance(self.max_bytes, str) else self.max_bytes

    @property
    def native(self) -> _native.TreeOptions:
        """The same for native code."""
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
    """A tree whose leaves split once the Hoeffding bound says that the best split is the best for good (VFDT).

    Every `grace_period` of weight, a leaf that has seen two classes compares its attributes. It splits by the best one
    if that leads the second, and no split at all, by more than
    ``sqrt(r**2 * log(1 / split_confidence) / (2 * n))``, with n the weight of the leaf and r the range of the
    criterion: for "info_gain" the log2 of the number of classes up to the last one seen, else 1. It also splits if that
    bound is below `tie_threshold`. The defaults are those of MOA.

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
    split_criterion
        What makes a split good: "info_gain", the entropy of the classes that it saves; "gini", the same for the
        chance that two rows of a branch are of different classes; "hellinger", how far apart the classes lie
        whatever their weights, for streams with a rare class (GH-VFDT): numeric attributes are compared by the
        Hellinger distance of their normal distributions and split where the shares of the classes below differ
        most. Of more than two classes the mean over their pairs counts.
    remove_poor_attributes
        Whether a leaf never again looks at an attribute that once fell behind the best by more than the bound. Naive
        Bayes still uses it.
    max_bytes
        The most bytes the tree holds at any moment: a number, or "sensor" (256 KiB), "handheld" (32 MiB) or "server"
        (4 GiB). A full tree freezes the leaves that promise least, those whose majority is wrong for the least
        weight, and thaws them when they promise more. A frozen leaf only counts its classes and predicts the majority.
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
        """Build a tree that has seen nothing."""
        return NativeLearner(_native.hoeffding_tree(schema.n_values, schema.n_classes, self.native))


@dataclass(frozen=True)
class HoeffdingAdaptiveTree(TreeOptions):
    """A Hoeffding tree whose nodes watch their error and grow anew what has become worse.

    Each node watches the error below it with ADWIN. Where the error of a node that has split rises, an alternate tree
    starts to learn beside it. It takes the node's place once both have watched more than 300 rows and its error is
    lower by more than ``sqrt(2 * e * (1 - e) * log(2 / 0.05) * (1 / n + 1 / m))``, with e and n the error and the rows
    of the node and m the rows of the alternate; it is dropped once its error is higher by as much.

    MOA's tree of this name puts an alternate in its node's place as soon as it splits for the first time, without
    comparing them, so that a false alarm costs a part of the tree; ours keeps to the paper. On streams that stay the
    same ours is as accurate or more; on those that change either may be ahead.

    Parameters
    ----------
    grace_period, split_confidence, tie_threshold, leaf_prediction, binary_splits, split_criterion
        As in `HoeffdingTree`.
    remove_poor_attributes
        As in `HoeffdingTree`.
    max_bytes
        As in `HoeffdingTree`, but the tree stops growing, and starts no alternate, where it could then hold more.
    delta
        The significance of a change of error.
    bootstrap
        Whether a leaf learns a row with its weight times a Poisson(1) number, or once where that is 0, as in MOA.
    seed
        Decides the numbers of `bootstrap`.

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
        """Whether it makes no random choice."""
        return not self.bootstrap

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build a tree that has seen nothing."""
        kernel = _native.hoeffding_adaptive_tree(
            schema.n_values, schema.n_classes, self.native, self.delta, self.bootstrap, seed
        )
        return NativeLearner(kernel)


@dataclass(frozen=True)
class ExtremelyFastDecisionTree(TreeOptions):
    """A tree whose leaves split as soon as that helps, and whose nodes think again (Hoeffding anytime tree).

    Every `grace_period` of weight, a leaf that has seen two classes splits by its best attribute if that is better than
    no split by more than the Hoeffding bound, on average over its attempts, or if the bound is below `tie_threshold`.
    Nodes that have split go on learning. Every `revision_period` rows, the nodes on the way of the row compare their
    attributes again: where another leads the one asked for by more than the bound, or by half of `tie_threshold` where
    the bound is below it, the node splits anew, and what was below is dropped. The lead is that of all gains so far
    over the number of attempts since the split, as in MOA, so that a young node is quick to think again.

    Parameters
    ----------
    grace_period, split_confidence, tie_threshold, leaf_prediction, binary_splits, split_criterion
        As in `HoeffdingTree`.
    remove_poor_attributes
        As in `HoeffdingTree`.
    max_bytes
        As in `HoeffdingTree`, but the tree stops growing where it would then hold more.
    revision_period
        After how many rows each the nodes on the way of a row think again.
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
        """Build a tree that has seen nothing."""
        kernel = _native.extremely_fast_decision_tree(
            schema.n_values, schema.n_classes, self.native, self.revision_period
        )
        return NativeLearner(kernel)
