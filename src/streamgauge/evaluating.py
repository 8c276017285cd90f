"""Evaluate learners on a stream in one call."""

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TypeVar

from streamgauge._engine.signals import asked_to_stop
from streamgauge._format.progress_bar import progress_bar
from streamgauge.errors import EndlessStreamError, FailureWarning, unknown_name
from streamgauge.evaluation import Evaluation
from streamgauge.records import Reading, Verdict
from streamgauge.results import Results

__all__ = ["Evaluation", "evaluate"]

Told = TypeVar("Told")


def evaluate(
    stream: object,
    learners: object,
    *,
    progress: bool | None = False,
    on_reading: Callable[[Reading], object] | None = None,
    on_verdict: Callable[[Verdict], object] | None = None,
    **options: object,
) -> Results:
    """Evaluate learners on a stream, all in one pass.

    It stands for this loop, run for every learner in every fold side by side::

        for x, y in stream:
            score(learner.predict(x), y)
            learner.learn(x, y)

    A learner that fails is told by a `FailureWarning` and in `Results.failures`, and its readings from there on are
    NaN, while the others go on; where all of them fail, that is an error.

    Ctrl-C ends it after the batch at hand; what was measured so far is returned, marked as not complete. With
    `checkpoint` it can go on later from where it was, also after it was killed.

    Parameters
    ----------
    stream
        A stream, a pair of arrays (x, y), or a table of pandas, polars or Arrow with `target`.
    learners
        A learner, several, or several by name; those of other libraries are recognised on sight.
    progress
        Whether to show a progress bar; None for only where standard error is a terminal.
    on_reading
        Called with every reading as soon as it is there.
    on_verdict
        Called with the verdict on two learners as soon as it is known.
    options
        Those of `Evaluation`: target, scheme, labelling, score, forgetting, measures, detectors, every, n_rows,
        time_limit, time_budget, live_test, seed, batch_size, resources, recorders, backend, checkpoint,
        checkpoint_every, resume, trust_checkpoint, journal.

    Examples
    --------
    >>> from streamgauge import HoeffdingTree, MajorityClass, SEA, evaluate
    >>> results = evaluate(SEA(n_rows=10_000), [HoeffdingTree(), MajorityClass()], every=5_000)
    >>> results.learners, results.rows.tolist()
    (('HoeffdingTree', 'MajorityClass'), [5000, 10000])
    >>> bool(results.curve("HoeffdingTree", "accuracy")[-1, 0] > results.curve("MajorityClass", "accuracy")[-1, 0])
    True
    """
    for option in options:
        if option not in _known_options():
            raise unknown_name(kind="option of an evaluation called", name=option, known=_known_options())
    evaluation = Evaluation(stream, learners, **options)  # type: ignore[arg-type]
    if not evaluation.ends:
        msg = "the stream never ends: say with n_rows how many rows to read, or iterate over an Evaluation"
        raise EndlessStreamError(msg)
    kept = []
    stop_asked = asked_to_stop(also_terminated=evaluation.checkpointing is not None)
    with stop_asked as stopping, progress_bar(evaluation.n_rows_known, shown=progress) as advance_to:
        for progress_now in evaluation.advance(stopping):
            if len(progress_now.rows) or progress_now.alarms:
                kept.append(progress_now)
            advance_to(progress_now.n_rows, lambda: evaluation.status)
            _tell(evaluation.readings_of(progress_now), on_reading)
            _tell(progress_now.reached, on_verdict)
    for failure in evaluation.failures:
        warnings.warn(f"{failure}; its readings from there on are NaN", FailureWarning, stacklevel=2)
    return evaluation.results(kept)


@cache
def _known_options() -> Mapping[str, object]:
    return inspect.signature(Evaluation).parameters


def _tell(news: Iterable[Told], listener: Callable[[Told], object] | None) -> None:
    """Call a listener with everything new."""
    if listener is not None:
        for one in news:
            listener(one)
