"""Tallies as columns: their sums do not depend on how many there are."""

import numpy as np
import pytest

from streamgauge.records import Tallies


@pytest.mark.parametrize("n_classes", [1, 2, 3, 8, 9, 20, 50])
def test_rows_of_other_classes_have_the_same_bits_in_one_tally_and_in_many(n_classes: int) -> None:
    random = np.random.default_rng(n_classes)
    confusion = random.random((300, n_classes, n_classes)) ** 3
    zeros = np.zeros((300, n_classes))
    tallies = Tallies(confusion, zeros, zeros[:, 0], zeros[:, 0], np.arange(300))
    negatives = tallies.negatives
    expected = np.array([[np.delete(row, code).sum() for code in range(n_classes)] for row in tallies.support])
    np.testing.assert_allclose(negatives, expected, rtol=1e-13)
    for n in (1, 2, 17, 100):
        np.testing.assert_array_equal(tallies[:n].negatives, negatives[:n])
