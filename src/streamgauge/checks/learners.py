"""The contract of a learner."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import find_tasks
from streamgauge.learners.plain_loop import run_row_by_row
from streamgauge.protocols import Learner, LearnerSpec
from streamgauge.randomness import below, uniform
from streamgauge.records import Attribute, Batch, NumericTarget, Schema, Step, find_known
from streamgauge.tasks import Classification, find_task

__all__ = ["check_learner", "sample_batch"]

MIXED = Schema(
    (
        Attribute("width"),
        Attribute("colour", ("red", "green", "blue"), missing=True),
        Attribute("height", missing=True),
        Attribute("is_round", ("no", "yes")),
    ),
    classes=("apple", "pear", "plum"),
)
MIXED_NUMBERS = Schema(MIXED.attributes, target=NumericTarget("price"))
MISSING_SHARE = 0.1
N_GROUPS = 3
"""Numeric targets are drawn round as many values."""


def check_learner(spec: LearnerSpec, schema: Schema | None = None, n_rows: int = 600, seed: int = 1) -> None:
    """Raise an AssertionError unless the learners of a specification keep their contract.

    Votes are not negative, and the prediction is the class with the most votes, or it is a finite number; `interleave`
    equals row by row, in batches of any size, bit for bit; `predict` changes nothing; hidden labels and rows of weight
    0 have no effect; a learner that is saved and loaded continues the same; truncated bytes are refused.

    Parameters
    ----------
    spec
        The specification that builds the learners.
    schema
        The schema of the rows; the default has nominal, numeric and missing values, and classes if the learner takes
        them, else a numeric target.
    n_rows
        The number of rows.
    seed
        The seed of the rows.

    Examples
    --------
    >>> from streamgauge.learners import NaiveBayes
    >>> check_learner(NaiveBayes(), n_rows=100)
    """
    if schema is None:
        tasks = find_tasks(spec)
        schema = MIXED if not tasks or Classification.name in tasks else MIXED_NUMBERS
    step = _make_step(sample_batch(schema, n_rows, seed), seed)
    votes = _check_interleave(spec, schema, step)
    _check_batches(spec, schema, step, votes)
    _check_predict_changes_nothing(spec, schema, step)
    _check_hidden_labels(spec, schema, step)
    _check_saving(spec, schema, step)


def sample_batch(schema: Schema, n_rows: int, seed: int = 1) -> Batch:
    """Draw rows that depend on their class or number, with missing values if the schema allows them.

    Examples
    --------
    >>> batch = sample_batch(MIXED, 100)
    >>> MIXED.check(batch)
    >>> batch.x.shape
    (100, 4)
    """
    y = below(seed, "label", 0, 0, n_rows, schema.n_classes or N_GROUPS).astype(np.int32)
    columns = []
    for i, attribute in enumerate(schema.attributes):
        noise = uniform(seed, "value", i, 0, n_rows)
        if attribute.values is None:
            column = noise + 0.3 * (y % (i + 2))
        else:
            n_values = len(attribute.values)
            column = np.where(noise < 0.5, y % n_values, np.floor(noise * n_values))
        missing = uniform(seed, "gap", i, 0, n_rows) < MISSING_SHARE
        columns.append(np.where(missing & attribute.missing, np.nan, column))
    x = np.column_stack(columns) if columns else np.zeros((n_rows, 0))
    targets = y if schema.target is None else 100.0 + y + uniform(seed, "target", 0, 0, n_rows)
    return Batch(0, np.ascontiguousarray(x, dtype=np.float64), targets)


def _make_step(batch: Batch, seed: int) -> Step:
    """Test most rows, learn each with weight 0 to 2, hide some labels."""
    n = len(batch)
    return Step(
        batch,
        test=uniform(seed, "test", 0, 0, n) < 0.9,
        weight=below(seed, "weight", 0, 0, n, 3).astype(np.float64),
        revealed=uniform(seed, "reveal", 0, 0, n) < 0.8,
    )


def _parts(step: Step, size: int) -> Iterator[Step]:
    for start in range(0, len(step.batch), size):
        yield step.part(start, start + size)


def _interleave(learner: Learner, steps: Iterator[Step] | list[Step]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the predictions of a learner, and its votes; of one without votes, the predictions again."""
    predictions, votes = zip(*(learner.interleave(step, with_votes=True) for step in steps), strict=True)
    joined = np.concatenate(predictions)
    return joined, joined if votes[0] is None else np.concatenate(votes)


