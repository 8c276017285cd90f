"""Nanoseconds of CPU per generated row, one thread, best of several rounds, on each instruction set.

Run with ``python -m benchmarks generators``.
"""

from time import process_time

from streamgauge import _native
from streamgauge.protocols import Stream
from streamgauge.streams import SEA, Hyperplane, RandomRBF

BATCH = 8_192
ROUNDS = 15
JUMP = 2_000_000

STREAMS: dict[str, Stream] = {
    "SEA, 3 attributes": SEA(),
    "hyperplane, 10 attributes, still": Hyperplane(),
    "hyperplane, 10 attributes, 2 drifting": Hyperplane(magnitude=0.001),
    "hyperplane, 10 attributes, 10 drifting": Hyperplane(n_drifting=10, magnitude=0.001),
    "random RBF, 10 attributes, 50 moving": RandomRBF(speed=0.001),
}


def nanoseconds_per_row(stream: Stream, n_batches: int) -> float:
    """Time the reading of batches one after the other."""
    best = float("inf")
    for _ in range(ROUNDS):
        batches = stream.batches(BATCH)
        started = process_time()
        for _ in range(n_batches):
            next(batches)
        best = min(best, process_time() - started)
    return best / (n_batches * BATCH) * 1e9


def nanoseconds_per_row_jumped(n_drifting: int) -> float:
    """Time the first jump far ahead in a hyperplane that nobody has read yet."""
    best = float("inf")
    for seed in range(5):
        stream = Hyperplane(n_drifting=n_drifting, magnitude=0.001, seed=1_000 + seed)
        started = process_time()
        next(stream.batches(1, start=JUMP))
        best = min(best, process_time() - started)
    return best / JUMP * 1e9


def main() -> None:
    """Print the table."""
    before = _native.instruction_set()
    names = _native.instruction_sets()
    print(f"{'ns of CPU per row':40}" + "".join(f"{name + ('*' if name == before else ''):>10}" for name in names))
    for label, stream in STREAMS.items():
        times = []
        for name in names:
            _native.use_instruction_set(name)
            times.append(nanoseconds_per_row(stream, 10 if name == "baseline" else 50))
        print(f"{label:40}" + "".join(f"{time:10.1f}" for time in times))
    _native.use_instruction_set(before)
    for n_drifting in (2, 10):
        print(f"hyperplane, {n_drifting} drifting, per row jumped over: {nanoseconds_per_row_jumped(n_drifting):.1f}")
    print("* is what the kernels choose on this machine")


if __name__ == "__main__":
    main()
