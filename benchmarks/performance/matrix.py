"""Every learner beside its counterpart on every kind of stream: generators, electricity, covertype and poker hands.

Both sides see the same rows. Ours is `evaluate` on rows in memory in one thread. MOA's time is that of its task thread
in a new virtual machine, as users run it, minus its MajorityClass on the same rows, so that generator, reading,
compiler and garbage collector are not counted; and once more in a warm one. Vowpal Wabbit is the native loop of its
driver over its binary cache. Contestants take turns, and the best of each counts.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import streamgauge as sg
from benchmarks.performance.availability import is_available
from benchmarks.performance.figures import OURS, Figure
from benchmarks.performance.sizes import Sizes
from benchmarks.turns import Best
from peers import arff, moa
from streamgauge import learners, streams
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import LearnerSpec, Stream

__all__ = ["LEARNERS", "MOA", "SECTIONS", "VOWPAL_WABBIT", "WARM_MOA", "choose_rows"]

MOA, WARM_MOA, VOWPAL_WABBIT = "MOA", "MOA, warm", "Vowpal Wabbit"
BASELINE = "functions.MajorityClass"
N_PILOT_ROWS = 5_000
MAX_VALUES = 10_000_000
"""The largest number of values that rows of a generator may have in memory."""
MAX_ROWS = 1_000_000
REPEATS = 3
"""Runs of ours per turn, and of MOA in a warm virtual machine."""
LEARNERS: dict[str, tuple[LearnerSpec, str]] = {
    "NaiveBayes": (sg.NaiveBayes(), "bayes.NaiveBayes"),
    "HoeffdingTree": (sg.HoeffdingTree(), "trees.HoeffdingTree"),
    "HoeffdingAdaptiveTree": (learners.HoeffdingAdaptiveTree(), "trees.HoeffdingAdaptiveTree"),
    "ExtremelyFastDecisionTree": (learners.ExtremelyFastDecisionTree(), "trees.EFDT"),
    "OzaBag": (learners.OzaBag(), "meta.OzaBag"),
    "OzaBoost": (learners.OzaBoost(), "meta.OzaBoost"),
    "LeveragingBagging": (learners.LeveragingBagging(), "meta.LeveragingBag"),
    "AdaptiveRandomForest": (learners.AdaptiveRandomForest(), "meta.AdaptiveRandomForest -s 10"),
    "StreamingRandomPatches": (learners.StreamingRandomPatches(), "meta.StreamingRandomPatches -s 10"),
    "KNearestNeighbours": (learners.KNearestNeighbours(), "lazy.kNN -k 10 -w 1000"),
    "LogisticRegression": (learners.LogisticRegression(), VOWPAL_WABBIT),
}


@dataclass(frozen=True)
class Contest:
    """A stream of the matrix: a generator of MOA, or a stream of ours, which MOA reads from a file."""

    name: str
    generator: str = ""
    load: Callable[[], Stream] | None = None
    max_rows: int = MAX_ROWS


CONTESTS = {
    "matrix_rbf_10x2": Contest("RBF (10 x 2)", "generators.RandomRBFGenerator"),
    "matrix_rbf_20x4": Contest("RBF (20 x 4)", "generators.RandomRBFGenerator -a 20 -c 4"),
    "matrix_hyperplane": Contest("hyperplane", "generators.HyperplaneGenerator -k 10 -t 0.001"),
    "matrix_sea": Contest("SEA", "generators.SEAGenerator"),
    "matrix_agrawal": Contest("Agrawal", "generators.AgrawalGenerator -f 5"),
    "matrix_led": Contest("LED", "generators.LEDGenerator"),
    "matrix_random_tree": Contest("random tree (5 classes)", "generators.RandomTreeGenerator -c 5"),
    "matrix_waveform": Contest("Waveform (40)", "generators.WaveformGenerator -n"),
    "matrix_electricity": Contest("electricity", load=partial(streams.load, "electricity", offline=True)),
    "matrix_covertype": Contest("covertype", load=partial(streams.load, "covertype", offline=True), max_rows=100_000),
    "matrix_poker_hand": Contest("poker hand", load=partial(streams.PokerHand, n_rows=MAX_ROWS)),
}


@dataclass(frozen=True)
class Rows:
    """The rows of a stream, for both sides."""

    stream: sg.ArrayStream
    theirs: str
    """MOA's stream of the same rows."""
    folder: Path

    def take(self, n_rows: int) -> sg.ArrayStream:
        """Return the first rows."""
        return sg.ArrayStream(self.stream.x[:n_rows], self.stream.y[:n_rows], schema=self.stream.schema)


def measure_contest(contest: Contest, sizes: Sizes, folder: Path, names: tuple[str, ...]) -> Iterator[Figure]:
    """Measure the learners on a stream, one after another."""
    try:
        rows = _make_rows(contest, sizes.n_matrix_rows, folder)
    except StreamgaugeError as error:
        print(f"without {contest.name}: {error}", flush=True)
        return
    for name in names or tuple(LEARNERS):
        ours, theirs = LEARNERS[name]
        if is_available(VOWPAL_WABBIT if theirs == VOWPAL_WABBIT else MOA):
            measure = _measure_beside_vowpal_wabbit if theirs == VOWPAL_WABBIT else _measure_beside_moa
            for figure in measure(ours, theirs, rows, sizes):
                yield replace(figure, subject=f"{name}, {contest.name}")


