"""Slow and readable rules of generators, and tests of distributions."""

from collections import Counter

import numpy as np
from scipy import stats

from streamgauge.streams import take

__all__ = ["POKER_COUNTS", "UNLIKELY", "N", "agrawal_label", "assert_even", "assert_uniform", "poker_class", "rows_of"]

N = 20_000

UNLIKELY = 1e-4

POKER_COUNTS = np.array([1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 36, 4])


def rows_of(stream, n=N, start=0):
    batch = take(stream, n, start)
    return batch.x, batch.y


def assert_uniform(values, low, high):
    assert stats.kstest((values - low) / (high - low), "uniform").pvalue > UNLIKELY


def assert_even(codes, n_values):
    assert stats.chisquare(np.bincount(codes.astype(int), minlength=n_values)).pvalue > UNLIKELY


def agrawal_label(concept, row):  # noqa: C901, PLR0911
    """Return whether an applicant belongs to group B, as on page 924 of the paper."""
    salary, commission, age, level, _, _, value, years, loan = row

    def by_age(young, middle, old):
        return young if age < 40 else middle if age < 60 else old

    def outside(amount, thousands):
        return not thousands[0] * 1000 <= amount <= thousands[1] * 1000

    salaries = by_age((50, 100), (75, 125), (25, 75))
    suits = level in by_age((0, 1), (1, 2, 3), (2, 3, 4))
    income = 2 * (salary + commission) / 3
    match concept:
        case 1:
            return 40 <= age < 60
        case 2:
            return outside(salary, salaries)
        case 3:
            return not suits
        case 4:
            others = by_age(((25, 75), (50, 100)), ((50, 100), (75, 125)), ((50, 100), (25, 75)))
            return outside(salary, others[0 if suits else 1])
        case 5:
            loans = by_age(((200, 400), (100, 300)), ((300, 500), (200, 400)), ((100, 300), (300, 500)))
            return outside(loan, loans[0 if outside(salary, salaries) else 1])
        case 6:
            return outside(salary + commission, salaries)
        case 7:
            return income - loan / 5 - 20_000 <= 0
        case 8:
            return income - 5_000 * level - 20_000 <= 0
        case 9:
            return income - 5_000 * level - loan / 5 - 10_000 <= 0
        case _:
            equity = value * max(years - 20, 0) / 10
            return income - 5_000 * level + equity / 5 - 10_000 <= 0


def poker_class(row):
    """Name the hand the slow way."""
    suits, ranks = row[0::2], sorted(row[1::2])
    counts = sorted(Counter(ranks).values(), reverse=True)
    royal = ranks == [1, 10, 11, 12, 13]
    straight = royal or (len(set(ranks)) == 5 and ranks[4] - ranks[0] == 4)
    flush = len(set(suits)) == 1
    if straight and flush:
        return 9 if royal else 8
    if flush or straight:
        return 5 if flush else 4
    return {(4,): 7, (3, 2): 6, (3,): 3, (2, 2): 2, (2,): 1}.get(tuple(c for c in counts if c > 1), 0)
