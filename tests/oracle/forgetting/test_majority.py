"""The baseline of `kappa_m` over an adaptive window, against the window of River's ADWIN."""

from typing import Any

import numpy as np
import pytest
from river import drift

from streamgauge.forgetting import AdwinWindow

untyped_adwin: Any = drift.ADWIN


@pytest.mark.parametrize("n_classes", [2, 3, 20])
@pytest.mark.parametrize("delta", [0.002, 0.2])
def test_the_majority_is_that_of_the_labels_in_the_window_of_its_own_errors(n_classes: int, delta: float) -> None:
    draws = np.random.default_rng(7)
    n = 6_000
    common = np.repeat(draws.integers(0, n_classes, 8), n // 8)
    labels = np.where(draws.random(n) < 0.7, common, draws.integers(0, n_classes, n)).astype(np.int32)
    adwin: Any = untyped_adwin(delta=delta)
    expected, n_dropped, width = [], 0, 0
    for row, label in enumerate(labels):
        counts = np.bincount(labels[row - width : row], minlength=n_classes)
        predicted = int(counts.argmax()) if width else -1
        expected.append(predicted == label)
        adwin._drift_detected = False  # its window would start afresh
        adwin.update(float(predicted != label))
        n_dropped += int(adwin.width) < width + 1
        width = int(adwin.width)
    hits = AdwinWindow(delta=delta).build_majority(n_classes).update(labels, labels)
    np.testing.assert_array_equal(hits, expected)
    assert n_dropped > 1
