"""Ensembles that replace members whose error rises: the adaptive random forest and streaming random patches."""

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
"""What differs between members: both attributes and row weights, attributes only, or row weights only."""

TREE = HoeffdingTree(grace_period=50, split_confidence=0.01)
"""The trees of MOA's ensembles, which split earlier than a single tree."""


@dataclass(frozen=True)
class AdaptiveRandomForest:
    """Hoeffding trees on random subsets of the attributes; a tree whose error rises is replaced by a younger one.

    Every tree learns each row with a weight drawn from Poisson(`mean_weight`). Each leaf draws, when it is created, the
    attributes that it observes, may split by and uses in its naive Bayes model. Two ADWIN windows per tree monitor its
    errors on the rows that it has just learnt. When the first window, of `warning_delta`, detects a rise, a background
    tree starts to learn the rows with their unmodified weights. When the second window, of `drift_delta`, detects a
    rise, the background tree, or a new one if there is none, replaces the tree. A leaf that only one of its attributes
    can split does so at the first attempt. The votes of a tree are weighted by its
    accuracy since it became active. The defaults are those of MOA, except for the number of trees.

    Parameters
    ----------
    n_members
        The number of trees.
    subspace
        The number of attributes that a leaf observes: a number, a share in (0, 1), or "sqrt", the rounded square root
        of the number of attributes plus one.
    mean_weight
        The mean of the weights with which trees learn a row, at most 100.
    warning_delta
        The significance level at which a background tree starts; None disables background trees.
    drift_delta
        The significance level at which a tree is replaced; None never replaces a tree.
    weighted_votes
        Whether the votes of a tree are weighted by its accuracy.
    grace_period, split_confidence, tie_threshold, leaf_prediction, binary_splits, split_criterion, max_bytes
        The options of each tree, see `HoeffdingTree`.
    seed
        Two learners with the same seed share their randomness in each fold; every tree has a separate seed.

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
        _check_options(self)
        _ = self._tree  # checks the options of the trees

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
        """Build an untrained forest."""
        kernel = _native.adaptive_random_forest(
            schema.n_values,
            schema.n_classes,
            self.n_members,
            compute_subspace_size(self.subspace, len(schema.attributes)),
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
    """Learners on random subsets of attributes and rows; a member whose error rises is replaced by a new one.

    A member uses the same attributes until it is replaced. Warnings, drifts, background learners and votes are those of
    `AdaptiveRandomForest`, but background learners use the row weights of their member, and one that has replaced a
    member learns every row twice until the next warning. The defaults are those of MOA, except for the number of
    members.

    Parameters
    ----------
    n_members
        The number of members.
    base
        The learner that each member is; it may come from any supported library.
    patches
        What differs between members: "patches", attributes and row weights; "subspaces", attributes only;
        "resampling", row weights only.
    subspace
        The number of attributes that a member uses: a number, a share in (0, 1), or "sqrt", the rounded square root of
        the number of attributes plus one; at least two.
    mean_weight
        The mean of the Poisson weights with which members learn a row, at most 100.
    warning_delta
        The significance level at which a background learner starts; None disables background learners.
    drift_delta
        The significance level at which a member is replaced; None never replaces a member.
    weighted_votes
        Whether the votes of a member are weighted by its accuracy.
    seed
        Two learners with the same seed share their randomness in each fold; every member has a separate seed.

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
        _check_options(self)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build an untrained ensemble."""
        size = max(2, compute_subspace_size(self.subspace, len(schema.attributes)))
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


def compute_subspace_size(subspace: float | str, n_attributes: int) -> int:
    """Return the number of attributes in a subspace: at least one, at most all.

    Examples
    --------
    >>> [compute_subspace_size(subspace, 10) for subspace in (4, 0.6, "sqrt", 99)]
    [4, 6, 4, 10]
    """
    if isinstance(subspace, str):
        size = round(sqrt(n_attributes)) + 1
    else:
        size = int(subspace) if subspace >= 1 else round(subspace * n_attributes)
    return min(max(size, 1), max(n_attributes, 1))


def _check_options(spec: AdaptiveRandomForest | StreamingRandomPatches) -> None:
    """Check the options that both ensembles have."""
    require_at_least("n_members", spec.n_members, 1)
    subspace = spec.subspace
    is_size = isinstance(subspace, int) and subspace >= 1
    is_share = isinstance(subspace, float) and 0.0 < subspace < 1.0
    if not (is_size or is_share or subspace == "sqrt"):
        msg = f'subspace = {subspace!r}: it must be a number of attributes, a share in (0, 1) or "sqrt"'
        raise StreamgaugeError(msg)
    require_between("mean_weight", spec.mean_weight, 0.0, 100.0)
    for name, delta in (("warning_delta", spec.warning_delta), ("drift_delta", spec.drift_delta)):
        if delta is not None:
            require_between(name, delta, 0.0, 1.0, open_high=True)
