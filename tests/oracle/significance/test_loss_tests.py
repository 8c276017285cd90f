"""Tests of losses against statsmodels."""

import numpy as np
import pytest

from streamgauge.significance import diebold_mariano


def test_diebold_mariano_agrees_with_statsmodels() -> None:
    models = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    gains = np.convolve(np.random.default_rng(1).normal(0.1, 1, 300), np.ones(4), "valid")
    fit = models.OLS(gains, np.ones(len(gains))).fit(
        cov_type="HAC", cov_kwds={"maxlags": 6, "use_correction": False}, use_t=False
    )
    found = diebold_mariano(np.zeros(len(gains)), gains, lags=6)
    assert found.statistic == pytest.approx(fit.tvalues[0])
    assert found.p_value == pytest.approx(fit.pvalues[0])
    low, high = fit.conf_int()[0]
    assert found.interval == pytest.approx((-high, -low))
