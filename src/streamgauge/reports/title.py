"""How a report begins: its title, and a sentence on what was run."""

from collections.abc import Mapping

from streamgauge._format.text import count, join_words
from streamgauge.records import RunData

__all__ = ["lead", "part_of", "title_of"]

TESTED = {
    "all": "each of which tests every row before it may learn it",
    "training": "each of which tests the rows it learns, before it learns them",
    "held_out": "each of which tests the rows it does not learn",
}
"""What the test option of a scheme means."""


def title_of(results: RunData) -> str:
    """Give a run its title: its learners, or their number where they are many.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> title_of(evaluate(SEA(n_rows=10), NoChange()))
    'NoChange'
    """
    learners = results.learners
    return join_words(learners) if 0 < len(learners) <= 3 else count(len(learners), "learner")


def lead(results: RunData) -> str:
    """Say in a sentence what was run.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> lead(evaluate(SEA(n_rows=10), NoChange()))[:30]
    'Evaluated on 10 rows of SEA(n_'
    """
    stream, scheme = (part_of(results.description, name) for name in ("stream", "scheme"))
    of_stream = f" of {stream['name']}" if "name" in stream else ""
    by_scheme = f", by {scheme['name']}" if "name" in scheme else ""
    n_folds = scheme.get("n_folds")
    folds = f" in {count(n_folds, 'fold')}" if isinstance(n_folds, int) else ""
    tested = TESTED.get(str(scheme.get("test")), "")
    how = f"{by_scheme}{folds}" + (f", {tested}" if tested and n_folds != 1 else "")
    measures, forgettings = join_words(results.measures), join_words(results.forgettings)
    measured = f" Measured: {measures} over {forgettings}." if results.values.size else ""
    return f"Evaluated on {count(results.n_rows, 'row')}{of_stream}{how}.{measured}"


def part_of(description: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Give a part of a description; empty where it is not there.

    Examples
    --------
    >>> part_of({"stream": {"name": "SEA()"}}, "stream"), part_of({}, "stream")
    ({'name': 'SEA()'}, {})
    """
    part = description.get(name)
    return part if isinstance(part, Mapping) else {}
