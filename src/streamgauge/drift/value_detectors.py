"""Detectors for any values: changes of the mean or of the whole distribution."""

from dataclasses import dataclass
from typing import ClassVar

from streamgauge import _native
from streamgauge.drift.base import DetectorBase, KernelBuilder, NativeDetector
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import DetectorSpec

__all__ = ["KSWIN", "Adwin", "Cusum", "OfMean", "PageHinkley"]


@dataclass(frozen=True)
class PageHinkley(DetectorBase):
    """Page-Hinkley test: monitors the sum of the deviations from the mean, with a fading factor.

    With ``m = factor * m + (value - mean - delta)``, a rise is detected when `m` exceeds its minimum by more than
    `threshold`.

    Parameters
    ----------
    delta
        The deviation from the mean that is tolerated without adding to the sum.
    threshold
        The tolerated distance of the sum from its extreme, often called lambda; on the scale of the values.
    factor
        The factor by which the sum fades with every value; 1 for no fading.
    grace_period
        The number of values at the start and after a drift without alarms.
    direction
        Which changes cause alarms: "up", "down" or "both".

    Examples
    --------
    >>> PageHinkley(threshold=10).build().update([0.0] * 100 + [1.0] * 20).argmax()
    np.int64(110)

    References
    ----------
    Page, "Continuous inspection schemes", 1954. Gama, Sebastiao and Rodrigues, "Issues in evaluation of stream
    learning algorithms", KDD 2009.
    """

    delta: float = 0.005
    threshold: float = 50.0
    factor: float = 0.9999
    grace_period: int = 30
    direction: str = "both"

    _build_kernel: ClassVar[KernelBuilder] = _native.page_hinkley


@dataclass(frozen=True)
class Cusum(DetectorBase):
    """CUSUM: monitors the sum of the deviations from the mean, which never falls below 0.

    Parameters
    ----------
    delta
        The deviation from the mean that is tolerated without adding to the sum.
    threshold
        The greatest tolerated sum.
    grace_period
        The number of values at the start and after a drift without alarms.
    direction
        Which changes cause alarms: "up", "down" or "both".

    Examples
    --------
    >>> Cusum(threshold=10).build().update([0.0] * 100 + [1.0] * 20).argmax()
    np.int64(110)
    """

    delta: float = 0.005
    threshold: float = 50.0
    grace_period: int = 30
    direction: str = "both"

    _build_kernel: ClassVar[KernelBuilder] = _native.cusum


@dataclass(frozen=True)
class Adwin(DetectorBase):
    """ADWIN: keeps a window of values and drops its oldest part when that differs from the rest.

    After a drift it continues with the rest of the window.

    Parameters
    ----------
    delta
        The significance level of a difference.
    clock
        The number of values between two checks of the window.
    max_buckets
        The number of buckets of each size before two are merged.
    min_window_length
        The least number of values in each part of a split.
    grace_period
        The number of values up to which the window is not checked.
    direction
        Which changes cause alarms: "up", "down" or "both"; the window drops its past at any change.

    Examples
    --------
    >>> Adwin().build().update([0.0] * 100 + [1.0] * 100).argmax()
    np.int64(127)

    References
    ----------
    Bifet and Gavalda, "Learning from time-changing data with adaptive windowing", SDM 2007.
    """

    delta: float = 0.002
    clock: int = 32
    max_buckets: int = 5
    min_window_length: int = 5
    grace_period: int = 10
    direction: str = "both"

    _build_kernel: ClassVar[KernelBuilder] = _native.adwin_detector


@dataclass(frozen=True)
class KSWIN(DetectorBase):
    """KSWIN: compares the newest values with a sample of earlier ones by the Kolmogorov-Smirnov test.

    It tests after every value, so `delta` is not the rate of false alarms; choose a small one.

    Parameters
    ----------
    delta
        The significance level of a single test; exact.
    width
        The number of values in the window; at least twice `n_newest`.
    n_newest
        The number of newest values; the same number is drawn from the rest. They are kept after a drift.
    seed
        The seed of the draws.

    Examples
    --------
    >>> KSWIN(delta=0.0001).build().update([*range(300), *range(1000, 1100)]).tolist().count(2) > 0
    True

    References
    ----------
    Raab, Heusinger and Schleif, "Reactive soft prototype computing for concept drift streams", 2020.
    """

    delta: float = 0.005
    width: int = 100
    n_newest: int = 30
    seed: int = 1

    _build_kernel: ClassVar[KernelBuilder] = _native.kswin


@dataclass(frozen=True)
class OfMean:
    """A detector on the running mean of the values, such as an error rate.

    Parameters
    ----------
    detector
        The detector; it must accept values other than 0 and 1.
    restart
        Whether the mean restarts after a drift; if not, it covers all values.

    Examples
    --------
    >>> errors = [1.0, 0.0, 0.0, 0.0] * 500 + [1.0] * 400
    >>> test = PageHinkley(delta=0.001, threshold=2.5, factor=1.0, direction="up")
    >>> [(OfMean(test, restart).build().update(errors) == 2).nonzero()[0].tolist() for restart in (True, False)]
    [[2126], [2126, 2314]]
    """

    detector: DetectorSpec
    restart: bool = True

    def __post_init__(self) -> None:
        self.build()

    def build(self) -> NativeDetector:
        """Build a detector that has seen no values."""
        if not isinstance(self.restart, bool):
            msg = f"restart = {self.restart!r}: it must be True or False"
            raise StreamgaugeError(msg)
        detector = self.detector.build() if isinstance(self.detector, DetectorSpec) else None
        if not isinstance(detector, NativeDetector):
            msg = f"{self.detector!r} is not a detector of streamgauge.drift"
            raise StreamgaugeError(msg)
        try:
            return NativeDetector(_native.of_mean(detector.kernel, self.restart))
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None
