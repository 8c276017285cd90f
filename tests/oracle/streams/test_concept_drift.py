"""Changes of concept against SciPy."""

import numpy as np
from scipy.special import expit

from streamgauge.streams.concept_drift import SHAPES


def test_the_sigmoid_agrees_with_scipy():
    passed = np.linspace(0.0, 1.0, 10_001)
    assert np.allclose(SHAPES["sigmoid"](passed), expit(12 * passed - 6), rtol=1e-13, atol=0)
