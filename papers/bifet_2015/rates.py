"""Rejection rates of each test, from the finished evaluations behind Tables 2, 3 and 4."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.bifet_2015.rejections import MODES, NOISES, SCHEMES, STREAMS
from papers.findings import Done
from streamgauge.significance import mcnemar, sign_test, wilcoxon

__all__ = ["PUBLISHED_AS", "TESTS", "WORDS", "Rates", "is_tested"]

ALPHA = 0.05
WORDS = {"held_out": "non-prequential", "training": "prequential", "all": "all rows"}
"""The paper's names of the scored rows, by mode."""
PUBLISHED_AS = {"mcnemar": "mcnemar", "sign": "sign", "wilcoxon": "wilcoxon"}
PUBLISHED_AS |= {"sign, 8 wins": "sign", "wilcoxon, W <= 11": "wilcoxon"}
"""The paper's names of the tests."""
Counts = Mapping[str, Any]
"""The stored counts of a pair: `n_scored`, `only_first`, `only_second` per fold."""


def _compute_differences(counts: Counts) -> NDArray[np.float64]:
    first, second, scored = (np.array(counts[name]) for name in ("only_first", "only_second", "n_scored"))
    differences: NDArray[np.float64] = (first - second) / np.maximum(scored, 1)
    return differences


@cache
def _does_mcnemar_reject(only_first: int, only_second: int) -> bool:
    return mcnemar(only_first, only_second, variant="chi_square", alpha=ALPHA).significant


def _run_mcnemar(counts: Counts) -> float:
    """Return the share of the folds in which McNemar rejects."""
    pairs = zip(counts["only_first"], counts["only_second"], strict=True)
    return float(np.mean([_does_mcnemar_reject(*pair) for pair in pairs]))


def _require_eight_wins(counts: Counts) -> float:
    """Return 1 if one learner wins at least eight folds, the limit of the paper's sign test."""
    signs = np.sign(_compute_differences(counts))
    return float(max((signs > 0).sum(), (signs < 0).sum()) >= 8)


def _require_rank_sum(counts: Counts) -> float:
    """Return 1 if the smaller rank sum is at most 11, the limit implied by the published rates."""
    return float(wilcoxon(_compute_differences(counts)).statistic <= 11.0)


TESTS: dict[str, Callable[[Counts], float]] = {
    "mcnemar": _run_mcnemar,
    "sign": lambda counts: float(sign_test(_compute_differences(counts), alpha=ALPHA).significant),
    "sign, 8 wins": _require_eight_wins,
    "wilcoxon": lambda counts: float(wilcoxon(_compute_differences(counts), alpha=ALPHA).significant),
    "wilcoxon, W <= 11": _require_rank_sum,
    "two_way_t": lambda counts: float(counts["two_way_p"] <= ALPHA),
}
"""Tests by name; each returns the share of rejections among its decisions on a pair."""


def is_tested(test: str, mode: str) -> bool:
    """Return whether a test is run on the rows scored in a mode.

    Examples
    --------
    >>> is_tested("two_way_t", "training"), is_tested("wilcoxon", "training")
    (False, True)
    """
    return test != "two_way_t" or mode == "all"


@dataclass(frozen=True)
class Rates:
    """Rejections of all finished runs, float [run, stream, scheme, mode, noise, test]; NaN where there was no run.

    Parameters
    ----------
    rejections
        The share of rejections.
    accuracy
        Mean accuracy of the forests over all rows, float [run, stream, scheme].
    n_rows
        The largest number of rows of a stream.
    """

    rejections: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    n_rows: int

    @classmethod
    def from_pieces(cls, done: Done, seeds: str) -> "Rates":
        """Collect the runs with one kind of seeds from the finished pieces."""
        runs = [result for result in done.values() if result.get("seeds") == seeds]
        n_runs = max((result["run"] for result in runs), default=0)
        shape = (n_runs, len(STREAMS), len(SCHEMES), len(MODES), len(NOISES), len(TESTS))
        rejections, accuracy = np.full(shape, np.nan), np.full(shape[:3], np.nan)
        for result in runs:
            cell = (result["run"] - 1, STREAMS.index(result["stream"]))
            for scheme, name in enumerate(SCHEMES):
                accuracy[*cell, scheme] = float(np.mean(result[name]["accuracy"]))
                for index, value in _decide(result[name]):
                    rejections[*cell, scheme, *index] = value
        return cls(rejections, accuracy, max((result["n_rows"] for result in runs), default=0))

    @property
    def n_runs(self) -> NDArray[np.int64]:
        """The number of runs of each stream."""
        counts: NDArray[np.int64] = (~np.isnan(self.accuracy[:, :, 0])).sum(axis=0)
        return counts

    @property
    def n_decisions(self) -> int:
        """The number of runs of all streams."""
        return int(self.n_runs.sum())

    @property
    def accuracies(self) -> dict[str, float]:
        """The mean accuracy of the forests on each stream that has runs."""
        with_runs = {name: self.accuracy[:, index] for index, name in enumerate(STREAMS) if self.n_runs[index]}
        return {name: float(np.nanmean(values)) for name, values in with_runs.items()}

    def average_runs(self, test: str, mode: str, noise: str) -> NDArray[np.float64]:
        """Return the share of rejections, [stream, scheme]; NaN for a stream without runs."""
        chosen = self.rejections[:, :, :, MODES.index(mode), NOISES.index(noise), list(TESTS).index(test)]
        n = np.maximum(self.n_runs, 1)[:, np.newaxis]
        rates: NDArray[np.float64] = np.where(self.n_runs[:, np.newaxis] > 0, np.nansum(chosen, axis=0) / n, np.nan)
        return rates

    def average_streams(self, test: str, mode: str, noise: str) -> NDArray[np.float64]:
        """Return the mean rate over the streams that have runs, [scheme]."""
        return np.array(self.average_runs(test, mode, noise)[self.n_runs > 0].mean(axis=0))

    def compute_slack(self, rate: float) -> float:
        """Return three standard errors of a mean rate."""
        return 3.0 * float(np.sqrt(rate * (1 - rate) / max(self.n_decisions, 1)))


def _decide(result: Mapping[str, Any]) -> Iterator[tuple[tuple[int, int, int], float]]:
    """Yield the share of rejections of every test in every mode with every noise, and their indices."""
    for mode, mode_name in enumerate(MODES):
        for noise, noise_name in enumerate(NOISES):
            for test, (name, decide) in enumerate(TESTS.items()):
                if is_tested(name, mode_name):
                    yield (mode, noise, test), decide(result[mode_name][noise_name])
