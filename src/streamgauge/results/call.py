"""The call that a run came from, as plain values: what its manifest keeps, so that the run can be repeated."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from streamgauge import records
from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError
from streamgauge.measures import find_measures
from streamgauge.names import FAMILIES, make
from streamgauge.protocols import LiveStreamBase, Measure, Stream
from streamgauge.significance.live import LiveTest
from streamgauge.significance.requirements import Requirement
from streamgauge.streams import File, open_test
from streamgauge.streams.sampling.hidden_labels import HiddenLabels, find_sample_folder

__all__ = ["CALL", "FileFacts", "describe_call", "list_files", "restore_call", "restore_stream"]

CALL = "call"
"""The key of the call in the description of a run."""

_WITHIN_STREAMS = {"Schema": records.Schema, "Attribute": records.Attribute}

PLAIN = (bool, int, float, str, PurePath, type(None))


def describe_call(  # noqa: PLR0913
    *,
    stream: Stream,
    learners: Mapping[str, object],
    scheme: object,
    labelling: object,
    forgettings: Sequence[object],
    measures: Sequence[Measure],
    detectors: Mapping[str, object],
    live_test: LiveTest | None,
    options: Mapping[str, object],
    budgets: Sequence[Requirement] = (),
) -> dict[str, Any]:
    """Return the arguments of `evaluate` as plain values, the files they read, and what cannot be written as text.

    Parameters
    ----------
    stream, learners, scheme, labelling, forgettings, measures, detectors, live_test
        The objects of the call.
    options
        The options that are plain values.
    budgets
        What each learner must keep.

    Examples
    --------
    >>> from streamgauge import SEA, Landmark, NaiveBayes, Prequential
    >>> from streamgauge.labelling import AllLabels
    >>> from streamgauge.measures import accuracy
    >>> parts = {"scheme": Prequential(), "labelling": AllLabels(), "forgettings": [Landmark()], "detectors": {}}
    >>> parts |= {"stream": SEA(), "measures": [accuracy], "live_test": None, "options": {"seed": 3}}
    >>> call = describe_call(**parts, learners={"bayes": NaiveBayes()})
    >>> call["stream"], call["learners"], call["measures"], call["seed"], call["obstacles"]
    ('SEA()', {'bayes': 'NaiveBayes(seed=1)'}, ['accuracy'], 3, [])
    """
    sample = find_sample_folder(stream)
    of_sample = sample is not None and isinstance(labelling, HiddenLabels)
    parts: dict[str, object] = {
        **({} if sample is not None else {"stream": stream}),
        **{f"learner {name!r}": learner for name, learner in learners.items()},
        "scheme": scheme,
        **({} if of_sample else {"labelling": labelling}),
        **{f"forgetting {to_text(forgetting)}": forgetting for forgetting in forgettings},
        **{f"detector {name!r}": detector for name, detector in detectors.items()},
    }
    obstacles = [f"{part}: {obstacle}" for part, thing in parts.items() for obstacle in _find_obstacles(thing)]
    texts = {measure.name: _describe_measure(measure, stream) for measure in measures}
    obstacles += [f"measure {name!r}: it is a function of Python" for name, text in texts.items() if text is None]
    return {
        "stream": to_text(stream) if sample is None else None,
        "sample": None if sample is None else str(sample.resolve()),
        "learners": {name: to_text(learner) for name, learner in learners.items()},
        "scheme": to_text(scheme),
        "labelling": None if of_sample else to_text(labelling),
        "forgettings": [to_text(forgetting) for forgetting in forgettings],
        "measures": [text or name for name, text in texts.items()],
        "detectors": {name: to_text(detector) for name, detector in detectors.items()},
        "live_test": None if live_test is None else to_text(live_test),
        **({"budgets": list(map(str, budgets))} if budgets else {}),
        **options,
        "folder": str(Path.cwd()),
        "files": [facts.as_dict() for facts in list_files((stream, scheme))],
        "obstacles": list(dict.fromkeys(obstacles)),
    }


def _find_obstacles(thing: object) -> Iterator[str]:
    """Yield what in an object its text does not hold, each as the end of a sentence."""
    kind = type(thing)
    reason = _find_reason(thing)
    if isinstance(thing, PLAIN) or reason is not None:
        yield from () if reason is None else (reason,)
    elif isinstance(thing, tuple | list):
        for part in thing:
            yield from _find_obstacles(part)
    elif is_dataclass(thing) and kind.__module__.startswith("streamgauge.") and not kind.__name__.startswith("_"):
        for option in fields(thing):
            yield from _find_option_obstacles(thing, option)
    else:
        yield f"{to_text(thing)} is an object of {kind.__module__}.{kind.__qualname__}, which text cannot describe"


def _find_reason(thing: object) -> str | None:
    """Return why an object cannot be used again; None if it can."""
    if isinstance(thing, LiveStreamBase):
        return f"{to_text(thing)} is a live stream, whose rows cannot be read again"
    if isinstance(thing, np.ndarray | np.generic):
        return "it holds an array, which is not kept in a manifest"
    if isinstance(thing, File) and str(thing.path) == "-":
        return "standard input cannot be read again"
    return None


def _find_option_obstacles(owner: object, option: "Field[Any]") -> Iterator[str]:
    value = getattr(owner, option.name)
    if option.repr and option.init:
        yield from _find_obstacles(value)
    elif option.init and not (value is option.default or value == option.default):
        yield f"the option {option.name} of {type(owner).__name__} is not kept in a manifest"


def _describe_measure(measure: Measure, stream: Stream) -> str | None:
    """Return the text that names a measure; None if none does."""
    for text in (measure.name, to_text(measure)):
        try:
            (found,) = find_measures(text, stream)
        except (StreamgaugeError, TypeError):
            continue
        if found is measure or (type(found) is type(measure) and to_text(found) == to_text(measure)):
            return text if not any(_find_obstacles(measure)) or found is measure else None
    return None


@dataclass(frozen=True)
class FileFacts:
    """What identifies a file: its path, its size, when it was written, and a digest of contents and options.

    Examples
    --------
    >>> FileFacts("rows.csv", 120, "2026-01-31T12:00:00+00:00", "0123").as_dict()["bytes"]
    120
    """

    path: str
    bytes: int
    modified: str
    digest: str

    def as_dict(self) -> dict[str, object]:
        """Return the facts as plain values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def list_files(thing: object) -> Iterator[FileFacts]:
    """Yield the files that streams read, also those within other objects.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> list(list_files((SEA(), None)))
    []
    """
    if isinstance(thing, File):
        path = Path(thing.path)
        if path.is_file():
            facts = path.stat()
            modified = datetime.fromtimestamp(facts.st_mtime, UTC).isoformat()
            yield FileFacts(str(path.resolve()), facts.st_size, modified, thing.fingerprint)
    elif isinstance(thing, tuple | list):
        for part in thing:
            yield from list_files(part)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for option in fields(thing):
            yield from list_files(getattr(thing, option.name))