def _make_rows(contest: Contest, most: int, folder: Path) -> Rows:
    most = min(most, contest.max_rows)
    if contest.load is not None:
        source = contest.load()
        batch = streams.take(source, min(most, source.n_rows or most))
        path = folder / "rows.arff"
        arff.write(path, source.schema, batch.x, batch.y)
        schema, x, y = arff.read(path)
        return Rows(sg.ArrayStream(x, y, schema=schema), f"ArffFileStream -f {path} -c -1", folder)
    if not is_available(MOA):
        msg = "its rows come from MOA's generator"
        raise StreamgaugeError(msg)
    n_attributes = len(moa.generate_rows(contest.generator, 1)[0].attributes)
    schema, x, y = moa.generate_rows(contest.generator, min(most, MAX_VALUES // n_attributes))
    return Rows(sg.ArrayStream(x, y, schema=schema), contest.generator, folder)


def choose_rows(measure: Callable[[int], float], most: int, budget: float) -> int:
    """Return a round number of rows, at most `most`, that take about `budget` seconds by `measure`."""
    n_rows = min(most, N_PILOT_ROWS)
    while n_rows < most:
        growth = budget / measure(n_rows)
        if growth < 2:
            break
        n_rows = min(most, _round_down(n_rows * min(growth, 10.0)))
    return n_rows


def _round_down(value: float) -> int:
    """Return the largest of 1, 2 or 5 times a power of ten that is not above a value."""
    power = int(10 ** (len(str(int(value))) - 1))
    return max(digit * power for digit in (1, 2, 5) if digit * power <= value)


def _measure_beside_moa(ours: LearnerSpec, theirs: str, rows: Rows, sizes: Sizes) -> Iterator[Figure]:
    def measure_pilot(n_rows: int) -> float:
        return n_rows * moa.measure_speed(theirs, rows.theirs, n_rows).cpu

    n_rows = choose_rows(measure_pilot, rows.stream.n_rows, sizes.matrix_seconds)
    stream = rows.take(n_rows)
    mine: Best[float] = Best()
    best: dict[str, Best[float]] = {theirs: Best(), BASELINE: Best()}
    for _ in range(sizes.turns):
        for learner, time_of in best.items():
            speed = moa.measure_speed(learner, rows.theirs, n_rows)
            time_of.add(speed.cpu, speed.accuracy)
        _time_ours(ours, stream, mine)
    yield _build_figure(OURS, n_rows, mine)
    times = Best(best[theirs].seconds - best[BASELINE].seconds, best[theirs].result)
    yield _build_figure(MOA, n_rows, times)
    if not sizes.warms:
        return
    warm = {learner: moa.measure_warm_speed(learner, rows.theirs, n_rows, REPEATS) for learner in best}
    times = Best(warm[theirs].cpu - warm[BASELINE].cpu, warm[theirs].accuracy)
    yield _build_figure(WARM_MOA, n_rows, times)


def _measure_beside_vowpal_wabbit(ours: LearnerSpec, theirs: str, rows: Rows, sizes: Sizes) -> Iterator[Figure]:
    stream = rows.stream
    files = _write_cache(stream, rows.folder)
    mine: Best[float] = Best()
    best: Best[float] = Best()
    for _ in range(sizes.turns):
        for _ in range(REPEATS):
            started = time.process_time()
            accuracy = _run_vowpal_wabbit(stream, files)
            best.add((time.process_time() - started) / stream.n_rows, accuracy)
        _time_ours(ours, stream, mine)
    yield _build_figure(OURS, stream.n_rows, mine)
    yield _build_figure(theirs, stream.n_rows, best)


def _write_cache(stream: sg.ArrayStream, folder: Path) -> str:
    """Write rows as a text and a binary cache of Vowpal Wabbit; return the options that read them.

    Numbers are values of features, nominal values are features.
    """
    text, cache = folder / "rows.vw", folder / "rows.cache"
    is_nominal = [attribute.is_nominal for attribute in stream.schema.attributes]
    with text.open("w", encoding="utf-8") as file:
        for batch in stream.batches(32_768):
            for label, row in zip(batch.y.tolist(), batch.x.tolist(), strict=True):
                features = (
                    f"a{i}_{value:.0f}" if nominal else f"a{i}:{value!r}"
                    for i, (nominal, value) in enumerate(zip(is_nominal, row, strict=True))
                )
                file.write(f"{label + 1} | {' '.join(features)}\n")
    files = f"-d {text} --cache_file {cache}"
    _run_vowpal_wabbit(stream, f"{files} -k")
    return files


def _run_vowpal_wabbit(stream: sg.ArrayStream, source: str) -> float:
    """Run the driver of Vowpal Wabbit, which tests then trains; return the accuracy."""
    from vowpalwabbit import Workspace  # noqa: PLC0415

    workspace = Workspace(f"--oaa {stream.schema.n_classes} --loss_function logistic --quiet {source}")
    loss = float(workspace.get_sum_loss())
    workspace.finish()
    return 1.0 - loss / stream.n_rows


def _time_ours(learner: LearnerSpec, stream: sg.ArrayStream, best: Best[float]) -> None:
    for _ in range(REPEATS):
        started = time.process_time()
        results = sg.evaluate(stream, learner, backend=sg.Threads(1), every=stream.n_rows)
        seconds = time.process_time() - started
        best.add(seconds / stream.n_rows, float(results.curve(results.learners[0], "accuracy")[-1].mean()))


def _build_figure(system: str, n_rows: int, best: Best[float]) -> Figure:
    return Figure("", system, n_rows, 1e9 * best.seconds, accuracy=best.result)


SECTIONS = {name: partial(measure_contest, contest) for name, contest in CONTESTS.items()}
