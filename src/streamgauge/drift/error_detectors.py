"""Detectors for errors: 1 for a wrong prediction, 0 for a right one."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

from streamgauge import _native
from streamgauge.drift.base import DetectorBase, KernelBuilder
from streamgauge.errors import require_between

__all__ = ["DDM", "EDDM", "FHDDM", "HDDMA", "HDDMW", "RDDM", "STEPD", "EWMAChart"]


@dataclass(frozen=True)
class DDM(DetectorBase):
    """DDM: detects an error rate far above its minimum.

    Parameters
    ----------
    warning, drift
        The number of standard deviations above the minimum that cause a warning and a drift.
    grace_period
        The number of values at the start and after a drift without signals.

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

    _build_kernel: ClassVar[KernelBuilder] = _native.ddm


@dataclass(frozen=True)
class EDDM(DetectorBase):
    """EDDM: detects a mean distance between errors far below its maximum.

    Parameters
    ----------
    warning, drift
        The shares of the maximum distance below which there is a warning and a drift.
    grace_period
        The number of values, and of errors, at the start without signals.

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

    _build_kernel: ClassVar[KernelBuilder] = _native.eddm


@dataclass(frozen=True)
class RDDM(DetectorBase):
    """RDDM: DDM that shortens long concepts and restarts from the warning after a drift.

    Parameters
    ----------
    warning, drift
        The number of standard deviations above the minimum that cause a warning and a drift.
    grace_period
        The number of values at the start without signals.
    max_concept
        The number of values after which a concept is shortened to its newest values.
    min_stable
        The number of newest values that are kept then.
    max_warning
        The number of values after which a warning becomes a drift.

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

    _build_kernel: ClassVar[KernelBuilder] = _native.rddm


@dataclass(frozen=True)
class HDDMA(DetectorBase):
    """HDDM, A-test: compares means by Hoeffding's bound, for values in [0, 1].

    Parameters
    ----------
    warning, drift
        The significance levels of a warning and of a drift.
    direction
        Which changes cause signals: "up", "down" or "both".

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

    _build_kernel: ClassVar[KernelBuilder] = _native.hddm_a


@dataclass(frozen=True)
class HDDMW(DetectorBase):
    """HDDM, W-test: compares exponentially weighted means by McDiarmid's bound, for values in [0, 1].

    Parameters
    ----------
    warning, drift
        The significance levels of a warning and of a drift.
    newest_weight
        The weight of the newest value in a mean.
    direction
        Which changes cause signals: "up", "down" or "both".

    Examples
    --------
    >>> int(HDDMW().build().update([0.1] * 200 + [0.9] * 100).max())
    2

    References
    ----------
    See `HDDMA`.
    """

    warning: float = 0.005
    drift: float = 0.001
    newest_weight: float = 0.05
    direction: str = "up"

    _build_kernel: ClassVar[KernelBuilder] = _native.hddm_w


@dataclass(frozen=True)
class EWMAChart(DetectorBase):
    """ECDD: a control chart of the exponentially weighted error rate.

    Parameters
    ----------
    newest_weight
        The weight of the newest value in the moving mean; the control limits were derived for 0.2.
    run_length
        The mean number of values between false alarms: 100, 400 or 1,000.
    grace_period
        The number of values at the start and after a drift without signals.

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

    _build_kernel: ClassVar[KernelBuilder] = _native.ewma_chart


@dataclass(frozen=True)
class STEPD(DetectorBase):
    """STEPD: tests whether the proportion of errors in the newest values equals that in all earlier ones.

    Parameters
    ----------
    width
        The number of newest values.
    warning, drift
        The two-sided significance levels of a warning and of a drift.
    direction
        Which changes cause signals: "up", "down" or "both".

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

    _build_kernel: ClassVar[KernelBuilder] = _native.stepd

    def _kernel_options(self) -> dict[str, object]:
        levels = {"warning": self.warning, "drift": self.drift}
        for option, level in levels.items():
            require_between(option, level, 0.0, 1.0, open_high=True)
        # native code takes critical values of the normal distribution
        return {**vars(self), **{name: NormalDist().inv_cdf(1.0 - level / 2.0) for name, level in levels.items()}}


@dataclass(frozen=True)
class FHDDM(DetectorBase):
    """FHDDM: detects a share of right predictions in a window far below its maximum.

    Parameters
    ----------
    delta
        The probability of a false alarm at a single check.
    width
        The number of values in the window.

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

    _build_kernel: ClassVar[KernelBuilder] = _native.fhddm
