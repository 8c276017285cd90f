"""CPU time per value of each detector, next to River's and MOA's on the same values.

Ours and MOA's read a column in memory, River's are called for every value; best of several turns, one thread.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import drift as river

from benchmarks.turns import run_in_turns
from peers import moa
from streamgauge.drift.watch import DETECTORS
from streamgauge.protocols import DetectorSpec

N_VALUES = 1_000_000
N_RIVER = {"KSWIN": 1_000, "HDDMA": 100_000, "HDDMW": 100_000}
"""Number of values for the slow detectors of River."""
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


def make_errors() -> NDArray[np.float64]:
    """Return errors at a rate that jumps every 100,000 values."""
    rng = np.random.default_rng(1)
    rates = np.array([0.1, 0.2, 0.15, 0.3, 0.1]).repeat(100_000)
    return (rng.random(N_VALUES) < np.resize(rates, N_VALUES)).astype(np.float64)


def run_ours(spec: DetectorSpec, values: NDArray[np.float64]) -> None:
    """Run one of our detectors over all values."""
    detector = spec.build()
    for start in range(0, len(values), 32_768):
        detector.update(values[start : start + 32_768])


def run_river(make: Callable[[], Any], values: list[float]) -> None:
    """Run one of River's detectors over all values."""
    detector = make()
    for value in values:
        detector.update(value)


def race(name: str, values: NDArray[np.float64], turns: int) -> dict[str, tuple[int, float]]:
    """Time one of our detectors and, if there is one, River's in turns; return values and nanoseconds per value."""
    spec = DETECTORS[name]()
    works: dict[str, Callable[[], None]] = {"streamgauge": lambda: run_ours(spec, values)}
    n_values = {"streamgauge": len(values), "River": min(len(values), N_RIVER.get(name, len(values)))}
    if name in RIVER:
        few = values[: n_values["River"]].tolist()
        works["River"] = lambda: run_river(RIVER[name], few)
    best = run_in_turns(works, turns)
    return {system: (n_values[system], 1e9 * timing.seconds / n_values[system]) for system, timing in best.items()}


def main() -> None:
    """Print nanoseconds per value."""
    values = make_errors()
    reason = moa.explain_missing_jdk()
    if reason:
        print(f"without MOA: {reason}")
    runs = [] if reason else moa.run_detectors(list(MOA.values()), values, repeats=TURNS)
    moa_times = dict(zip(MOA, (time for _, time in runs), strict=False))
    print(f"{'detector':<14}{'ours':>9}{'MOA':>9}{'River':>11}   ns of CPU per value")
    for name in DETECTORS:
        if name == "OfMean":
            continue
        times = race(name, values, TURNS)
        _, river_time = times.get("River", (0, None))
        others = [f"{time:,.1f}" if time is not None else "" for time in (moa_times.get(name), river_time)]
        print(f"{name:<14}{times['streamgauge'][1]:>9.2f}{others[0]:>9}{others[1]:>11}")


if __name__ == "__main__":
    main()
