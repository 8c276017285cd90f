"""The experiment behind Tables 2, 3 and 4: tests of two random forests, equal or with noise in one of them.

One evaluation serves all cells of the tables that share its forests. What a forest learns depends neither on which of
its rows are scored nor on noise in its predictions. So every fold predicts every row (``test="all"``), the predictions
of the second forest are switched afterwards, and rows are scored three times: held-out rows, learnt rows, and all.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from papers.findings import Experiment, Piece, Scale
from papers.running import run
from streamgauge import _native
from streamgauge.backends import Backend
from streamgauge.learners import AdaptiveRandomForest
from streamgauge.protocols import CellBatch, Learner, LearnerSpec, Scheme, Stream
from streamgauge.randomness import below, fold_seed, uniform
from streamgauge.records import ABSTAINED, PairSums, Schema
from streamgauge.schemes import Bootstrap, CrossValidation, Split
from streamgauge.significance.row_tests import estimate_two_way
from streamgauge.streams import PokerHand, in_memory, load, paper_stream

__all__ = [
    "MODES",
    "NOISES",
    "REJECTIONS",
    "SCHEMES",
    "SEEDS",
    "STREAMS",
    "SameSeed",
    "build_forests",
    "evaluate_pair",
    "open_stream",
]

N_FOLDS = 10
NOISES = ("0", "0.05", "0.1")
MODES = ("held_out", "training", "all")
"""Scored rows: non-prequential, prequential, and our default."""
SEEDS = ("per_fold", "shared")
"""Seeds of the forests: one per fold, or one for all folds."""
SCHEMES: dict[str, Callable[..., Bootstrap | CrossValidation | Split]] = {
    "bootstrap": Bootstrap,
    "cross_validation": CrossValidation,
    "split": Split,
}
DATASETS = {"CovType": "covertype", "Electricity": "electricity"}
STREAMS = (
    *DATASETS,
    "Poker",
    "LED(50000)",
    "SEA(50)",
    "SEA(50000)",
    "HYP(10,0.001)",
    "HYP(10,0.0001)",
    "RBF(0,0)",
    "RBF(50,0.001)",
    "RBF(10,0.001)",
    "RBF(50,0.0001)",
    "RBF(10,0.0001)",
)
TINY_STREAMS = ("Electricity", "Poker", "SEA(50)")
SIZES: dict[Scale, tuple[int, int]] = {"tiny": (1, 300), "quick": (5, 10_000), "paper": (50, 100_000)}
"""Number of runs, and rows per run."""
FOREST = AdaptiveRandomForest(10, subspace="sqrt", warning_delta=None, weighted_votes=False)
"""Leveraging bagging of ten trees on random attributes, like the paper's random forests: Poisson(6) weights, and a tree
that gets worse is replaced by a new one."""


@dataclass(frozen=True)
class SameSeed:
    """A learner with the same seed in all folds, as in frameworks that copy one learner into each fold."""

    learner: LearnerSpec
    seed: int
    seedless: ClassVar[bool] = False

    def build(self, schema: Schema, seed: int) -> Learner:  # noqa: ARG002
        """Build the learner with a seed that does not depend on the fold."""
        return self.learner.build(schema, fold_seed(self.seed, 0, self.learner.seed))


def build_forests(run_number: int, seeds: str) -> dict[str, LearnerSpec]:
    """Return the two forests of a run, which differ only in their seeds."""
    pair = {name: replace(FOREST, seed=2 * run_number + k) for k, name in enumerate(("first", "second"))}
    return {name: forest if seeds == "per_fold" else SameSeed(forest, run_number) for name, forest in pair.items()}


def open_stream(name: str, seed: int, n_rows: int) -> Stream:
    """Return `n_rows` of a stream of the paper; of real data, the first rows.

    Examples
    --------
    >>> open_stream("SEA(50)", seed=1, n_rows=100).n_rows
    100
    """
    if name in DATASETS:
        stream: Stream = load(DATASETS[name])
        return in_memory(stream, min(n_rows, stream.n_rows or n_rows))
    return in_memory(PokerHand(seed=seed) if name == "Poker" else paper_stream(name, seed, n_rows), n_rows)


@dataclass
class _Counting:
    """The counts that tests of two learners need, for all noises and scored rows, in bounded memory."""

    seed: int
    n_folds: int
    n_classes: int
    waiting: dict[tuple[str, int], CellBatch] = field(default_factory=dict)
    counters: dict[tuple[str, str], Any] = field(default_factory=dict)

    def add(self, batch: CellBatch) -> None:
        """Buffer the batch of a cell; count when the batches of all cells are complete."""
        if len(batch.trace):
            self.waiting[batch.learner, batch.fold] = batch
        if len(self.waiting) == 2 * self.n_folds:
            self._count()
            self.waiting.clear()

    def _count(self) -> None:
        first, second = ([self.waiting[name, fold] for fold in range(self.n_folds)] for name in ("first", "second"))
        truth = first[0].trace.y_true
        predicted = np.stack([[batch.trace.y_pred for batch in batches] for batches in (first, second)])
        learnt = np.stack([_find_learnt(batch) for batch in second])
        scored = {"held_out": ~learnt, "training": learnt, "all": None}
        start = int(first[0].trace.row[0])
        for noise in NOISES:
            correct = np.stack([predicted[0], self._add_noise(predicted[1], float(noise), start)]) == truth
            for mode in MODES:
                counter = self.counters.setdefault((mode, noise), _native.PairCounter(2, self.n_folds))
                counter.update(correct, scored[mode])

    def _add_noise(self, predicted: NDArray[np.int32], noise: float, start: int) -> NDArray[np.int32]:
        """Change each prediction, with probability `noise`, to another class, drawn uniformly."""
        n, n_others = predicted.shape[1], self.n_classes - 1
        lots = np.stack([uniform(self.seed, "noise", fold, start, n) for fold in range(self.n_folds)])
        others = np.stack([below(self.seed, "noise class", fold, start, n, n_others) for fold in range(self.n_folds)])
        changed = (lots < noise) & (predicted != ABSTAINED)
        return np.where(changed, others + (others >= predicted), predicted).astype(np.int32)


def _find_learnt(batch: CellBatch) -> NDArray[np.bool_]:
    """Return a mask of the rows that were learnt."""
    weight = batch.step.learning_weight
    return np.ones(len(batch.trace), dtype=np.bool_) if weight is None else weight > 0.0


@dataclass(frozen=True)
class _PairsUnderNoise:
    """A recorder of the sums of a pair of learners for all noises and scored rows, in `sums` after the run."""

    seed: int
    n_folds: int
    sums: dict[tuple[str, str], PairSums] = field(default_factory=dict)
    needs_votes: ClassVar[bool] = False

    @contextmanager
    def open(
        self, _stream: Stream, schema: Schema, learners: Sequence[str], *_: object
    ) -> Iterator[Callable[[CellBatch], None]]:
        """Count during a run."""
        first, second = learners
        counting = _Counting(self.seed, self.n_folds, schema.n_classes)
        yield counting.add
        for key, counter in counting.counters.items():
            self.sums[key] = PairSums(first, second, *counter.sums(0, 1))


def evaluate_pair(
    stream: Stream, forests: Mapping[str, LearnerSpec], scheme: Scheme, seed: int, backend: Backend
) -> tuple[dict[tuple[str, str], PairSums], list[float]]:
    """Evaluate two learners once; return their sums by scored rows and noise, and their accuracies over all rows."""
    recorder = _PairsUnderNoise(seed, scheme.n_folds)
    options = {"scheme": scheme, "seed": seed, "every": stream.n_rows, "backend": backend}
    results = run(stream, forests, recorders=[recorder], **options)
    return recorder.sums, results.values[-1, :, :, 0, 0].mean(axis=1).tolist()


def _evaluate(name: str, number: int, seeds: str, n_rows: int, backend: Backend) -> dict[str, Any]:
    """Run once on one stream with one kind of seeds and all three kinds of folds."""
    stream = open_stream(name, number, n_rows)
    result: dict[str, Any] = {"stream": name, "run": number, "seeds": seeds, "n_rows": stream.n_rows}
    for scheme, make in SCHEMES.items():
        sums, accuracy = evaluate_pair(stream, build_forests(number, seeds), make(N_FOLDS), number, backend)
        result[scheme] = {
            mode: {noise: _to_json(sums[mode, noise], with_rows=mode == "all") for noise in NOISES} for mode in MODES
        }
        result[scheme]["accuracy"] = accuracy
    return result


def _compute_two_way_p(pair: PairSums) -> float:
    """Return the p-value of the two-way t for independent rows: a t with k - 1 degrees of freedom."""
    difference, variance, _ = estimate_two_way(pair)
    if variance == 0.0:
        return float(difference == 0.0)
    return 2 * float(stdtr(pair.n_folds - 1, -abs(difference) / math.sqrt(variance)))


def _to_json(pair: PairSums, *, with_rows: bool) -> dict[str, Any]:
    """Return the counts of a pair that tests need, as plain lists."""
    columns = {name: getattr(pair, name).tolist() for name in ("n_scored", "only_first", "only_second")}
    return {**columns, "two_way_p": _compute_two_way_p(pair)} if with_rows else columns


TestedRows = Literal["held_out", "training"]


def _measure_time(name: str, n_rows: int, backend: Backend) -> dict[str, Any]:
    """Measure the CPU time of each kind of folds if only the scored rows are predicted."""
    stream = open_stream(name, 1, n_rows)
    result: dict[str, Any] = {"stream": name, "n_rows": stream.n_rows}
    for scheme, make in SCHEMES.items():
        modes: tuple[TestedRows, ...] = ("held_out", "training")
        for mode in modes:
            before = time.process_time()
            run(stream, build_forests(1, "per_fold"), scheme=make(N_FOLDS, mode), every=stream.n_rows, backend=backend)
            result.setdefault(mode, {})[scheme] = time.process_time() - before
    return result


def _list_pieces(scale: Scale) -> list[Piece]:
    """List the pieces run by run, so that an unfinished experiment has about as many runs of every stream."""
    n_runs, n_rows = SIZES[scale]
    streams = TINY_STREAMS if scale == "tiny" else STREAMS
    pieces = [
        Piece(
            f"{number:02d}-{seeds}-{_build_key(name)}",
            partial(_evaluate, name, number, seeds, n_rows),
            dataset=DATASETS.get(name),
        )
        for number, seeds, name in product(range(1, n_runs + 1), SEEDS, streams)
    ]
    timed = [
        Piece(f"time-{_build_key(name)}", partial(_measure_time, name, n_rows), dataset=DATASETS.get(name))
        for name in streams
    ]
    first = len(SEEDS) * len(streams)
    return [*pieces[:first], *timed, *pieces[first:]]


def _build_key(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter == "." else "_" for letter in name).strip("_")


REJECTIONS = Experiment("bifet-2015-rejections", _list_pieces, in_part=True, edition=2)
"""All evaluations of Tables 2, 3 and 4."""
