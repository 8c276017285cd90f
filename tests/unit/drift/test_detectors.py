"""Detectors against River, against MOA, against SciPy, and against their contract."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamgauge import StreamgaugeError, _native
from streamgauge.checks import check_detector
from streamgauge.drift import DDM, EDDM, KSWIN, STEPD, Cusum, OfMean, PageHinkley, as_detector, detect, name_detectors
from streamgauge.drift.watch import DETECTORS, Watch
from streamgauge.protocols import DetectorSpec
from streamgauge.records import DRIFT, STABLE


def errors(seed: int, n: int = 12_000, every: int = 2_000) -> NDArray[np.float64]:
    """Make errors whose rate jumps up and down."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.05, 0.6, n // every + 1).repeat(every)[:n]
    return (rng.random(n) < rates).astype(np.float64)


EVERY = [detector() for detector in DETECTORS.values() if detector is not OfMean]


@pytest.mark.parametrize(
    "detector", [*EVERY, OfMean(Cusum(threshold=2.0)), OfMean(KSWIN()), OfMean(Cusum(threshold=2.0), restart=False)]
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
    restart=st.booleans(),
)
@example(values=errors(3).astype(int).tolist(), threshold=2.5, factor=1.0, restart=True)
@example(values=errors(3).astype(int).tolist(), threshold=2.5, factor=1.0, restart=False)
def test_a_detector_of_the_mean_watches_that_since_its_last_alarm_or_that_of_all(
    values: list[int], threshold: float, factor: float, restart: bool
) -> None:
    inner = PageHinkley(0.001, threshold, factor, 5, "up")
    expected, start = [], 0
    while start < len(values):
        first = start if restart else 0
        means = np.cumsum(values[first:]) / np.arange(1, len(values) - first + 1)
        drifts = np.flatnonzero(inner.build().update(means[start - first :]) == DRIFT)
        if not len(drifts):
            break
        expected.append(start + int(drifts[0]))
        start += int(drifts[0]) + 1
    assert detect(values, OfMean(inner, restart)).alarms.tolist() == expected


def test_a_continued_mean_takes_no_state_of_one_that_restarts() -> None:
    inner = PageHinkley(0.001, 2.5, 1.0, direction="up")
    values = errors(3)
    one, other = OfMean(inner).build(), OfMean(inner, restart=False).build()
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
        ("OfMean", {"detector": Cusum(), "restart": "no"}, "restart = 'no': it must be True or False"),
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
        name_detectors(["DDM", DDM()])
    assert list(name_detectors(["DDM", DDM(drift=2.5)])) == ["DDM(warning=2.0)", "DDM(warning=2.0, drift=2.5)"]


def test_a_watch_tells_where_warnings_begin_whatever_the_pieces() -> None:
    values = errors(1)
    rows = np.arange(len(values)) * 3
    whole = Watch(DDM()).update(rows, values)
    watch = Watch(DDM())
    pieces = [watch.update(rows[start : start + 11], values[start : start + 11]) for start in range(0, len(rows), 11)]
    assert whole == ([row for drifts, _ in pieces for row in drifts], [row for _, begun in pieces for row in begun])
    assert whole[0]
    assert whole[1]