def restore_call(call: Mapping[str, Any], stream: Stream | None = None) -> dict[str, Any]:
    """Return the arguments of `evaluate` that a call describes.

    Parameters
    ----------
    call
        The call.
    stream
        The stream, if it has moved; None for that of the call.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> arguments = restore_call(evaluate(SEA(n_rows=100), NaiveBayes(), every=50).description["call"])
    >>> arguments["stream"] == SEA(n_rows=100), arguments["learners"], arguments["every"]
    (True, {'NaiveBayes': NaiveBayes(seed=1)}, 50)
    """
    streams = FAMILIES["streams"]()
    detectors = FAMILIES["detectors"]()
    folder, labelling = Path(call["folder"]), None
    if call["sample"] is not None:
        stream, labelling = open_test(call["sample"])
    elif stream is None:
        stream = restore_stream(call)
    if call["labelling"] is not None:
        labelling = make("labelling", call["labelling"], FAMILIES["labellings"]())
    learners = FAMILIES["learners"]()
    schemes = {**streams, **FAMILIES["schemes"]()}
    live_test = call["live_test"]
    unknown = call.keys() - _DESCRIBED - _OPTIONS
    if unknown:  # a manifest decides what is computed, not what is written or trusted
        msg = f"the manifest names arguments that no run writes into it: {', '.join(sorted(unknown))}"
        raise StreamgaugeError(msg)
    return {
        **{name: call[name] for name in _OPTIONS & call.keys()},
        "stream": stream,
        "learners": {
            name: make("learner", text, learners, within=detectors) for name, text in call["learners"].items()
        },
        "scheme": _resolve_paths(make("scheme", call["scheme"], schemes, within=_WITHIN_STREAMS), folder),
        "labelling": labelling,
        "forgetting": tuple(make("forgetting", text, FAMILIES["forgettings"]()) for text in call["forgettings"]),
        "measures": find_measures(call["measures"], stream),
        "detectors": {name: make("detector", text, detectors) for name, text in call["detectors"].items()},
        "live_test": None if live_test is None else make("live test", live_test, {"LiveTest": LiveTest}),
    }


def restore_stream(call: Mapping[str, Any]) -> Stream:
    """Return the stream that a call describes, which need not exist any more.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> restore_stream(evaluate(SEA(n_rows=100), NaiveBayes()).description["call"]) == SEA(n_rows=100)
    True
    """
    stream: Stream = _resolve_paths(
        make("stream", call["stream"], FAMILIES["streams"](), within=_WITHIN_STREAMS), Path(call["folder"])
    )
    return stream


def _resolve_paths(thing: Any, folder: Path) -> Any:  # noqa: ANN401
    """Return an object whose relative paths of files start from a folder; those that do not exist there stay."""
    if isinstance(thing, File):
        path = folder / thing.path
        return replace(thing, path=str(path)) if path.is_file() else thing
    if isinstance(thing, tuple):
        return tuple(_resolve_paths(part, folder) for part in thing)
    if not is_dataclass(thing) or isinstance(thing, type):
        return thing
    parts = {option.name: getattr(thing, option.name) for option in fields(thing) if option.init}
    moved = {name: _resolve_paths(part, folder) for name, part in parts.items()}
    changed = {name: part for name, part in moved.items() if part is not parts[name] and part != parts[name]}
    return replace(thing, **changed) if changed else thing


_OPTIONS = frozenset(
    {"score", "score_unlabelled_start", "every", "n_rows", "time_budget", "call_limit", "seed", "budgets"}
)
"""The options of `evaluate` that a call holds as they are."""

_DESCRIBED = {"stream", "sample", "learners", "scheme", "labelling", "forgettings", "measures", "detectors"}
_DESCRIBED |= {"live_test", "resumed", "folder", "files", "obstacles"}
