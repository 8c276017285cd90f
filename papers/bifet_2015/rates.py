"""How often each test rejects, from the finished evaluations behind Tables 2, 3 and 4."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.bifet_2015.rejections import MODES, NOISES, SCHEMES, STREAMS
from papers.findings import Done
from streamgauge.significance import mcnemar, sign_test, wilcoxon

__all__ = ["PUBLISHED_AS", "TESTS", "WORDS", "Rates", "tested_in"]

ALPHA = 0.05
WORDS = {"held_out": "non-prequential", "training": "prequential", "all": "all rows"}
"""What the paper calls the rows that are scored."""
PUBLISHED_AS = {"mcnemar": "mcnemar", "sign": "sign", "wilcoxon": "wilcoxon"}
PUBLISHED_AS |= {"sign, 8 wins": "sign", "wilcoxon, W <= 11": "wilcoxon"}
"""What the paper calls a test."""
Counts = Mapping[str, Any]
"""What is stored of a pair: `n_scored`, `only_first`, `only_second` per fold."""


def _differences(counts: Counts) -> NDArray[np.float64]:
    first, second, scored = (np.array(counts[name]) for name in ("only_first", "only_second", "n_scored"))
    differences: NDArray[np.float64] = (first - second) / np.maximum(scored, 1)
    return differences


@cache
def _mcnemar_rejects(only_first: int, only_second: int) -> bool:
    return mcnemar(only_first, only_second, variant="chi_square", alpha=ALPHA).significant


def _mcnemar(counts: Counts) -> float:
    """Give the share of the folds in which McNemar rejects."""
    pairs = zip(counts["only_first"], counts["only_second"], strict=True)
    return float(np.mean([_mcnemar_rejects(*pair) for pair in pairs]))


def _eight_wins(counts: Counts) -> float:
    """Say whether one learner wins in at least eight folds, as the paper asks of its sign test."""
    signs = np.sign(_differences(counts))
    return float(max((signs > 0).sum(), (signs < 0).sum()) >= 8)


def _rank_sum_of_eleven(counts: Counts) -> float:
    """Say whether the smaller rank sum is at most 11, the limit that the published rates point to."""
    return float(wilcoxon(_differences(counts)).statistic <= 11.0)


TESTS: dict[str, Callable[[Counts], float]] = {
    "mcnemar": _mcnemar,
    "sign": lambda counts: float(sign_test(_differences(counts), alpha=ALPHA).significant),
    "sign, 8 wins": _eight_wins,
    "wilcoxon": lambda counts: float(wilcoxon(_differences(counts), alpha=ALPHA).significant),
    "wilcoxon, W <= 11": _rank_sum_of_eleven,
    "two_way_t": lambda counts: float(counts["two_way_p"] <= ALPHA),
}
"""Tests by name; each gives the share of its decisions on a pair that are rejections."""


def tested_in(test: str, mode: str) -> bool:
    """Say whether a test is done where a mode says which rows are scored.

    Examples
    --------
    >>> tested_in("two_way_t", "training"), tested_in("wilcoxon", "training")
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
        The most rows that a stream has.
    """

    rejections: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    n_rows: int

    @classmethod
    def of(cls, done: Done, seeds: str) -> "Rates":
        """Take the runs of one kind of seeds out of the finished pieces."""
        runs = [holds for holds in done.values() if holds.get("seeds") == seeds]
        n_runs = max((holds["run"] for holds in runs), default=0)
        shape = (n_runs, len(STREAMS), len(SCHEMES), len(MODES), len(NOISES), len(TESTS))
        rejections, accuracy = np.full(shape, np.nan), np.full(shape[:3], np.nan)
        for holds in runs:
            place = (holds["run"] - 1, STREAMS.index(holds["stream"]))
            for scheme, name in enumerate(SCHEMES):
                accuracy[*place, scheme] = float(np.mean(holds[name]["accuracy"]))
                for index, value in _decisions(holds[name]):
                    rejections[*place, scheme, *index] = value
        return cls(rejections, accuracy, max((holds["n_rows"] for holds in runs), default=0))

    @property
    def n_runs(self) -> NDArray[np.int64]:
        """How many runs there are of each stream."""
        counts: NDArray[np.int64] = (~np.isnan(self.accuracy[:, :, 0])).sum(axis=0)
        return counts

    @property
    def n_decisions(self) -> int:
        """How many runs there are in all."""
        return int(self.n_runs.sum())

    @property
    def accuracies(self) -> dict[str, float]:
        """The mean accuracy of the forests on each stream that has runs."""
        known = {name: self.accuracy[:, place] for place, name in enumerate(STREAMS) if self.n_runs[place]}
        return {name: float(np.nanmean(values)) for name, values in known.items()}

    def rate(self, test: str, mode: str, noise: str) -> NDArray[np.float64]:
        """Give the share of rejections, [stream, scheme]; NaN for a stream without runs."""
        chosen = self.rejections[:, :, :, MODES.index(mode), NOISES.index(noise), list(TESTS).index(test)]
        n = np.maximum(self.n_runs, 1)[:, np.newaxis]
        rates: NDArray[np.float64] = np.where(self.n_runs[:, np.newaxis] > 0, np.nansum(chosen, axis=0) / n, np.nan)
        return rates

    def mean_rate(self, test: str, mode: str, noise: str) -> NDArray[np.float64]:
        """Give the mean of the rates of the streams that have runs, [scheme]."""
        return np.array(self.rate(test, mode, noise)[self.n_runs > 0].mean(axis=0))

    def slack(self, rate: float) -> float:
        """Give three standard errors of a mean rate."""
        return 3.0 * float(np.sqrt(rate * (1 - rate) / max(self.n_decisions, 1)))


def _decisions(of_scheme: Mapping[str, Any]) -> Iterator[tuple[tuple[int, int, int], float]]:
    for mode, mode_name in enumerate(MODES):
        for noise, noise_name in enumerate(NOISES):
            for test, (name, decide) in enumerate(TESTS.items()):
                if tested_in(name, mode_name):
                    yield (mode, noise, test), decide(of_scheme[mode_name][noise_name])
