"""Ensembles whose members are renewed when they get worse: the adaptive random forest, streaming random patches."""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Literal, get_args

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.composition import make_builder
from streamgauge.learners.native import NativeLearner
from streamgauge.learners.trees import HoeffdingTree, LeafPrediction, MemorySize, SplitCriterion, TreeOptions
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema

__all__ = ["AdaptiveRandomForest", "Patches", "StreamingRandomPatches"]

Patches = Literal["patches", "subspaces", "resampling"]
"""What the members differ in: attributes and weights of the rows, attributes alone, weights alone."""

TREE = HoeffdingTree(grace_period=50, split_confidence=0.01)
"""The trees of MOA's ensembles, which split sooner than a tree alone."""


@dataclass(frozen=True)
class AdaptiveRandomForest:
    """Hoeffding trees whose leaves look at random attributes; a tree that gets worse gives way to a younger one.

    Every tree learns each row with a weight drawn from Poisson(`mean_weight`). Each of its leaves draws, when it is
    made, the attributes that it observes, may split by and knows in its naive Bayes. Two ADWIN windows per tree watch
    whether it still errs about a row that it has just learnt. When the first one, of `warning_delta`, drops its past
    because there are more errors now, a new tree starts to grow in the background, on rows of their own weight; when
    the second one, of `drift_delta`, does, the background tree, or a new one where there is none, takes over. The
    votes of a tree count with its accuracy since it took over. The defaults are those of MOA, but for the number of
    trees.

    Parameters
    ----------
    n_members
        How many trees there are.
    subspace
        How many attributes a leaf looks at: a number, a share of them in (0, 1), or "sqrt", the rounded square root
        of their number and one more.
    mean_weight
        The mean of the weights with which trees learn a row, at most 100.
    warning_delta
        The significance of a change that makes a background tree start; None has none.
    drift_delta
        The significance of a change that makes a tree give way; None keeps every tree for ever.
    weighted_votes
        Whether the votes of a tree count with its accuracy.
    grace_period, split_confidence, tie_threshold, leaf_prediction, binary_splits, split_criterion, max_bytes
        The options of each tree, see `HoeffdingTree`.
    seed
        Two learners with the same seed share their randomness in each fold; every tree has a seed of its own.

    References
    ----------
    H. M. Gomes et al., Adaptive random forests for evolving data stream classification, Machine Learning 106, 2017.

    Examples
    --------
    >>> from streamgauge import SEA, evaluate
    >>> results = evaluate(SEA(n_rows=5_000), AdaptiveRandomForest(5))
    >>> bool(results.curve("AdaptiveRandomForest", "accuracy")[-1, 0] > 0.8)
    True
    >>> AdaptiveRandomForest(subspace=1.5)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: subspace = 1.5: it must be a number of attributes, a share in (0, 1) or "sqrt"
    """

    n_members: int = 10
    subspace: float | str = 0.6
    mean_weight: float = 6.0
    warning_delta: float | None = 0.01
    drift_delta: float | None = 0.001
    weighted_votes: bool = True
    grace_period: int = 50
    split_confidence: float = 0.01
    tie_threshold: float = 0.05
    leaf_prediction: LeafPrediction = "adaptive"
    binary_splits: bool = False
    split_criterion: SplitCriterion = "info_gain"
    max_bytes: int | MemorySize = "handheld"
    seed: int = 1
    seedless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _require_ensemble(self)
        # The tree knows the ranges of its own options.
        _ = self._tree

    @property
    def _tree(self) -> TreeOptions:
        return TreeOptions(
            grace_period=self.grace_period,
            split_confidence=self.split_confidence,
            tie_threshold=self.tie_threshold,
            leaf_prediction=self.leaf_prediction,
            binary_splits=self.binary_splits,
            split_criterion=self.split_criterion,
            max_bytes=self.max_bytes,
        )

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build a forest that has seen nothing."""
        kernel = _native.adaptive_random_forest(
            schema.n_values,
            schema.n_classes,
            self.n_members,
            subspace_size(self.subspace, len(schema.attributes)),
            self.mean_weight,
            None if self.drift_delta is None else self.warning_delta,
            self.drift_delta,
            self.weighted_votes,
            self._tree.native,
            seed,
        )
        return NativeLearner(kernel)


@dataclass(frozen=True)
class StreamingRandomPatches:
    """Learners of any kind, each on its own random attributes and weights; one that gets worse gives way to a new one.

    A member sees the same attributes as long as it lives. Warnings, drifts, background learners and votes are those of
    `AdaptiveRandomForest`, but background learners learn with the weights of their member. The defaults are those of
    MOA, but for the number of members.

    Parameters
    ----------
    n_members
        How many members there are.
    base
        What the members are; a learner of any library that is known on sight.
    patches
        What the members differ in: "patches", their attributes and the weights of their rows; "subspaces", their
        attributes alone; "resampling", the weights alone.
    subspace
        How many attributes a member sees: a number, a share of them in (0, 1), or "sqrt", the rounded square root of
        their number and one more; no fewer than two.
    mean_weight
        The mean of the Poisson weights with which members learn a row, at most 100.
    warning_delta
        The significance of a change that makes a background learner start; None has none.
    drift_delta
        The significance of a change that makes a member give way; None keeps every member for ever.
    weighted_votes
        Whether the votes of a member count with its accuracy.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a seed of its own.

    References
    ----------
    H. M. Gomes, J. Read and A. Bifet, Streaming random patches for evolving data stream classification, ICDM 2019.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=5_000), StreamingRandomPatches(5, NaiveBayes()))
    >>> bool(results.curve("StreamingRandomPatches", "accuracy")[-1, 0] > 0.8)
    True
    """

    n_members: int = 10
    base: LearnerSpec = TREE
    patches: Patches = "patches"
    subspace: float | str = 0.6
    mean_weight: float = 6.0
    warning_delta: float | None = 1e-4
    drift_delta: float | None = 1e-5
    weighted_votes: bool = True
    seed: int = 1
    seedless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_spec(self.base))
        if self.patches not in get_args(Patches):
            raise unknown_name(kind="patches", name=str(self.patches), known=get_args(Patches))
        _require_ensemble(self)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an ensemble that has seen nothing."""
        size = max(2, subspace_size(self.subspace, len(schema.attributes)))
        kernel = _native.streaming_random_patches(
            schema.n_values,
            schema.n_classes,
            make_builder(self.base, schema),
            self.n_members,
            None if self.patches == "resampling" else size,
            None if self.patches == "subspaces" else self.mean_weight,
            None if self.drift_delta is None else self.warning_delta,
            self.drift_delta,
            self.weighted_votes,
            seed,
        )
        return NativeLearner(kernel)


