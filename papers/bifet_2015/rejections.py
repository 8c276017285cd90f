"""The work behind Tables 2, 3 and 4: how often tests tell apart two random forests, alike or one of them noisy.

One evaluation serves all cells of the tables that share its forests. What a forest learns depends neither on which of
its rows are scored nor on noise in its predictions, so every fold predicts every row (``test="all"``), the predictions
of the second forest are switched afterwards, and rows are scored three times: those held out, those learnt, and all.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from papers.findings import Experiment, Piece, Scale
from papers.running import run
from streamgauge import _native
from streamgauge.backends import Backend
from streamgauge.learners import AdaptiveRandomForest
from streamgauge.protocols import CellBatch, Learner, LearnerSpec, Scheme, Stream
from streamgauge.randomness import below, fold_seed, uniform
from streamgauge.records import PairSums, Schema
from streamgauge.schemes import Bootstrap, CrossValidation, Split
from streamgauge.significance import two_way_t
from streamgauge.streams import PokerHand, in_memory, load, paper_stream

__all__ = ["MODES", "NOISES", "REJECTIONS", "SCHEMES", "SEEDS", "STREAMS", "SameSeed", "pair_sums", "stream_of"]

N_FOLDS = 10
NOISES = ("0", "0.05", "0.1")
MODES = ("held_out", "training", "all")
"""Which rows are scored: non-prequential, prequential, and our default."""
SEEDS = ("per_fold", "shared")
"""Whether the forests of each fold have seeds of their own, or one for all folds."""
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
"""How many runs, of how many rows."""
FOREST = AdaptiveRandomForest(10, subspace="sqrt", warning_delta=None, weighted_votes=False)
"""Leveraging bagging of trees that look at random attributes, as the paper's random forests: ten of them, weights of
Poisson(6), and a tree that gets worse gives way to a new one."""


@dataclass(frozen=True)
class SameSeed:
    """A learner that has the same seed in all folds, as frameworks have it that copy one learner into each fold."""

    learner: LearnerSpec
    seed: int
    seedless: ClassVar[bool] = False

    def build(self, schema: Schema, seed: int) -> Learner:  # noqa: ARG002
        """Build the learner with a seed that the fold does not change."""
        return self.learner.build(schema, fold_seed(self.seed, 0, self.learner.seed))


def forests_of(run_number: int, seeds: str) -> dict[str, LearnerSpec]:
    """Give the two forests of a run, which differ in their seeds alone."""
    pair = {name: replace(FOREST, seed=2 * run_number + k) for k, name in enumerate(("first", "second"))}
    return {name: one if seeds == "per_fold" else SameSeed(one, run_number) for name, one in pair.items()}


def stream_of(name: str, seed: int, n_rows: int) -> Stream:
    """Give the rows of a stream of the paper; of real data the first ones.

    Examples
    --------
    >>> stream_of("SEA(50)", seed=1, n_rows=100).n_rows
    100
    """
    if name in DATASETS:
        stream: Stream = load(DATASETS[name])
        return in_memory(stream, min(n_rows, stream.n_rows or n_rows))
    return in_memory(PokerHand(seed=seed) if name == "Poker" else paper_stream(name, seed, n_rows), n_rows)


@dataclass
class _Counting:
    """Counts in bounded memory what tests need of two learners, as noise and scored rows vary."""

    seed: int
    n_folds: int
    n_classes: int
    waiting: dict[tuple[str, int], CellBatch] = field(default_factory=dict)
    counters: dict[tuple[str, str], Any] = field(default_factory=dict)

    def take(self, passage: CellBatch) -> None:
        """Keep a passage until those of all cells are there."""
        if len(passage.trace):
            self.waiting[passage.learner, passage.fold] = passage
        if len(self.waiting) == 2 * self.n_folds:
            self._count()
            self.waiting.clear()

    def _count(self) -> None:
        passages = [[self.waiting[name, fold] for fold in range(self.n_folds)] for name in ("first", "second")]
        truth = passages[0][0].trace.y_true
        predicted = np.stack([[passage.trace.y_pred for passage in of_learner] for of_learner in passages])
        learnt = np.stack([_learnt(passage) for passage in passages[1]])
        scored = {"held_out": ~learnt, "training": learnt, "all": None}
        start = int(passages[0][0].trace.row[0])
        for noise in NOISES:
            correct = np.stack([predicted[0], self._switched(predicted[1], float(noise), start)]) == truth
            for mode in MODES:
                counter = self.counters.setdefault((mode, noise), _native.PairCounter(2, self.n_folds))
                counter.update(correct, scored[mode])

    def _switched(self, predicted: NDArray[np.int32], noise: float, start: int) -> NDArray[np.int32]:
        """Switch each prediction, with the probability of the noise, to a class drawn from all."""
        n = predicted.shape[1]
        lots = np.stack([uniform(self.seed, "noise", fold, start, n) for fold in range(self.n_folds)])
        drawn = [below(self.seed, "noise class", fold, start, n, self.n_classes) for fold in range(self.n_folds)]
        return np.where(lots < noise, np.stack(drawn), predicted).astype(np.int32)


def _learnt(passage: CellBatch) -> NDArray[np.bool_]:
    """Say which rows were learnt."""
    weight = passage.step.learning_weight
    return np.ones(len(passage.trace), dtype=np.bool_) if weight is None else weight > 0.0


@dataclass(frozen=True)
class _PairsUnderNoise:
    """Records the sums of a pair of learners for all noises and scored rows; they are in `sums` after the run."""

    seed: int
    n_folds: int
    sums: dict[tuple[str, str], PairSums] = field(default_factory=dict)
    needs_votes: ClassVar[bool] = False

    @contextmanager
    def open(
        self, _stream: Stream, schema: Schema, learners: Sequence[str], *_: object
    ) -> Iterator[Callable[[CellBatch], None]]:
        """Count for the length of a run."""
        first, second = learners
        counting = _Counting(self.seed, self.n_folds, schema.n_classes)
        yield counting.take
        for key, counter in counting.counters.items():
            self.sums[key] = PairSums(first, second, *counter.sums(0, 1))


def pair_sums(
    stream: Stream, forests: Mapping[str, LearnerSpec], scheme: Scheme, seed: int, backend: Backend
) -> tuple[dict[tuple[str, str], PairSums], list[float]]:
    """Evaluate two learners once; give their sums by scored rows and noise, and their accuracies over all rows."""
    recorder = _PairsUnderNoise(seed, scheme.n_folds)
    options = {"scheme": scheme, "seed": seed, "every": stream.n_rows, "backend": backend}
    results = run(stream, forests, recorders=[recorder], **options)
    return recorder.sums, results.values[-1, :, :, 0, 0].mean(axis=1).tolist()


def _work(name: str, number: int, seeds: str, n_rows: int, backend: Backend) -> dict[str, Any]:
    """Do one run on one stream with one kind of seeds, with all three kinds of folds."""
    stream = stream_of(name, number, n_rows)
    holds: dict[str, Any] = {"stream": name, "run": number, "seeds": seeds, "n_rows": stream.n_rows}
    for scheme, make in SCHEMES.items():
        sums, accuracy = pair_sums(stream, forests_of(number, seeds), make(N_FOLDS), number, backend)
        holds[scheme] = {
            mode: {noise: _told(sums[mode, noise], with_rows=mode == "all") for noise in NOISES} for mode in MODES
        }
        holds[scheme]["accuracy"] = accuracy
    return holds


def _told(pair: PairSums, *, with_rows: bool) -> dict[str, Any]:
    """Put what tests need of a pair into plain lists."""
    columns = {name: getattr(pair, name).tolist() for name in ("n_scored", "only_first", "only_second")}
    return {**columns, "two_way_p": two_way_t(pair).p_value} if with_rows else columns


TestedRows = Literal["held_out", "training"]


def _time(name: str, n_rows: int, backend: Backend) -> dict[str, Any]:
    """Measure the CPU time of each kind of folds, where only the rows are predicted that are scored."""
    stream = stream_of(name, 1, n_rows)
    holds: dict[str, Any] = {"stream": name, "n_rows": stream.n_rows}
    for scheme, make in SCHEMES.items():
        modes: tuple[TestedRows, ...] = ("held_out", "training")
        for mode in modes:
            before = time.process_time()
            run(stream, forests_of(1, "per_fold"), scheme=make(N_FOLDS, mode), every=stream.n_rows, backend=backend)
            holds.setdefault(mode, {})[scheme] = time.process_time() - before
    return holds


def _pieces(scale: Scale) -> list[Piece]:
    """Give all streams of one run before the next run, so that what is done so far is of all streams alike."""
    n_runs, n_rows = SIZES[scale]
    streams = TINY_STREAMS if scale == "tiny" else STREAMS
    pieces = [
        Piece(
            f"{number:02d}-{seeds}-{_key(name)}",
            partial(_work, name, number, seeds, n_rows),
            dataset=DATASETS.get(name),
        )
        for number, seeds, name in product(range(1, n_runs + 1), SEEDS, streams)
    ]
    timed = [Piece(f"time-{_key(name)}", partial(_time, name, n_rows), dataset=DATASETS.get(name)) for name in streams]
    first = len(SEEDS) * len(streams)
    return [*pieces[:first], *timed, *pieces[first:]]


def _key(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter == "." else "_" for letter in name).strip("_")


REJECTIONS = Experiment("bifet-2015-rejections", _pieces, in_part=True)
"""All evaluations of Tables 2, 3 and 4."""
