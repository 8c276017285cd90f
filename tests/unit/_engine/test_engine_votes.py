"""Votes that are huge: only the share of each class counts."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import streamgauge as sg


class Voting:
    """A learner with the same votes for every row."""

    def __init__(self, votes: list[float]) -> None:
        self.votes = votes

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.tile(self.votes, (len(x), 1))

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32]) -> None:
        """Learn nothing."""


@pytest.mark.parametrize(("votes", "same"), [([1.5e308, 0.5e308], [3.0, 1.0]), ([1e308, 1e308], [1.0, 1.0])])
def test_votes_whose_sum_overflows_count_by_their_shares(votes: list[float], same: list[float]) -> None:
    options: dict[str, Any] = {"measures": ["accuracy", "log_loss", "brier", "roc_auc_ovr_macro"], "every": 100}
    results = sg.evaluate(sg.SEA(n_rows=500), {"huge": Voting(votes), "usual": Voting(same)}, **options)
    assert results.failures == ()
    assert results.values[:, 0].tolist() == results.values[:, 1].tolist()
