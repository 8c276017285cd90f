"""Detectors for errors, 1 where a prediction was wrong and 0 where it was right."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

from streamgauge import _native
from streamgauge.drift.native import Make, NativeSpec
from streamgauge.errors import require_between

__all__ = ["DDM", "EDDM", "FHDDM", "HDDMA", "HDDMW", "RDDM", "STEPD", "EWMAChart"]


@dataclass(frozen=True)
class DDM(NativeSpec):
    """DDM: the error rate may not rise far above the lowest it has been.

    Parameters
    ----------
    warning, drift
        How many standard deviations above the lowest rate are a warning, and a drift.
    grace_period
        The first so many values, also after a drift, give no signal.

    Examples
    --------
    >>> DDM().build().update([1.0, 0.0, 0.0, 0.0] * 50 + [1.0] * 20).argmax()
    np.int64(217)

    References
    ----------
    Gama, Medas, Castillo and Rodrigues, "Learning with drift detection", SBIA 2004.
    """

    warning: float = 2.0
    drift: float = 3.0
    grace_period: int = 30

    _make: ClassVar[Make] = _native.ddm


@dataclass(frozen=True)
class EDDM(NativeSpec):
    """EDDM: the distance between errors may not fall far below the greatest it has been.

    Parameters
    ----------
    warning, drift
        Which shares of the greatest distance are a warning, and a drift.
    grace_period
        The first so many values, and the first so many errors, give no signal.

    Examples
    --------
    >>> int(EDDM().build().update([0.0, 0.0, 0.0, 1.0] * 50 + [1.0] * 60).argmax())
    245

    References
    ----------
    Baena-Garcia, del Campo-Avila, Fidalgo, Bifet, Gavalda and Morales-Bueno, "Early drift detection method", 2006.
    """

    warning: float = 0.95
    drift: float = 0.9
    grace_period: int = 30

    _make: ClassVar[Make] = _native.eddm


@dataclass(frozen=True)
class RDDM(NativeSpec):
    """RDDM: DDM that shortens long concepts, and goes on after a drift with the values since the warning.

    Parameters
    ----------
    warning, drift
        How many standard deviations above the lowest rate are a warning, and a drift.
    grace_period
        The first so many values give no signal.
    max_concept
        A concept of so many values is shortened to the newest of them.
    min_stable
        How many values are kept for that.
    max_warning
        A warning that lasts for so many values is a drift.

    Examples
    --------
    >>> int(RDDM().build().update([1.0, 0.0, 0.0, 0.0] * 50 + [1.0] * 20).max())
    2

    References
    ----------
    Barros, Cabral, Goncalves and Santos, "RDDM: Reactive drift detection method", 2017.
    """

    warning: float = 1.773
    drift: float = 2.258
    grace_period: int = 129
    max_concept: int = 40_000
    min_stable: int = 7_000
    max_warning: int = 1_400

    _make: ClassVar[Make] = _native.rddm


@dataclass(frozen=True)
class HDDMA(NativeSpec):
    """HDDM, A-test: compares means by Hoeffding's bound; for values from 0 to 1.

    Parameters
    ----------
    warning, drift
        The significance of a warning, and of a drift.
    direction
        Which changes are signalled: "up", "down" or "both".

    Examples
    --------
    >>> int(HDDMA().build().update([0.1] * 200 + [0.6] * 100).argmax())
    216

    References
    ----------
    Frias-Blanco, del Campo-Avila, Ramos-Jimenez, Morales-Bueno, Ortiz-Diaz and Caballero-Mota, "Online and
    non-parametric drift detection methods based on Hoeffding's bounds", 2015.
    """

    warning: float = 0.005
    drift: float = 0.001
    direction: str = "up"

    _make: ClassVar[Make] = _native.hddm_a


@dataclass(frozen=True)
class HDDMW(NativeSpec):
    """HDDM, W-test: compares exponentially weighted means by the bound of McDiarmid; for values from 0 to 1.

    Parameters
    ----------
    warning, drift
        The significance of a warning, and of a drift.
    newest_weight
        The weight of the newest value in a mean.
    direction
        Which changes are signalled: "up", "down" or "both".

    Examples
    --------
    >>> int(HDDMW().build().update([0.1] * 200 + [0.9] * 100).max())
    2

    References
    ----------
    As for `HDDMA`.
    """

    warning: float = 0.005
    drift: float = 0.001
    newest_weight: float = 0.05
    direction: str = "up"

    _make: ClassVar[Make] = _native.hddm_w


@dataclass(frozen=True)
class EWMAChart(NativeSpec):
    """ECDD: a chart of the exponentially weighted error rate.

    Parameters
    ----------
    newest_weight
        The weight of the newest value in the moving mean; the control limits were made for 0.2.
    run_length
        How many values there should be between false alarms, on average: 100, 400 or 1,000.
    grace_period
        The first so many values, also after a drift, give no signal.

    Examples
    --------
    >>> int(EWMAChart().build().update([1.0, 0.0, 0.0, 0.0] * 50 + [1.0] * 20).max())
    2

    References
    ----------
    Ross, Adams, Tasoulis and Hand, "Exponentially weighted moving average charts for detecting concept drift", 2012.
    """

    newest_weight: float = 0.2
    run_length: int = 400
    grace_period: int = 30

    _make: ClassVar[Make] = _native.ewma_chart


@dataclass(frozen=True)
class STEPD(NativeSpec):
    """STEPD: tests whether the newest errors are in the same proportion as all before.

    Parameters
    ----------
    width
        How many values are the newest.
    warning, drift
        The significance of a warning, and of a drift, two-sided.
    direction
        Which changes are signalled: "up", "down" or "both".

    Examples
    --------
    >>> int(STEPD().build().update([1.0, 0.0, 0.0, 0.0] * 50 + [1.0] * 20).max())
    2

    References
    ----------
    Nishida and Yamauchi, "Detecting concept drift using statistical testing", 2007.
    """

    width: int = 30
    warning: float = 0.05
    drift: float = 0.003
    direction: str = "both"

    _make: ClassVar[Make] = _native.stepd

    def _options(self) -> dict[str, object]:
        for option in ("warning", "drift"):
            require_between(option, getattr(self, option), 0.0, 1.0, open_high=True)
        warning, drift = (NormalDist().inv_cdf(1.0 - level / 2.0) for level in (self.warning, self.drift))
        return {**vars(self), "warning": warning, "drift": drift}


@dataclass(frozen=True)
class FHDDM(NativeSpec):
    """FHDDM: the share of right predictions in a window may not fall far below the greatest it has been.

    Parameters
    ----------
    delta
        The probability of a false alarm at one look.
    width
        How many values the window holds.

    Examples
    --------
    >>> int(FHDDM().build().update([1.0, 0.0, 0.0, 0.0] * 50 + [1.0] * 50).max())
    2

    References
    ----------
    Pesaranghader and Viktor, "Fast Hoeffding drift detection method for evolving data streams", 2016.
    """

    delta: float = 1e-6
    width: int = 100

    _make: ClassVar[Make] = _native.fhddm
