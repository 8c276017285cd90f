"""Hints after a run: what chunks would gain for a slow learner, and which learners had too few rows to be fitted."""

from dataclasses import replace
from time import thread_time
from typing import Any

from streamgauge.learners.adapters.river import River
from streamgauge.learners.adapters.scikit_learn import ScikitLearn
from streamgauge.learners.refitted import Refitted
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Batch, Schema, Step

__all__ = ["LONG_SECONDS", "ROWS_NEEDED", "can_have_chunks", "describe_untrained", "suggest_chunks"]

LONG_SECONDS = 5.0
"""A learner that took longer may get a hint."""

CHUNK_SIZE = 100
ROWS_NEEDED = 4 * CHUNK_SIZE
LEAST_GAIN = 2.0


def can_have_chunks(spec: LearnerSpec) -> bool:
    """Return whether a learner learns row by row and could learn chunks.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> can_have_chunks(ScikitLearn(GaussianNB())), can_have_chunks(ScikitLearn(GaussianNB(), chunk_size=100))
    (True, False)
    """
    if isinstance(spec, River):
        return spec.chunk_size == 1 and hasattr(spec.model, "learn_many")
    return isinstance(spec, ScikitLearn) and spec.chunk_size == 1


def suggest_chunks(name: str, spec: LearnerSpec, schema: Schema, rows: Batch, spent: tuple[float, int]) -> str | None:
    """Return what chunks would gain for a learner that took long; None if that is little, or it cannot have them.

    Parameters
    ----------
    name, spec
        The learner.
    schema
        The schema of the rows.
    rows
        The first `ROWS_NEEDED` rows of the stream, or as many as there are; a copy of the learner is timed on them.
    spent
        The seconds that the learner took, and for how many rows.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.streams import SEA, take
    >>> hint = suggest_chunks("mine", ScikitLearn(GaussianNB()), SEA().schema, take(SEA(), 400), (61.0, 100_000))
    >>> hint.partition(" would take about ")[0]
    'mine took 61 s row by row; ScikitLearn(model, chunk_size=100)'
    """
    seconds, n_rows = spent
    if seconds < LONG_SECONDS or len(rows) < 2 * CHUNK_SIZE or not can_have_chunks(spec):
        return None
    try:
        chunked = _time_row(replace(spec, chunk_size=CHUNK_SIZE), schema, rows)  # type: ignore[type-var]
    except Exception:  # some steps of River's pipelines cannot learn chunks
        return None
    if seconds < LEAST_GAIN * chunked * n_rows:
        return None
    kind, gained = type(spec).__name__, _format_seconds(chunked * n_rows)
    return (
        f"{name} took {_format_seconds(seconds)} row by row; {kind}(model, chunk_size={CHUNK_SIZE}) would take about "
        f"{gained} and learns each {CHUNK_SIZE} rows at once"
    )


def describe_untrained(name: str, spec: LearnerSpec, n_rows: int) -> str | None:
    """Return that a learner had too few rows to be fitted, and what to do; None if it had enough.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> describe_untrained("mine", ScikitLearn(GaussianNB(), chunk_size=500), 400)
    'mine was never fitted and predicted the majority class: it needs 500 learnt rows of 400; set a smaller chunk_size'
    """
    if isinstance(spec, ScikitLearn):
        needed, option = spec.chunk_size, "chunk_size"
    elif isinstance(spec, Refitted):
        needed, option = (spec.every, "every") if spec.first is None else (spec.first, "first")
    else:
        nested = getattr(spec, "learner", None)
        return describe_untrained(name, nested, n_rows) if isinstance(nested, ScikitLearn | Refitted) else None
    if needed is None or n_rows >= needed:
        return None
    return (
        f"{name} was never fitted and predicted the majority class: it needs {needed:,} learnt rows of {n_rows:,}; set "
        f"a smaller {option}"
    )


def _time_row(spec: Any, schema: Schema, rows: Batch) -> float:  # noqa: ANN401
    """Return the seconds that a row takes, after the first chunk."""
    learner, step = spec.build(schema, 1), Step(rows)
    n_rows = len(rows) // CHUNK_SIZE * CHUNK_SIZE
    learner.interleave(step.part(0, CHUNK_SIZE), with_votes=False)
    started = thread_time()
    learner.interleave(step.part(CHUNK_SIZE, n_rows), with_votes=False)
    return (thread_time() - started) / (n_rows - CHUNK_SIZE)


def _format_seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
