"""How pieces run evaluations: as anybody does, but a run that was cut short is no piece."""

from typing import Any

from streamgauge.evaluation import evaluate
from streamgauge.results import Results

__all__ = ["run"]


def run(stream: object, learners: object, **options: Any) -> Results:  # noqa: ANN401
    """Evaluate learners on a stream; raises KeyboardInterrupt where a person stopped it before its end.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass
    >>> run(SEA(n_rows=100), MajorityClass()).complete
    True
    """
    results = evaluate(stream, learners, **options)
    if not results.complete:
        raise KeyboardInterrupt
    return results
