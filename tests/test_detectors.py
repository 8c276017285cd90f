"""Detectors against River, against MOA, against SciPy, and against their contract."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from river import drift as river
from scipy import stats

from peers import moa
from streamgauge import StreamgaugeError, _native
from streamgauge.checks import check_detector
from streamgauge.drift import (
    DDM,
    EDDM,
    FHDDM,
    HDDMA,
    HDDMW,
    KSWIN,
    RDDM,
    STEPD,
    Adwin,
    Cusum,
    EWMAChart,
    OfMean,
    PageHinkley,
    as_detector,
    detect,
    named_detectors,
)
from streamgauge.drift.watch import DETECTORS, Watch
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


EVERY = [detector() for detector in DETECTORS.values() if detector is not OfMean]


@pytest.mark.parametrize(
    "detector", [*EVERY, OfMean(Cusum(threshold=2.0)), OfMean(KSWIN()), OfMean(Cusum(threshold=2.0), anew=False)]
)
def test_every_detector_keeps_its_contract(detector: DetectorSpec) -> None:
    check_detector(detector)


def test_every_instruction_set_gives_the_same_bits() -> None:
    values = errors(7)
    chosen = _native.instruction_set()
    states = []
    try:
        for path in _native.instruction_sets():
            _native.use_instruction_set(path)
            detectors = [detector.build() for detector in EVERY]
            signals = [detector.update(values).tobytes() for detector in detectors]
            states.append((signals, [detector.save() for detector in detectors]))
    finally:
        _native.use_instruction_set(chosen)
    assert all(state == states[0] for state in states)


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


# Not among them: PageHinkleyDM of this MOA, which compares the sum itself, not its height above its minimum.
MOA_DETECTORS: list[tuple[str, DetectorSpec]] = [
    ("ADWINChangeDetector", Adwin(direction="up")),
    ("CusumDM -n 32 -l 20.0", Cusum(threshold=20.0, direction="up")),
    ("CusumDM -n 101 -l 10.0 -d 0.02", Cusum(0.02, 10.0, 99, "up")),
    ("DDM -n 31", DDM()),
    ("EWMAChartDM -n 31", EWMAChart()),
    ("EWMAChartDM -n 101 -l 0.1", EWMAChart(0.1, grace_period=100)),
    ("HDDM_W_Test", HDDMW()),
    ("HDDM_W_Test -d 0.01 -w 0.05 -m 0.1", HDDMW(0.05, 0.01, 0.1)),
    ("RDDM -n 130", RDDM()),
    ("RDDM -n 31 -x 1500 -y 500 -z 100 -w 1.5 -o 2.5", RDDM(1.5, 2.5, 30, 1_500, 500, 100)),
]


@pytest.mark.skipif(moa.why_not_compiled() is not None, reason=moa.why_not_compiled() or "")
def test_detectors_signal_as_moas_do() -> None:
    for seed in range(3):
        values = errors(seed, 20_000, 2_500)
        found = moa.detector_signals([name for name, _ in MOA_DETECTORS], values)
        for (name, ours), (theirs, _) in zip(MOA_DETECTORS, found, strict=True):
            expected = theirs.copy()
            signals = ours.build().update(values)
            # MOA's DDM and EWMA chart warn one value before they may alarm; ours begin together.
            if name.startswith(("DDM", "EWMA")):
                early = np.flatnonzero((expected == WARNING) & (signals == STABLE))
                expected[early] = STABLE
                assert len(early) <= 1 + (signals == DRIFT).sum()
            assert (expected == DRIFT).any(), name
            np.testing.assert_array_equal(signals, expected, err_msg=f"{name}, seed {seed}")


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


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300),
    st.floats(0, 10),
    st.floats(0.5, 1),
    st.sampled_from(["up", "down", "both"]),
)
def test_page_hinkley_is_its_formula(values: list[float], delta: float, factor: float, direction: str) -> None:
    spec = PageHinkley(delta, 100.0, factor, 5, direction)
    n, total, rise, least, fall, most = 0, 0.0, 0.0, np.inf, 0.0, -np.inf
    expected = []
    for value in values:
        n, total = n + 1, total + value
        above = value - total / n
        rise, fall = factor * rise + (above - delta), factor * fall + (above + delta)
        least, most = min(least, rise), max(most, fall)
        # Ours rounds once where this rounds twice; a tie could then fall on either side.
        assume(all(abs(found - 100) > 1e-6 for found in (rise - least, most - fall)))
        passed = (direction != "down" and rise - least > 100) or (direction != "up" and most - fall > 100)
        expected.append(DRIFT if passed and n > 5 else STABLE)
        if expected[-1]:
            n, total, rise, least, fall, most = 0, 0.0, 0.0, np.inf, 0.0, -np.inf
    assert spec.build().update(values).tolist() == expected


@given(
    values=st.lists(st.integers(0, 3), min_size=40, max_size=300),
    threshold=st.sampled_from((0.5, 2.5)),
    factor=st.sampled_from((0.99, 1.0)),
    anew=st.booleans(),
)
@example(values=errors(3).astype(int).tolist(), threshold=2.5, factor=1.0, anew=True)
@example(values=errors(3).astype(int).tolist(), threshold=2.5, factor=1.0, anew=False)
def test_a_detector_of_the_mean_watches_that_since_its_last_alarm_or_that_of_all(
    values: list[int], threshold: float, factor: float, anew: bool
) -> None:
    inner = PageHinkley(0.001, threshold, factor, 5, "up")
    expected, start = [], 0
    while start < len(values):
        first = start if anew else 0
        means = np.cumsum(values[first:]) / np.arange(1, len(values) - first + 1)
        drifts = np.flatnonzero(inner.build().update(means[start - first :]) == DRIFT)
        if not len(drifts):
            break
        expected.append(start + int(drifts[0]))
        start += int(drifts[0]) + 1
    assert detect(values, OfMean(inner, anew)).alarms.tolist() == expected


def test_a_mean_that_goes_on_takes_no_state_of_one_that_starts_anew() -> None:
    inner = PageHinkley(0.001, 2.5, 1.0, direction="up")
    values = errors(3)
    one, other = OfMean(inner).build(), OfMean(inner, anew=False).build()
    assert (one.update(values) == DRIFT).sum() > 1
    assert (other.update(values) == DRIFT).sum() > 1
    kept = other.save()
    with pytest.raises(StreamgaugeError, match="it has other options"):
        other.load(one.save())
    assert other.save() == kept


def test_stepd_is_silent_at_tiny_error_rates_where_moa_is_not() -> None:
    values = np.zeros(5_000)
    values[70] = 1.0
    assert not STEPD().build().update(values)[200:].any()


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("PageHinkley", {"factor": 0.0}, "factor = 0: it must be a number in (0, 1]"),
        ("PageHinkley", {"direction": "left"}, "it must be up, down or both"),
        ("PageHinkley", {"threshold": float("nan")}, "threshold = NaN: it must be a finite number of 0 or more"),
        ("Adwin", {"delta": 2.0}, "delta = 2: it must be a number in (0, 1)"),
        ("Cusum", {"delta": -1.0}, "delta = -1: it must be a finite number of 0 or more"),
        ("DDM", {"warning": 5.0}, "warning = 5: it must not be greater than drift"),
        ("DDM", {"grace_period": -1}, "it must be a whole number of at least 0"),
        ("EDDM", {"warning": 0.5}, "warning = 0.5: it must not be less than drift"),
        ("RDDM", {"min_stable": 0}, "min_stable = 0: it must be at least 1"),
        ("HDDMA", {"warning": 0.0001}, "warning = 0.0001: it must not be less than drift"),
        ("HDDMW", {"newest_weight": 1.0}, "newest_weight = 1: it must be a number in (0, 1)"),
        ("KSWIN", {"width": 59}, "width = 59: it must be at least twice n_newest"),
        ("EWMAChart", {"run_length": 500}, "run_length = 500: it must be 100, 400 or 1000"),
        ("STEPD", {"drift": 0.0}, "drift = 0.0: it must be a number in (0, 1)"),
        ("FHDDM", {"width": 0}, "width = 0: it must be at least 1"),
        ("OfMean", {"detector": 5}, "5 is not a detector"),
        ("OfMean", {"detector": EDDM()}, "it accepts only 0 and 1"),
        ("OfMean", {"detector": Cusum(), "anew": "no"}, "anew = 'no': it must be True or False"),
    ],
)
def test_options_outside_their_range_are_refused_at_once(name: str, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(StreamgaugeError) as refused:
        DETECTORS[name](**options)
    assert complaint in str(refused.value)


def test_values_that_are_no_errors_are_refused_by_name() -> None:
    with pytest.raises(StreamgaugeError, match=r"value 2: 0.5 is not 0 \(right\) or 1 \(wrong\)"):
        EDDM().build().update([0.0, 1.0, 0.5])
    with pytest.raises(StreamgaugeError, match="value 0: NaN is not a finite number"):
        PageHinkley().build().update([float("nan")])
    with pytest.raises(StreamgaugeError, match="from row 32768 on: value 1: 2 is not a number from 0 to 1"):
        detect([*[0.0] * 32_769, 2.0], "DDM")


def test_detectors_have_names() -> None:
    assert as_detector("DDM") == DDM()
    with pytest.raises(StreamgaugeError, match="did you mean PageHinkley"):
        as_detector("PageHinkly")
    with pytest.raises(StreamgaugeError, match="OfMean needs a detector"):
        as_detector("OfMean")
    for thing in (3, DDM):
        with pytest.raises(StreamgaugeError, match="is not a detector"):
            as_detector(thing)
    with pytest.raises(StreamgaugeError, match="two detectors are the same"):
        named_detectors(["DDM", DDM()])
    assert list(named_detectors(["DDM", DDM(drift=2.5)])) == ["DDM(warning=2.0)", "DDM(warning=2.0, drift=2.5)"]


def test_a_watch_tells_where_warnings_begin_whatever_the_pieces() -> None:
    values = errors(1)
    rows = np.arange(len(values)) * 3
    whole = Watch(DDM()).update(rows, values)
    watch = Watch(DDM())
    pieces = [watch.update(rows[start : start + 11], values[start : start + 11]) for start in range(0, len(rows), 11)]
    assert whole == ([row for drifts, _ in pieces for row in drifts], [row for _, begun in pieces for row in begun])
    assert whole[0]
    assert whole[1]