def subspace_size(subspace: float | str, n_attributes: int) -> int:
    """Give the number of attributes that a subspace has: at least one, at most all.

    Examples
    --------
    >>> [subspace_size(subspace, 10) for subspace in (4, 0.6, "sqrt", 99)]
    [4, 6, 4, 10]
    """
    if isinstance(subspace, str):
        size = round(sqrt(n_attributes)) + 1
    else:
        size = int(subspace) if subspace >= 1 else round(subspace * n_attributes)
    return min(max(size, 1), max(n_attributes, 1))


def _require_ensemble(spec: AdaptiveRandomForest | StreamingRandomPatches) -> None:
    """Check the options that both ensembles have."""
    require_at_least("n_members", spec.n_members, 1)
    subspace = spec.subspace
    is_size = isinstance(subspace, int) and subspace >= 1
    is_share = isinstance(subspace, float) and 0.0 < subspace < 1.0
    if not (is_size or is_share or subspace == "sqrt"):
        msg = f'subspace = {subspace!r}: it must be a number of attributes, a share in (0, 1) or "sqrt"'
        raise StreamgaugeError(msg)
    require_between("mean_weight", spec.mean_weight, 0.0, 100.0)
    for name in ("warning_delta", "drift_delta"):
        delta = getattr(spec, name)
        if delta is not None:
            require_between(name, delta, 0.0, 1.0, open_high=True)
