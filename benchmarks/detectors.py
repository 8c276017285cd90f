"""CPU time per value of each detector, beside River's and MOA's on the same values.

Ours and MOA's on a column in memory, River's called for every value; the best of several turns. One thread.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import drift as river

from benchmarks.turns import in_turns
from peers import moa
from streamgauge.drift.watch import DETECTORS
from streamgauge.protocols import DetectorSpec

N_VALUES = 1_000_000
N_RIVER = {"KSWIN": 1_000, "HDDMA": 100_000, "HDDMW": 100_000}
"""How many values those of River take that take long."""
TURNS = 5

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


def run_ours(spec: DetectorSpec, values: NDArray[np.float64]) -> None:
    """Have a detector of ours see all values."""
    detector = spec.build()
    for start in range(0, len(values), 32_768):
        detector.update(values[start : start + 32_768])


def run_river(make: Callable[[], Any], values: list[float]) -> None:
    """Have a detector of River's see all values."""
    detector = make()
    for value in values:
        detector.update(value)


def raced(name: str, values: NDArray[np.float64], turns: int) -> dict[str, tuple[int, float]]:
    """Time a detector of ours and, where there is one, River's in turns: values, and nanoseconds per value."""
    spec = DETECTORS[name]()
    works: dict[str, Callable[[], None]] = {"streamgauge": lambda: run_ours(spec, values)}
    n_values = {"streamgauge": len(values), "River": min(len(values), N_RIVER.get(name, len(values)))}
    if name in RIVER:
        few = values[: n_values["River"]].tolist()
        works["River"] = lambda: run_river(RIVER[name], few)
    best = in_turns(works, turns)
    return {system: (n_values[system], 1e9 * found.seconds / n_values[system]) for system, found in best.items()}


def main() -> None:
    """Print nanoseconds per value."""
    values = sample()
    absent = moa.explain_missing_jdk()
    if absent:
        print(f"without MOA: {absent}")
    timed = [] if absent else moa.run_detectors(list(MOA.values()), values, repeats=TURNS)
    moas = dict(zip(MOA, (time for _, time in timed), strict=False))
    print(f"{'detector':<14}{'ours':>9}{'MOA':>9}{'River':>11}   ns of CPU per value")
    for name in DETECTORS:
        if name == "OfMean":
            continue
        found = raced(name, values, TURNS)
        _, rivers = found.get("River", (0, None))
        told = [f"{time:,.1f}" if time is not None else "" for time in (moas.get(name), rivers)]
        print(f"{name:<14}{found['streamgauge'][1]:>9.2f}{told[0]:>9}{told[1]:>11}")


if __name__ == "__main__":
    main()
