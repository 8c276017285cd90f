"""What all detectors in native code share."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least

__all__ = ["Make", "NativeDetector", "NativeSpec", "built"]

Make = Callable[..., _native.Detector]
"""Makes a detector in native code of its options."""


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
        """What does the work; a wrapper takes over that of the detector that watches its learner."""
        return self._kernel

    def update(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Take in values, in order; give what each showed: `STABLE`, `WARNING` or `DRIFT`."""
        try:
            return self._kernel.update(np.ascontiguousarray(values, dtype=np.float64))
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None

    def reset(self) -> None:
        """Forget everything but the options."""
        self._kernel.reset()

    @property
    def n_bytes(self) -> int:
        """The memory it holds."""
        return self._kernel.n_bytes

    def save(self) -> bytes:
        """Give all of its state."""
        return self._kernel.save()

    def load(self, state: bytes) -> None:
        """Take over a saved state of a detector built alike, and go on from there bit for bit."""
        try:
            self._kernel.load(state)
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None

    def on_mean(self, *, anew: bool = True) -> "NativeDetector":
        """Give a copy of it that watches the running mean of the values; with `anew` that of those since a drift."""
        try:
            return NativeDetector(_native.of_mean(self._kernel, anew))
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None


def built(make: Make, **options: object) -> NativeDetector:
    """Build a detector in native code; an option outside its range is told as a person's mistake.

    Examples
    --------
    >>> built(_native.ddm, warning=3.0, drift=2.0, grace_period=30)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: warning = 3: it must not be greater than drift
    """
    for option, value in options.items():
        if isinstance(value, int):
            require_at_least(option, value, 0)
    try:
        return NativeDetector(make(**options))
    except (ValueError, TypeError, OverflowError) as error:
        raise StreamgaugeError(str(error)) from None


class NativeSpec:
    """What the options of all detectors in native code have in common: what is outside its range is told at once."""

    _make: ClassVar[Make]

    def __post_init__(self) -> None:
        self.build()

    def build(self) -> NativeDetector:
        """Build a detector that has seen nothing."""
        return built(type(self)._make, **self._options())

    def _options(self) -> dict[str, object]:
        """Give the options as native code takes them."""
        return dict(vars(self))
