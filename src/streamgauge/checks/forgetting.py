"""The contract of a forgetting."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import build_majority
from streamgauge.protocols import Forgetting, ForgettingState, MajorityBaseline
from streamgauge.randomness import below, uniform
from streamgauge.records import ABSTAINED, UNLABELLED, Tally, Trace

__all__ = ["check_forgetting", "reference_tally"]

N_CLASSES = 4
N_ROWS = 2_000


@runtime_checkable
class FadesByAge(Protocol):
    """A forgetting whose weights depend on the age of a row alone."""

    def weights_by_age(self, n: int) -> NDArray[np.float64]:
        """Return the weights of the last `n` rows, the newest first."""
        ...


def check_forgetting(forgetting: Forgetting, seed: int = 1) -> None:
    """Raise an AssertionError unless a forgetting keeps its contract.

    Its tallies equal those of a slow reference: with the weights of its method `weights_by_age` or, without one, over
    the newest `width` rows. Cutting a trace into pieces changes no bit. The majority class of the labels that it
    remembers, if it has one, predicts a row before it sees the label, and can be cut and saved.

    Examples
    --------
    >>> from streamgauge.forgetting import Window
    >>> check_forgetting(Window(10))
    """
    plain = sample_trace(seed)
    whole = replace(plain, weight=below(seed, "weight", 0, 0, N_ROWS, 3).astype(np.float64))
    any_weight = replace(plain, weight=uniform(seed, "weight", 0, 0, N_ROWS))
    for trace in (plain, whole, any_weight):
        reading_rows = np.linspace(0, trace.row[-1] + 10, 12).astype(int).tolist()
        tallies = forgetting.build(N_CLASSES).update(trace, reading_rows)
        check_against_reference(forgetting, trace, reading_rows, tallies)
        for size in (1, 77, 500):
            in_pieces = list(update_in_pieces(forgetting.build(N_CLASSES), trace, reading_rows, size))
            if not all(same_bits(*pair) for pair in zip(tallies, in_pieces, strict=True)):
                msg = f"{forgetting} has other tallies for a trace in pieces of {size} rows"
                raise AssertionError(msg)
    check_majority(forgetting, seed)


def check_majority(forgetting: Forgetting, seed: int = 1) -> None:
    """Raise an AssertionError unless the majority class of the labels that a forgetting remembers keeps its contract.

    Examples
    --------
    >>> from streamgauge.forgetting import Window
    >>> check_majority(Window(10))
    """
    whole = build_majority(forgetting, N_CLASSES)
    if whole is None:
        return
    truth = sample_trace(seed).y_true
    labels = np.where(uniform(seed, "known", 0, 0, N_ROWS) < 0.8, truth, UNLABELLED).astype(np.int32)
    weight, time = below(seed, "weight", 0, 0, N_ROWS, 3).astype(np.float64), np.arange(N_ROWS) / 10.0
    hits = whole.update(truth, labels, weight, time)
    in_pieces, start = [], 0
    state = cast("MajorityBaseline", build_majority(forgetting, N_CLASSES))
    for stop in (1, 78, 1_000, N_ROWS):
        saved, part = state.save(), slice(start, stop)
        state = cast("MajorityBaseline", build_majority(forgetting, N_CLASSES))
        state.load(saved)
        in_pieces.append(state.update(truth[part], labels[part], weight[part], time[part]))
        start = stop
    if not np.array_equal(hits, np.concatenate(in_pieces)):
        msg = f"{forgetting} has another majority class for labels in pieces"
        raise AssertionError(msg)
    for row in range(7, N_ROWS, 97):
        state, part = cast("MajorityBaseline", build_majority(forgetting, N_CLASSES)), slice(row + 1)
        hidden = np.append(labels[:row], np.int32(UNLABELLED))
        if state.update(truth[part], hidden, weight[part], time[part])[row] != hits[row]:
            msg = f"{forgetting}: the majority class at row {row} has seen the label of that row"
            raise AssertionError(msg)


def reference_tally(trace: Trace, weight: NDArray[np.float64], width: int) -> Tally:
    """Tally a trace by definition, with the given weight of each row.

    Examples
    --------
    >>> trace = sample_trace(1)
    >>> reference_tally(trace, np.ones(len(trace)), len(trace)).total
    2000.0
    """
    confusion, abstained = np.zeros((N_CLASSES, N_CLASSES)), np.zeros(N_CLASSES)
    silent = trace.y_pred == ABSTAINED
    np.add.at(confusion, (trace.y_true[~silent], trace.y_pred[~silent]), weight[~silent])
    np.add.at(abstained, trace.y_true[silent], weight[silent])
    majority_hits, no_change_hits = weight[trace.majority_hit].sum(), weight[trace.no_change_hit].sum()
    return Tally(confusion, abstained, float(majority_hits), float(no_change_hits), width)


def sample_trace(seed: int) -> Trace:
    """Return a trace with gaps, times, abstentions, a class that vanishes and an error rate that jumps.

    Examples
    --------
    >>> len(sample_trace(1))
    2000
    """
    row = np.cumsum(1 + below(seed, "gap", 0, 0, N_ROWS, 3))
    early = np.arange(N_ROWS) < N_ROWS // 2
    y_true = np.where(early, below(seed, "label", 0, 0, N_ROWS, N_CLASSES), below(seed, "label", 1, 0, N_ROWS, 2))
    wrong = uniform(seed, "wrong", 0, 0, N_ROWS) < np.where(early, 0.1, 0.6)
    y_pred = np.where(wrong, below(seed, "prediction", 0, 0, N_ROWS, N_CLASSES + 1) + ABSTAINED, y_true)
    majority_hit, no_change_hit = (uniform(seed, "hit", fold, 0, N_ROWS) < 0.4 for fold in (0, 1))
    classes = (y_true.astype(np.int32), y_pred.astype(np.int32))
    return Trace(row, *classes, majority_hit, no_change_hit, time=row / 10.0)


def check_against_reference(
    forgetting: Forgetting, trace: Trace, reading_rows: list[int], tallies: Sequence[Tally]
) -> None:
    """Raise unless each tally equals the reference.

    Examples
    --------
    >>> from streamgauge.forgetting import Landmark
    >>> trace = sample_trace(1)
    >>> check_against_reference(Landmark(), trace, [9], Landmark().build(N_CLASSES).update(trace, [9]))
    """
    for row, tally in zip(reading_rows, tallies, strict=True):
        n = int(np.searchsorted(trace.row, row))
        seen = trace.part(0, n)
        newest_first = np.arange(n) < tally.width
        by_age = forgetting.weights_by_age(n) if isinstance(forgetting, FadesByAge) else newest_first.astype(float)
        weight = by_age[::-1] if seen.weight is None else by_age[::-1] * seen.weight
        expected = reference_tally(seen, weight, tally.width)
        where = f"{forgetting} before row {row}"
        for name in ("confusion", "abstained", "majority_hits", "no_change_hits"):
            actual, reference = getattr(tally, name), getattr(expected, name)
            np.testing.assert_allclose(actual, reference, rtol=1e-9, atol=1e-12, err_msg=f"{where}: {name}")
        if not 0 <= tally.width <= n:
            msg = f"{where} covers {tally.width} rows of {n}"
            raise AssertionError(msg)


def update_in_pieces(state: ForgettingState, trace: Trace, reading_rows: list[int], size: int) -> Iterator[Tally]:
    """Yield the tallies at the reading rows of a trace in pieces.

    Examples
    --------
    >>> from streamgauge.forgetting import Landmark
    >>> [t.width for t in update_in_pieces(Landmark().build(N_CLASSES), sample_trace(1), [0, 9999], 600)]
    [0, 2000]
    """
    begin = 0
    for start in range(0, len(trace), size):
        last = start + size >= len(trace)
        # A piece ends where the next one begins; the last has no end.
        end = reading_rows[-1] + 1 if last else int(trace.row[start + size])
        yield from state.update(trace.part(start, start + size), [row for row in reading_rows if begin <= row < end])
        begin = end


def same_bits(first: Tally, second: Tally) -> bool:
    """Return whether two tallies are the same to the last bit.

    Examples
    --------
    >>> tally = Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)
    >>> same_bits(tally, replace(tally, width=3))
    False
    """
    scalars = (first.majority_hits, first.no_change_hits, first.width)
    return (
        scalars == (second.majority_hits, second.no_change_hits, second.width)
        and np.array_equal(first.confusion, second.confusion)
        and np.array_equal(first.abstained, second.abstained)
    )
