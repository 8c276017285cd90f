"""What runs must have in common so that their values may be averaged: runs of other experiments are refused."""

import re
from collections.abc import Iterator, Mapping, Sequence

from streamgauge._format.text import count, join_words, strip_seeds
from streamgauge.errors import StreamgaugeError
from streamgauge.records import RunData
from streamgauge.significance.compare import choose_forgetting

__all__ = ["group_by_stream", "name_stream", "require_same_setup"]

ADVICE = "report them one by one, or choose with --stream, --scheme or --labelling"


def require_same_setup(runs: Sequence[RunData], folders: Sequence[str] = (), *, forgetting: str | None = None) -> None:
    """Raise if runs differ in more than their stream and their seeds, so that they are no repetitions.

    Parameters
    ----------
    runs
        The runs.
    folders
        Where they were loaded from, to be named.
    forgetting
        The forgetting whose readings are used.

    Examples
    --------
    >>> import streamgauge as sg
    >>> run = sg.evaluate("SEA(n_rows=500)", "NaiveBayes")
    >>> require_same_setup([run, sg.evaluate("SEA(n_rows=500)", "NaiveBayes", scheme="Bootstrap(5)")])
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: runs of different schemes are no repetitions: Prequential(test='all') and \
Bootstrap(k=5); report them one by one, or choose with --stream, --scheme or --labelling
    """
    found: dict[str, dict[str, list[str]]] = {}
    for run, folder in zip(runs, folders or [""] * len(runs), strict=True):
        for what, text in _list_facts(run, forgetting, folder):
            found.setdefault(what, {}).setdefault(text, []).append(folder)
    for what, texts in found.items():
        if len(texts) > 1:
            named = [text + _name_folders(known) for text, known in texts.items()]
            msg = f"runs of {what} are no repetitions: {join_words(named)}; {ADVICE}"
            raise StreamgaugeError(msg)


def _list_facts(run: RunData, forgetting: str | None, folder: str) -> Iterator[tuple[str, str]]:
    """Yield what a run must have in common with others, with its value."""
    stream, learners = run.description.get("stream"), run.description.get("learners")
    try:
        yield "different forgettings", choose_forgetting(run.forgettings, forgetting)
    except StreamgaugeError as error:
        msg = f"{folder}: {error}" if folder else str(error)
        raise StreamgaugeError(msg) from None
    scheme = run.description.get("scheme")
    yield "different schemes", str(scheme.get("name") if isinstance(scheme, Mapping) else scheme)
    yield "different labellings", str(run.description.get("labelling"))
    yield "different scored predictions", str(run.description.get("score"))
    name = name_stream(run)
    if name:
        yield f"different length on {name}", count(run.n_rows, "row")
    fingerprint = str(stream.get("fingerprint", "")) if isinstance(stream, Mapping) else ""
    if re.match(r"\w+/\d+\(", fingerprint):
        yield f"different streams of the name {name}", strip_seeds(fingerprint)
    for learner, facts in learners.items() if isinstance(learners, Mapping) else ():
        if isinstance(facts, Mapping):
            yield f"different learners of the name {learner}", strip_seeds(str(facts.get("spec", "")))


def _name_folders(folders: Sequence[str]) -> str:
    known = list(dict.fromkeys(filter(None, folders)))
    return f" in {join_words(known[:3])}" + (f" and {len(known) - 3} more" if len(known) > 3 else "") if known else ""


def name_stream(run: RunData) -> str:
    """Return the name of the stream of a run, without a seed that is that of the run: it is one more repetition.

    Empty if the results do not name their stream.

    Examples
    --------
    >>> import streamgauge as sg
    >>> [name_stream(sg.evaluate("SEA(seed=2, n_rows=50)", "NoChange", seed=seed)) for seed in (1, 2)]
    ['SEA(n_rows=50, seed=2)', 'SEA(n_rows=50)']
    """
    stream, seed = run.description.get("stream"), run.description.get("seed")
    name = stream.get("name") if isinstance(stream, Mapping) else stream
    if not isinstance(name, str):
        return ""
    return strip_seeds(name, str(seed)) if isinstance(seed, int) else name


def group_by_stream(runs: Sequence[RunData]) -> dict[str, list[RunData]]:
    """Return the runs on each stream, by its name; in the order of the runs.

    Examples
    --------
    >>> import streamgauge as sg
    >>> runs = [sg.evaluate(f"SEA(seed={seed}, n_rows=50)", "NoChange", seed=seed) for seed in (1, 2)]
    >>> {name: len(on_stream) for name, on_stream in group_by_stream(runs).items()}
    {'SEA(n_rows=50)': 2}
    """
    by_stream: dict[str, list[RunData]] = {}
    for run in runs:
        by_stream.setdefault(name_stream(run), []).append(run)
    return by_stream
