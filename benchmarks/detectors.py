"""CPU time per value of each detector, beside River's and MOA's on the same values.

Ours and MOA's on a column in memory, River's called for every value; the best of several runs. One thread.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import drift as river

from benchmarks.turns import best_of
from peers import moa
from streamgauge.drift.watch import DETECTORS
from streamgauge.protocols import DetectorSpec

N_VALUES = 1_000_000
N_RIVER = 50_000

RIVER: dict[str, Callable[[], Any]] = {
    "Adwin": river.ADWIN,
    "PageHinkley": river.PageHinkley,
    "DDM": river.binary.DDM,
    "EDDM": river.binary.EDDM,
    "HDDMA": river.binary.HDDMA,
    "HDDMW": river.binary.HDDMW,
    "FHDDM": river.binary.FHDDM,
    "KSWIN": lambda: river.KSWIN(seed=1),
}
MOA = {
    "Adwin": "ADWINChangeDetector",
    "PageHinkley": "PageHinkleyDM",
    "Cusum": "CusumDM",
    "DDM": "DDM",
    "EDDM": "EDDM",
    "RDDM": "RDDM",
    "HDDMA": "HDDM_A_Test",
    "HDDMW": "HDDM_W_Test",
    "EWMAChart": "EWMAChartDM",
}


def sample() -> NDArray[np.float64]:
    """Make errors at a rate that jumps every 100,000 values."""
    rng = np.random.default_rng(1)
    rates = np.array([0.1, 0.2, 0.15, 0.3, 0.1]).repeat(100_000)
    return (rng.random(N_VALUES) < np.resize(rates, N_VALUES)).astype(np.float64)


def ours(spec: DetectorSpec, values: NDArray[np.float64]) -> float:
    """Time a detector of ours; nanoseconds per value."""

    def run() -> None:
        detector = spec.build()
        for start in range(0, len(values), 32_768):
            detector.update(values[start : start + 32_768])

    return 1e9 * best_of(run, 5) / len(values)


def rivers(make: Callable[[], Any], values: NDArray[np.float64], n: int) -> float:
    """Time a detector of River's; nanoseconds per value."""
    few = values[:n].tolist()

    def run() -> None:
        detector = make()
        for value in few:
            detector.update(value)

    return 1e9 * best_of(run, 2) / n


def main() -> None:
    """Print nanoseconds per value."""
    values = sample()
    absent = moa.why_not_compiled()
    if absent:
        print(f"without MOA: {absent}")
    timed = [] if absent else moa.detector_signals(list(MOA.values()), values, repeats=5)
    moas = dict(zip(MOA, (time for _, time in timed), strict=False))
    print(f"{'detector':<14}{'ours':>9}{'MOA':>9}{'River':>11}   ns of CPU per value")
    for name, detector in DETECTORS.items():
        if name == "OfMean":
            continue
        own = ours(detector(), values)
        river_time = rivers(RIVER[name], values, 1_000 if name == "KSWIN" else N_RIVER) if name in RIVER else None
        told = [f"{time:,.1f}" if time is not None else "" for time in (moas.get(name), river_time)]
        print(f"{name:<14}{own:>9.2f}{told[0]:>9}{told[1]:>11}")


if __name__ == "__main__":
    main()
