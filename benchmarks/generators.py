"""Nanoseconds of CPU per generated row, one thread, best of several turns: ours, River's, and MOA's if it is available.

MOA's time is the CPU time of its task thread with a majority-class learner, the cheapest way to make it generate, in a
new virtual machine, as users run it.
Run with ``python -m benchmarks generators``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from time import process_time

from river.datasets import synth

from peers import moa
from streamgauge import _native
from streamgauge.protocols import Stream
from streamgauge.streams import (
    LED,
    SEA,
    STAGGER,
    Agrawal,
    AssetNegotiation,
    Classification,
    Gradual,
    Hyperplane,
    Imbalanced,
    Incremental,
    Mixed,
    Noisy,
    PokerHand,
    RandomRBF,
    RandomTree,
    Sine,
    Waveform,
)

BATCH = 8_192
TURNS = 3
ROUNDS = 8
JUMP = 2_000_000
RIVER_ROWS = 3_000
MOA_ROWS = 1_000_000
GOAL = 15.0


@dataclass(frozen=True)
class Opponents:
    """One of our generators and its counterparts in River and in MOA."""

    label: str
    ours: Stream
    river: Iterable[object] | None = None
    moa: str | None = None
    has_goal: bool = True


OPPONENTS = [
    Opponents("SEA, 3 attributes", SEA(), synth.SEA(), "SEAGenerator"),
    Opponents("hyperplane, 10, still", Hyperplane(), synth.Hyperplane(n_features=10), "HyperplaneGenerator"),
    Opponents("hyperplane, 10, 2 drifting", Hyperplane(magnitude=0.001)),
    Opponents(
        "hyperplane, 10, 10 drifting",
        Hyperplane(n_drifting=10, magnitude=0.001),
        synth.Hyperplane(n_features=10, n_drift_features=10, mag_change=0.001),
        "HyperplaneGenerator -k 10 -t 0.001",
    ),
    Opponents(
        "random RBF, 10, 50 moving",
        RandomRBF(speed=0.001),
        synth.RandomRBFDrift(change_speed=0.001, n_drift_centroids=50),
        "RandomRBFGeneratorDrift -s 0.001 -k 50",
    ),
    Opponents("LED, 24", LED(1), synth.LEDDrift(irrelevant_features=True, n_drift_features=1), "LEDGeneratorDrift"),
    Opponents("waveform, 21", Waveform(), synth.Waveform(), "WaveformGenerator"),
    Opponents("waveform, 40", Waveform(40), synth.Waveform(has_noise=True), "WaveformGenerator -n"),
    Opponents("Agrawal, 9", Agrawal(), synth.Agrawal(perturbation=0.05), "AgrawalGenerator"),
    Opponents("STAGGER, 3", STAGGER(), synth.STAGGER(), "STAGGERGenerator"),
    Opponents("sine, 4", Sine(), synth.Sine(has_noise=True), "SineGenerator"),
    Opponents("mixed, 4", Mixed(), synth.Mixed(), "MixedGenerator"),
    Opponents("random tree, 10", RandomTree(), synth.RandomTree(), "RandomTreeGenerator"),
    Opponents("asset negotiation, 5", AssetNegotiation(), None, "AssetNegotiationGenerator"),
    Opponents("poker hand, 10", PokerHand()),
    Opponents("classification, 20", Classification()),
    Opponents(
        "gradual change of SEA",
        Gradual(SEA(1), SEA(3), position=0, width=10**9),
        synth.ConceptDriftStream(synth.SEA(variant=0), synth.SEA(variant=2), position=5 * 10**8, width=10**8),
        "ConceptDriftStream -s (generators.SEAGenerator) -d (generators.SEAGenerator -f 3) -p 500000000 -w 100000000",
        has_goal=False,
    ),
    Opponents("incremental change of RBF", Incremental(RandomRBF(), RandomRBF(seed=2), position=0, width=10**9)),
    Opponents("imbalanced SEA, 1 in 20", Imbalanced(SEA(), (0.95, 0.05))),
    Opponents("SEA with more noise", Noisy(SEA())),
]


def time_ours(stream: Stream, n_batches: int) -> float:
    """Return nanoseconds per row of reading batches."""
    best = float("inf")
    for _ in range(ROUNDS):
        batches = stream.batches(BATCH)
        started = process_time()
        for _ in range(n_batches):
            next(batches)
        best = min(best, process_time() - started)
    return best / (n_batches * BATCH) * 1e9


def time_river(stream: Iterable[object]) -> float:
    """Return nanoseconds per row of reading rows one by one."""
    best = float("inf")
    for _ in range(3):
        rows = iter(stream)
        next(rows)
        started = process_time()
        for _ in islice(rows, RIVER_ROWS):
            pass
        best = min(best, process_time() - started)
    return best / RIVER_ROWS * 1e9


def time_moa(generator: str) -> float:
    """Return nanoseconds per row of a task that does little but generate."""
    generator = generator if generator.startswith("ConceptDrift") else f"generators.{generator}"
    return moa.measure_speed("functions.MajorityClass", generator, MOA_ROWS).cpu * 1e9


def time_jump(n_drifting: int) -> float:
    """Return nanoseconds per skipped row of the first jump ahead in a new hyperplane."""
    best = float("inf")
    for seed in range(5):
        stream = Hyperplane(n_drifting=n_drifting, magnitude=0.001, seed=1_000 + seed)
        started = process_time()
        next(stream.batches(1, start=JUMP))
        best = min(best, process_time() - started)
    return best / JUMP * 1e9


def format_ratio(theirs: float | None, ours: float) -> str:
    """Format a time and its ratio to ours."""
    return f"{'-':>10}{'':8}" if theirs is None else f"{theirs:10.0f}{f'{theirs / ours:.0f}x':>8}"


def judge(ratio: float) -> str:
    """Return whether a speed-up reaches the goal."""
    return f" goal {GOAL:.0f} {'met' if ratio >= GOAL else 'MISSED'}"


def main() -> None:
    """Print the tables."""
    before = _native.instruction_set()
    names = _native.instruction_sets()
    reason = moa.explain_missing_jdk()
    headings = "".join(f"{name + ('*' if name == before else ''):>10}" for name in names)
    print(f"{'ns of CPU per row':28}{headings}{'River':>10}{'':8}{'MOA':>10}")
    for opponents in OPPONENTS:
        times, theirs = dict.fromkeys(names, float("inf")), float("inf")
        for _ in range(TURNS):
            for name in names:
                _native.use_instruction_set(name)
                n_batches = 2 if name == "baseline" else 10
                times[name] = min(times[name], time_ours(opponents.ours, n_batches))
            if reason is None and opponents.moa is not None:
                theirs = min(theirs, time_moa(opponents.moa))
        _native.use_instruction_set(before)
        river = None if opponents.river is None else time_river(opponents.river)
        ours = "".join(f"{time:10.1f}" for time in times.values())
        has_moa = theirs < float("inf")
        others = format_ratio(river, times[before]) + format_ratio(theirs if has_moa else None, times[before])
        verdict = judge(theirs / times[before]) if opponents.has_goal and has_moa else ""
        print(f"{opponents.label:28}{ours}{others}{verdict}", flush=True)
    for n_drifting in (2, 10):
        print(f"hyperplane, {n_drifting} drifting, per skipped row: {time_jump(n_drifting):.1f}")
    print("* is the instruction set that the kernels choose on this machine")
    if reason:
        print(f"without MOA: {reason}")


if __name__ == "__main__":
    main()
