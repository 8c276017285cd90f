"""Detectors against River, MOA and SciPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from river import drift as river
from scipy import stats

from streamgauge import _native
from streamgauge.drift import DDM, EDDM, FHDDM, HDDMA, KSWIN, STEPD, Adwin, PageHinkley, detect
from streamgauge.protocols import DetectorSpec
from streamgauge.records import DRIFT, STABLE, WARNING

River = Callable[..., Any]


def errors(seed: int, n: int = 12_000, every: int = 2_000) -> NDArray[np.float64]:
    """Make errors whose rate jumps up and down."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.05, 0.6, n // every + 1).repeat(every)[:n]
    return (rng.random(n) < rates).astype(np.float64)


def numbers(seed: int, n: int = 12_000, every: int = 2_000) -> NDArray[np.float64]:
    """Make normal values whose mean jumps."""
    rng = np.random.default_rng(seed)
    return rng.normal(rng.normal(0.0, 1.0, n // every + 1).repeat(every)[:n], 1.0)


class RiverAdwin:
    """River's ADWIN, which throws its window away after a drift, without that: the window is there to be kept."""

    def __init__(self, **options: float) -> None:
        self._window: Any = river.ADWIN(**options)._helper
        self.drift_detected = False

    def update(self, value: float) -> None:
        self.drift_detected = self._window.update(value)


def river_signals(detector: Any, values: NDArray[np.float64]) -> NDArray[np.uint8]:
    signals = np.zeros(len(values), dtype=np.uint8)
    for i, value in enumerate(values.tolist()):
        detector.update(value)
        if getattr(detector, "warning_detected", False):
            signals[i] = WARNING
        if detector.drift_detected:
            signals[i] = DRIFT
    return signals


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("ours", "theirs", "make"),
    [
        (Adwin(), RiverAdwin, errors),
        (Adwin(0.05, clock=1), lambda: RiverAdwin(delta=0.05, clock=1), numbers),
        (PageHinkley(), lambda: river.PageHinkley(min_instances=31), numbers),
        (PageHinkley(threshold=20), lambda: river.PageHinkley(min_instances=31, threshold=20), errors),
        (
            PageHinkley(0.01, 15, 1.0, 100, "up"),
            lambda: river.PageHinkley(101, delta=0.01, threshold=15, alpha=1.0, mode="up"),
            errors,
        ),
        (
            PageHinkley(0.001, 25, 0.999, direction="down"),
            lambda: river.PageHinkley(31, delta=0.001, threshold=25, alpha=0.999, mode="down"),
            errors,
        ),
        (DDM(), river.binary.DDM, errors),
        (DDM(1.5, 2.5, 100), lambda: river.binary.DDM(100, 1.5, 2.5), errors),
        (HDDMA(), river.binary.HDDMA, errors),
        (HDDMA(0.05, 0.01, "both"), lambda: river.binary.HDDMA(0.01, 0.05, two_sided_test=True), errors),
    ],
)
def test_detectors_signal_as_rivers_do(
    ours: DetectorSpec, theirs: River, make: Callable[[int], NDArray[np.float64]], seed: int
) -> None:
    values = make(seed)
    expected = river_signals(theirs(), values)
    found = ours.build().update(values)
    assert (expected == DRIFT).any()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(4))
def test_eddm_finds_the_drifts_that_rivers_finds(seed: int) -> None:
    # River leaves a warning on where the distance of errors reaches a new maximum, so only drifts are compared.
    values = errors(seed)
    expected = river_signals(river.binary.EDDM(), values)
    np.testing.assert_array_equal(EDDM().build().update(values) == DRIFT, expected == DRIFT)


@pytest.mark.parametrize("seed", range(4))
def test_fhddm_finds_in_errors_what_rivers_finds_in_hits(seed: int) -> None:
    # River counts ones and waits for fewer of them: it must be given 1 where a prediction was right.
    values = errors(seed)
    expected = river_signals(river.binary.FHDDM(), (1.0 - values).astype(int).astype(float))
    assert (expected == DRIFT).any()
    np.testing.assert_array_equal(FHDDM().build().update(values), expected)


def stepd_reference(spec: STEPD, values: NDArray[np.float64]) -> list[int]:
    """Test every pair of proportions with SciPy; MOA's STEPD needs a jar of WEKA beside its own."""
    signals, start = [], 0
    for stop in range(1, len(values) + 1):
        older, newest = values[start : max(start, stop - spec.width)], values[max(start, stop - spec.width) : stop]
        counts = np.array([[older.sum(), len(older) - older.sum()], [newest.sum(), len(newest) - newest.sum()]])
        signal = STABLE
        if len(older) >= spec.width and counts.sum(axis=0).min() > 0:
            p_value = stats.chi2_contingency(counts, correction=True).pvalue
            signal = DRIFT if p_value < spec.drift else WARNING if p_value < spec.warning else STABLE
        if signal == DRIFT:
            start = stop
        signals.append(signal)
    return signals


@pytest.mark.parametrize("spec", [STEPD(), STEPD(50, 0.1, 0.01)])
def test_stepd_tests_as_scipy_does(spec: STEPD) -> None:
    values = errors(2, 1_500, 400)
    expected = stepd_reference(spec, values)
    assert DRIFT in expected
    assert spec.build().update(values).tolist() == expected


def kswin_reference(spec: KSWIN, values: NDArray[np.float64]) -> list[int]:
    """Test each sample with SciPy."""
    mask, golden = 2**64 - 1, 0x9E3779B97F4A7C15

    def mixed(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        return z ^ (z >> 31)

    keys = _native.draw(spec.seed, "kswin sample", 0, 0, len(values) + 1).tolist()
    window: list[float] = []
    alarms = []
    n_older = spec.width - spec.n_newest
    for row, value in enumerate(values.tolist(), 1):
        window = [*window, value][-spec.width :]
        if len(window) < spec.width:
            continue
        order = list(range(n_older))
        for i in range(spec.n_newest):
            draw = mixed((keys[row] + i * golden + golden) & mask)
            at = i + (draw * (n_older - i) >> 64)
            order[i], order[at] = order[at], order[i]
        sample = [window[place] for place in order[: spec.n_newest]]
        test = stats.ks_2samp(sample, window[n_older:], method="exact")
        if test.pvalue <= spec.delta and test.statistic > 0.1:
            alarms.append(row - 1)
            window = window[n_older:]
    return alarms


@pytest.mark.parametrize("spec", [KSWIN(), KSWIN(0.05, 61, 17, seed=5)])
def test_kswin_tests_as_scipy_does(spec: KSWIN) -> None:
    values = np.round(numbers(1, 1_200, 300), 1)
    alarms = detect(values, spec).alarms.tolist()
    assert alarms == kswin_reference(spec, values)
    assert alarms


def test_kswin_is_about_as_quick_as_rivers() -> None:
    ours, theirs = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        values = np.concatenate((rng.normal(0, 1, 300), rng.normal(2, 1, 100)))
        detector: Any = river.KSWIN(alpha=1e-4, seed=seed)
        theirs += np.flatnonzero(river_signals(detector, values) == DRIFT)[:1].tolist()
        ours += detect(values, KSWIN(1e-4, seed=seed)).alarms[:1].tolist()
    assert min(ours + theirs) >= 300
    assert abs(np.mean(ours) - np.mean(theirs)) < 10
