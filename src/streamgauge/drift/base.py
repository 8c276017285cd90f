"""The native detector, and the base class of all detectors that are built in native code."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least

__all__ = ["DetectorBase", "KernelBuilder", "NativeDetector"]

KernelBuilder = Callable[..., _native.Detector]
"""Builds a detector in native code from its options."""


class NativeDetector:
    """A detector in native code; see `streamgauge.protocols.Detector`.

    Examples
    --------
    >>> detector = NativeDetector(_native.ddm(2.0, 3.0, 30))
    >>> detector.update([0.0] * 40 + [1.0]).tolist()[-2:]
    [0, 2]
    """

    def __init__(self, kernel: _native.Detector) -> None:
        self._kernel = kernel

    @property
    def kernel(self) -> _native.Detector:
        """The kernel; `streamgauge.learners.DriftReset` copies it to monitor its learner."""
        return self._kernel

    def update(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Add values in order; return the signal after each: `STABLE`, `WARNING` or `DRIFT`."""
        try:
            return self._kernel.update(np.ascontiguousarray(values, dtype=np.float64))
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None

    @property
    def has_statistic(self) -> bool:
        """Whether it compares one statistic with one threshold, which `trace` returns."""
        return self._kernel.has_level

    def trace(self, values: ArrayLike) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]:
        """Add values like `update`; return the signals, the statistic and its threshold after each value.

        A drift is signalled exactly where the statistic exceeds the threshold, which is NaN during a grace period.

        Examples
        --------
        >>> from streamgauge.drift import PageHinkley
        >>> signals, statistic, threshold = PageHinkley(threshold=2, grace_period=0).build().trace([0, 0, 0, 1, 1, 1])
        >>> statistic.round(2).tolist()
        [0.0, 0.0, 0.0, 0.75, 1.34, 1.83]
        """
        try:
            return self._kernel.trace(np.ascontiguousarray(values, dtype=np.float64))
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None

    def reset(self) -> None:
        """Forget all values."""
        self._kernel.reset()

    @property
    def n_bytes(self) -> int:
        """The memory of the detector in bytes."""
        return self._kernel.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        return self._kernel.save()

    def load(self, state: bytes) -> None:
        """Restore a saved state of a detector with the same options, bit for bit."""
        try:
            self._kernel.load(state)
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None


class DetectorBase:
    """The options of a detector in native code, which are checked when they are set.

    A subclass is a frozen dataclass with the function that builds its kernel from its fields.

    Examples
    --------
    >>> from streamgauge.drift import DDM
    >>> DDM(warning=3.0, drift=2.0)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: warning = 3: it must not be greater than drift
    """

    _build_kernel: ClassVar[KernelBuilder]

    def __post_init__(self) -> None:
        self.build()

    def build(self) -> NativeDetector:
        """Build a detector that has seen no values."""
        options = self._kernel_options()
        for option, value in options.items():
            if isinstance(value, int):
                require_at_least(option, value, 0)
        try:
            return NativeDetector(type(self)._build_kernel(**options))
        except (ValueError, TypeError, OverflowError) as error:
            raise StreamgaugeError(str(error)) from None

    def _kernel_options(self) -> dict[str, object]:
        """Return the options as native code takes them."""
        return dict(vars(self))
