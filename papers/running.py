"""Evaluation for pieces: an interrupted run raises, so that no partial result is stored."""

from typing import Any

from streamgauge.evaluation import evaluate
from streamgauge.results import Results

__all__ = ["run"]


def run(stream: object, learners: object, **options: Any) -> Results:  # noqa: ANN401
    """Evaluate learners on a stream; raise KeyboardInterrupt if the user stopped the run early.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass
    >>> run(SEA(n_rows=100), MajorityClass()).complete
    True
    """
    results = evaluate(stream, learners, progress=False, **options)
    if not results.complete:
        raise KeyboardInterrupt
    return results