def _check_interleave(spec: LearnerSpec, schema: Schema, step: Step) -> NDArray[np.float64]:
    predictions, votes = _interleave(spec.build(schema, 1), [step])
    task = find_task(schema)
    shape = task.make_outputs(len(step.batch)).shape
    _require(votes.shape == shape, spec, f"its votes or numbers have the shape {votes.shape}, not {shape}")
    valid = ~np.isinf(votes) if schema.target is not None else (votes >= 0) & np.isfinite(votes)
    _require(bool(valid.all()), spec, "a vote is negative or not finite, or a number infinite")
    _require(_same_bits(predictions, task.decide(votes)), spec, "a prediction is not the class with the most votes")
    untested = np.zeros(len(step.batch), dtype=np.bool_) if step.test is None else ~step.test
    _require(not task.find_predicted(predictions[untested]).any(), spec, "it predicted a row that is not tested")
    plain, plain_votes = run_row_by_row(spec.build(schema, 1), step, task, with_votes=True)
    _require(_same_bits(plain, predictions), spec, "interleave and row by row predict differently")
    _require(_same_bits(plain_votes, votes), spec, "interleave and row by row vote differently")
    alone, _ = spec.build(schema, 1).interleave(step, with_votes=False)
    _require(_same_bits(alone, predictions), spec, "it predicts differently without votes")
    return votes


def _check_batches(spec: LearnerSpec, schema: Schema, step: Step, votes: NDArray[np.float64]) -> None:
    for size in (1, 7, 33, 256):
        _, batch_votes = _interleave(spec.build(schema, 1), _parts(step, size))
        _require(_same_bits(batch_votes, votes), spec, f"it votes differently in batches of {size} rows")


def _check_predict_changes_nothing(spec: LearnerSpec, schema: Schema, step: Step) -> None:
    learner = spec.build(schema, 1)
    learner.interleave(step, with_votes=False)
    before, first = learner.save(), learner.predict(step.batch.x)
    _require(_same_bits(first, learner.predict(step.batch.x)), spec, "it predicts differently the second time")
    _require(learner.save() == before, spec, "predict changes it")


def _check_hidden_labels(spec: LearnerSpec, schema: Schema, step: Step) -> None:
    """Raise if labels that are hidden or not learnt make a difference."""
    learnt = find_known(step.labels)
    if step.weight is not None:
        learnt &= step.weight > 0
    changed = step.batch.y + 1 if schema.target is not None else (step.batch.y + 1) % schema.n_classes
    other = np.where(learnt, step.batch.y, changed).astype(step.batch.y.dtype)
    first, second = spec.build(schema, 1), spec.build(schema, 1)
    _, votes = _interleave(first, [step])
    _, other_votes = _interleave(second, [replace(step, batch=replace(step.batch, y=other))])
    _require(_same_bits(other_votes, votes), spec, "a label that is hidden, or has weight 0, changes its votes")
    learnt_rows = [step.part(i, i + 1) for i in np.flatnonzero(learnt).tolist()]
    third = spec.build(schema, 1)
    for row in learnt_rows:
        third.learn(row.batch.x, row.batch.y, row.weight)
    same = _same_bits(third.predict(step.batch.x), first.predict(step.batch.x))
    _require(same, spec, "it differs after learning only the rows that may be learnt")


def _check_saving(spec: LearnerSpec, schema: Schema, step: Step) -> None:
    half = len(step.batch) // 2
    first, second = spec.build(schema, 1), spec.build(schema, 1)
    _interleave(first, [step.part(0, half)])
    state = first.save()
    second.load(state)
    rest = step.part(half, len(step.batch))
    same = _same_bits(_interleave(second, [rest])[1], _interleave(first, [rest])[1])
    _require(same, spec, "it continues differently after it was saved and loaded")
    for cut in (state[:-1], state[: len(state) // 2], b""):
        _require(not _loads(second, cut), spec, "it loads a truncated state")


def _loads(learner: Learner, state: bytes) -> bool:
    try:
        learner.load(state)
    except Exception:  # a learner may raise any exception
        return False
    return True


def _same_bits(first: NDArray[Any] | None, second: NDArray[Any] | None) -> bool:
    return first is not None and second is not None and first.tobytes() == second.tobytes()


def _require(holds: bool, spec: LearnerSpec, what: str) -> None:  # noqa: FBT001
    if not holds:
        msg = f"{spec} breaks the contract of a learner: {what}"
        raise AssertionError(msg)
