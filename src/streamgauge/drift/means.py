"""Detectors for any values: changes of their mean, or of their whole distribution."""

from dataclasses import dataclass
from typing import ClassVar

from streamgauge import _native
from streamgauge.drift.native import Make, NativeDetector, NativeSpec
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import DetectorSpec

__all__ = ["KSWIN", "Adwin", "Cusum", "OfMean", "PageHinkley"]


@dataclass(frozen=True)
class PageHinkley(NativeSpec):
    """Page-Hinkley: sums up how far values are above, or below, their mean; with a fading factor.

    With ``m = factor * m + (value - mean - delta)`` a rise is where `m` is more than `threshold` above its minimum.

    Parameters
    ----------
    delta
        By how much a value may differ from the mean without adding to the sum.
    threshold
        How far the sum may be from its extreme; often called lambda. It is on the scale of the values.
    factor
        By how much the sum fades with every value; 1 for not at all.
    grace_period
        The first so many values, also after a drift, give no alarm.
    direction
        Which changes are alarms: "up", "down" or "both".

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

    _make: ClassVar[Make] = _native.page_hinkley


@dataclass(frozen=True)
class Cusum(NativeSpec):
    """CUSUM: sums up how far values are above, or below, their mean, and never lets a sum fall below 0.

    Parameters
    ----------
    delta
        By how much a value may differ from the mean without adding to the sum.
    threshold
        How large a sum may become.
    grace_period
        The first so many values, also after a drift, give no alarm.
    direction
        Which changes are alarms: "up", "down" or "both".

    Examples
    --------
    >>> Cusum(threshold=10).build().update([0.0] * 100 + [1.0] * 20).argmax()
    np.int64(110)
    """

    delta: float = 0.005
    threshold: float = 50.0
    grace_period: int = 30
    direction: str = "both"

    _make: ClassVar[Make] = _native.cusum


@dataclass(frozen=True)
class Adwin(NativeSpec):
    """ADWIN: keeps a window of values and drops its oldest part where that differs from the rest.

    After a drift it goes on with the part of the window that is left.

    Parameters
    ----------
    delta
        The significance of a difference.
    clock
        After how many values each the window is checked.
    max_buckets
        How many buckets of each size are kept before two are merged.
    min_window_length
        How many values each part of a split must have.
    grace_period
        Up to how many values the window is not checked.
    direction
        Which changes are alarms: "up", "down" or "both"; the window drops its past at any.

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

    _make: ClassVar[Make] = _native.adwin_detector


@dataclass(frozen=True)
class KSWIN(NativeSpec):
    """KSWIN: compares the newest values with a sample of those before, by the Kolmogorov-Smirnov test.

    It tests after every value, so that `delta` is no rate of false alarms; take a small one.

    Parameters
    ----------
    delta
        The significance of a difference at one look, exact.
    width
        How many values the window holds; at least twice `n_newest`.
    n_newest
        How many of them are the newest; as many are drawn from the rest, and kept after a drift.
    seed
        Decides which are drawn.

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

    _make: ClassVar[Make] = _native.kswin


@dataclass(frozen=True)
class OfMean:
    """Lets a detector watch the running mean of the values, such as an error rate.

    Parameters
    ----------
    detector
        The detector; not one for 0 and 1 only.
    anew
        Whether the mean starts anew after a drift; if not, it is that of all values from the first.

    Examples
    --------
    >>> errors = [1.0, 0.0, 0.0, 0.0] * 500 + [1.0] * 400
    >>> test = PageHinkley(delta=0.001, threshold=2.5, factor=1.0, direction="up")
    >>> [(OfMean(test, anew).build().update(errors) == 2).nonzero()[0].tolist() for anew in (True, False)]
    [[2126], [2126, 2314]]
    """

    detector: DetectorSpec
    anew: bool = True

    def __post_init__(self) -> None:
        self.build()

    def build(self) -> NativeDetector:
        """Build a detector that has seen nothing."""
        if not isinstance(self.anew, bool):
            msg = f"anew = {self.anew!r}: it must be True or False"
            raise StreamgaugeError(msg)
        detector = self.detector.build() if isinstance(self.detector, DetectorSpec) else None
        if not isinstance(detector, NativeDetector):
            msg = f"{self.detector!r} is not a detector of streamgauge.drift"
            raise StreamgaugeError(msg)
        return detector.on_mean(anew=self.anew)
