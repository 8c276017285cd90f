"""The title of a report, and a sentence that describes the run."""

import re
from collections.abc import Mapping

from streamgauge._format.text import count, describe_forgetting, join_words, shorten_stream_name
from streamgauge.records import RunData

__all__ = ["build_title", "describe_run", "find_labelling", "get_part", "shorten_scheme"]

TESTED = {
    "all": "each of which tests every row before it may learn it",
    "training": "each of which tests the rows it learns, before it learns them",
    "held_out": "each of which tests the rows it does not learn",
}
"""The meaning of the test option of a scheme."""


def build_title(results: RunData) -> str:
    """Return the title of a run: its learners, or their number if there are more than three, and its stream.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> build_title(evaluate(SEA(n_rows=10), NoChange()))
    'NoChange on SEA'
    """
    learners = results.learners
    names = join_words(learners) if 0 < len(learners) <= 3 else count(len(learners), "learner")
    stream = shorten_stream_name(str(get_part(results.description, "stream").get("name", ""))).partition("(")[0]
    return f"{names} on {stream}" if stream else names


def describe_run(results: RunData) -> str:
    """Return a sentence that describes a run.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> describe_run(evaluate(SEA(n_rows=10), NoChange()))[:30]
    'Evaluated on 10 rows of SEA(n_'
    """
    stream, scheme = (get_part(results.description, name) for name in ("stream", "scheme"))
    stream_words = f" of {shorten_stream_name(str(stream['name']))}" if "name" in stream else ""
    scheme_words = f", by {shorten_scheme(str(scheme['name']))}" if "name" in scheme else ""
    n_folds = scheme.get("n_folds")
    folds = f" in {count(n_folds, 'fold')}" if isinstance(n_folds, int) else ""
    tested = TESTED.get(str(scheme.get("test")), "")
    how = f"{scheme_words}{folds}" + (f", {tested}" if tested and n_folds != 1 else "")
    measured = ""
    if results.values.size:
        phrases = [describe_forgetting(forgetting) for forgetting in results.forgettings]
        measured = f" Measured: {join_words(results.measures)} {join_words(phrases)}."
    return f"Evaluated on {count(results.n_rows, 'row')}{stream_words}{how}.{_describe_labels(results)}{measured}"


def _describe_labels(results: RunData) -> str:
    """Return when labels came, and how many rows were not scored for it; nothing if all came at once."""
    labelling = find_labelling(results)
    if not labelling:
        return ""
    left_out = results.feedback.n_left_out if results.feedback is not None else 0
    words = f"{count(left_out, 'row')} tested before a label could be learnt, not scored"
    start = f"; {words}" if left_out else ""
    return f" Labels by {labelling}{start}."


def find_labelling(results: RunData) -> str:
    """Return the labelling of a run; empty if every label comes with its row.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> find_labelling(evaluate(SEA(n_rows=10), NoChange()))
    ''
    """
    labelling = str(results.description.get("labelling", ""))
    return "" if labelling == "AllLabels()" else labelling


def shorten_scheme(name: str) -> str:
    """Return the name of a scheme without which rows it tests, which a sentence says in words.

    Examples
    --------
    >>> shorten_scheme("Bootstrap(k=5, test='all')"), shorten_scheme("Prequential(test='all')")
    ('Bootstrap(k=5)', 'Prequential')
    """
    return re.sub(r"\(test='\w+'\)|, test='\w+'", "", name)


def get_part(description: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return a part of a description; empty if it is missing.

    Examples
    --------
    >>> get_part({"stream": {"name": "SEA()"}}, "stream"), get_part({}, "stream")
    ({'name': 'SEA()'}, {})
    """
    part = description.get(name)
    return part if isinstance(part, Mapping) else {}
