"""Streams by what a person calls them: a path, a name, or a name with options."""

from pathlib import Path

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.protocols import Labelling, Stream
from streamgauge.specs.families import FAMILIES
from streamgauge.specs.texts import make

__all__ = ["find_labelled_stream", "find_stream"]


def find_stream(text: str) -> Stream:
    """Find a stream: a file by its path, a real or a ready-made one by its name, or one with options.

    Examples
    --------
    >>> find_stream("SEA(n_rows=100)").n_rows
    100
    >>> find_stream("electrcity")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no stream 'electrcity'; did you mean electricity?
    """
    return find_labelled_stream(text)[0]


def find_labelled_stream(text: str) -> tuple[Stream, Labelling | None]:
    """Find a stream and, where it says itself which labels are hidden, its labelling.

    A folder that `sample` wrote is its test set, with the labelling that hides what was hidden.

    Examples
    --------
    >>> find_labelled_stream("SEA(n_rows=100)")[1] is None
    True
    """
    from streamgauge.streams import DATASETS, File, load, open_test  # noqa: PLC0415

    if (Path(text) / "recipe.json").is_file():
        return open_test(text)
    path = Path(text)
    if (path.exists() and not path.is_dir()) or text == "-" or (path.suffix and "(" not in text):
        return File(text), None
    if text in DATASETS:
        return load(text), None
    known = FAMILIES["streams"]()
    if "(" not in text and text not in known:
        if path.is_dir():
            msg = f"{text} is a folder that 'streamgauge sample' did not write: there is no recipe.json in it"
            raise StreamgaugeError(msg)
        raise unknown_name(kind="stream", name=text, known={**known, **DATASETS})
    found: Stream = make("stream", text, known)
    return found, None
