"""The contract of a detector."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.protocols import Detector, DetectorSpec
from streamgauge.randomness import uniform
from streamgauge.records import DRIFT, STABLE, WARNING

__all__ = ["check_detector"]

N_VALUES = 6_000
LONG = 60_000


def check_detector(spec: DetectorSpec, seed: int = 1) -> None:
    """Raise an AssertionError unless a detector keeps its contract.

    It returns one signal per value; cutting a column into pieces changes no signal; saved and loaded it continues bit
    for bit; damaged bytes are refused; its memory does not grow with the stream; and it is silent if all values are the
    same.

    Examples
    --------
    >>> from streamgauge.drift import DDM
    >>> check_detector(DDM())
    """
    values = sample_errors(seed, N_VALUES)
    whole = spec.build()
    signals = whole.update(values)
    expect(signals.shape == values.shape, f"{spec} returns {signals.shape} signals for {values.shape} values")
    expect(set(signals.tolist()) <= {STABLE, WARNING, DRIFT}, f"{spec} returns unknown signals")
    for size in (1, 7, 1_000):
        detector = spec.build()
        pieces = [detector.update(values[start : start + size]) for start in range(0, N_VALUES, size)]
        same = np.array_equal(np.concatenate(pieces), signals)
        expect(same, f"{spec} returns other signals for pieces of {size} values")
        expect(detector.save() == whole.save(), f"{spec} has another state for pieces of {size} values")
    check_saving(spec, values, signals)
    check_memory(spec, seed)
    silent = spec.build().update(np.zeros(N_VALUES))
    expect(not silent.any(), f"{spec} signals although all values are 0")


def sample_errors(seed: int, n: int) -> NDArray[np.float64]:
    """Return errors whose rate jumps between a tenth and a half.

    Examples
    --------
    >>> sample_errors(1, 6000).mean().round(1)
    np.float64(0.3)
    """
    rate = np.where(np.arange(n) // 1_500 % 2, 0.5, 0.1)
    return (uniform(seed, "errors", 0, 0, n) < rate).astype(np.float64)


def check_saving(spec: DetectorSpec, values: NDArray[np.float64], signals: NDArray[np.uint8]) -> None:
    """Raise unless a saved detector continues bit for bit, and damaged bytes change nothing.

    Examples
    --------
    >>> from streamgauge.drift import DDM
    >>> values = sample_errors(1, N_VALUES)
    >>> check_saving(DDM(), values, DDM().build().update(values))
    """
    middle = N_VALUES // 2 + 13
    first, second = spec.build(), spec.build()
    first.update(values[:middle])
    saved = first.save()
    second.load(saved)
    expect(second.save() == saved, f"{spec} is not the same after it was saved and loaded")
    for damaged in (saved[:-1], saved[:-9] + bytes([saved[-9] ^ 1]) + saved[-8:], b""):
        expect(refuses(second, damaged), f"{spec} loads damaged bytes")
    same = np.array_equal(second.update(values[middle:]), signals[middle:])
    expect(same, f"{spec} continues differently after it was saved and loaded")


def check_memory(spec: DetectorSpec, seed: int) -> None:
    """Raise unless the memory of a detector is bounded.

    Examples
    --------
    >>> from streamgauge.drift import DDM
    >>> check_memory(DDM(), 1)
    """
    detector = spec.build()
    values = (uniform(seed, "errors", 1, 0, LONG) < 0.2).astype(np.float64)
    detector.update(values[: LONG // 4])
    early = detector.n_bytes
    detector.update(values[LONG // 4 :])
    expect(0 < detector.n_bytes <= early + 4_096, f"{spec} grows with the stream: {early} to {detector.n_bytes} bytes")


def refuses(detector: Detector, state: bytes) -> bool:
    """Return whether a detector refuses a state.

    Examples
    --------
    >>> from streamgauge.drift import DDM
    >>> refuses(DDM().build(), b"nonsense")
    True
    """
    try:
        detector.load(state)
    except ValueError:
        return True
    return False


def expect(condition: bool, fault: str) -> None:  # noqa: FBT001
    """Raise with the fault unless a condition holds.

    Examples
    --------
    >>> expect(True, "arithmetic")
    """
    if not condition:
        raise AssertionError(fault)
