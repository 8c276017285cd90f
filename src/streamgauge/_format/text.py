"""Text for people: names of configured objects and streams, counts, lists of words."""

import platform
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import PurePath

import numpy as np

from streamgauge._format.durations import format_duration

__all__ = [
    "count",
    "describe_forgetting",
    "describe_platform",
    "join_words",
    "make_printable",
    "shorten_stream_name",
    "shorten_stream_names",
    "strip_seeds",
    "to_text",
]


def to_text(thing: object) -> str:
    """Return a configured object as text, with its first option and all options that differ from their defaults.

    Examples
    --------
    >>> from streamgauge import AdwinWindow, Bootstrap, RandomRBF
    >>> to_text(AdwinWindow()), to_text(Bootstrap(5, test="training")), to_text(RandomRBF(speed=0.001))
    ('AdwinWindow(delta=0.002)', "Bootstrap(k=5, test='training')", 'RandomRBF(speed=0.001)')
    >>> import numpy as np
    >>> to_text(Bootstrap), to_text((1, None)), to_text(np.float64(0.5))
    ("<class 'streamgauge.schemes.folds.Bootstrap'>", '(1, None)', 'np.float64(0.5)')
    >>> from pathlib import Path
    >>> to_text(Path("rows.csv"))
    "'rows.csv'"

    An object without a ``__repr__`` is named by its class and its plain attributes, the same in every process:

    >>> class Own:
    ...     def __init__(self, width):
    ...         self.width, self.seen = width, {}
    >>> to_text(Own(width=5))
    'Own(width=5)'
    """
    if isinstance(thing, PurePath):
        return repr(str(thing))
    if isinstance(thing, tuple):
        return f"({', '.join(to_text(part) for part in thing)}{',' if len(thing) == 1 else ''})"
    if type(thing).__repr__ is object.__repr__:
        return f"{type(thing).__name__}({', '.join(_list_plain_attributes(thing))})"
    if not is_dataclass(thing) or isinstance(thing, type) or not _has_generated_repr(type(thing)):
        try:
            text = " ".join(repr(thing).split())  # River's models span several lines
        except Exception:  # that of a user's class, or of River's SelectType(float, int)
            return f"{type(thing).__name__}({', '.join(_list_plain_attributes(thing))})"
        return re.sub(r" at 0x[0-9a-fA-F]+", "", text)  # a memory address differs from process to process
    options = []
    for index, option in enumerate(option for option in fields(thing) if option.init and option.repr):
        value = getattr(thing, option.name)
        default = None if index == 0 and not option.kw_only else option.default
        if not _is_default(value, default):
            options.append(f"{option.name}={to_text(value)}")
    return f"{type(thing).__name__}({', '.join(options)})"


def _list_plain_attributes(thing: object) -> list[str]:
    try:
        attributes = vars(thing)
    except TypeError:  # an object with slots
        attributes = {}
    return [f"{name}={value!r}" for name, value in attributes.items() if isinstance(value, int | float | str | None)]


def _has_generated_repr(kind: type) -> bool:
    return bool(kind.__dataclass_params__.repr)  # type: ignore[attr-defined]


def _is_default(value: object, default: object) -> bool:
    """Return whether an option can be omitted; columns of data always are."""
    return isinstance(value, np.ndarray | np.generic) or value == default


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1_000_000, "row")
    ('1 row', '1,000,000 rows')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def join_words(words: Sequence[str]) -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> join_words(["accuracy", "kappa", "kappa_m"])
    'accuracy, kappa and kappa_m'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def make_printable(text: str) -> str:
    r"""Replace control characters and invalid code points, which must not reach a terminal or a page.

    Examples
    --------
    >>> make_printable("tree\x1b[31m")
    'tree�[31m'
    """
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


_FILE = re.compile(r"""File\(path=(?P<quote>['"])(?P<path>.*?)(?P=quote)(?:, (?:[^()]|\([^()]*\))*)?\)""")
_COMPRESSED = (".gz", ".zip", ".zst", ".bz2", ".xz")


def shorten_stream_name(name: str) -> str:
    """Return the name of a stream with files shortened to their names, without folder and suffix.

    Examples
    --------
    >>> shorten_stream_name("File(path='data/electricity.arff.gz')"), shorten_stream_name("SEA(seed=2)")
    ('electricity', 'SEA(seed=2)')
    >>> shorten_stream_name("Noisy(stream=File(path='rows.csv', drop=('id',)), share=0.1)")
    'Noisy(stream=rows, share=0.1)'
    """
    return _FILE.sub(_get_stem, name)


def _get_stem(match: "re.Match[str]") -> str:
    path = PurePath(match["path"])
    return PurePath(path.stem if path.suffix in _COMPRESSED else path).stem or match[0]


def strip_seeds(name: str, seed: str = r"\d+") -> str:
    """Return the name of a stream without its seeds, or those that are one number.

    Examples
    --------
    >>> strip_seeds("RandomRBF(speed=0.1, seed=2)"), strip_seeds("SEA(seed=2)", "3"), strip_seeds("Sine(sample=1, x=2)")
    ('RandomRBF(speed=0.1)', 'SEA(seed=2)', 'Sine(x=2)')
    """
    option = rf"\b(?:seed|sample)={seed}\b"
    return re.sub(rf"{option}, |(?:, )?{option}", "", name)


def shorten_stream_names(names: Sequence[str]) -> tuple[str, ...]:
    """Shorten the names of several streams, except where two short names would be equal.

    Examples
    --------
    >>> shorten_stream_names(["File(path='a/rows.csv')", "File(path='b/rows.csv')", "File(path='a/other.csv')"])
    ("File(path='a/rows.csv')", "File(path='b/rows.csv')", 'other')
    """
    short = {name: shorten_stream_name(name) for name in names}
    counts = Counter(short.values())
    return tuple(short[name] if counts[short[name]] == 1 else name for name in names)


_FORGETTINGS = {
    r"Landmark\(\)": "over all rows",
    r"Window\(width=(\d+)\)": "over the last {:,} rows",
    r"Tumbling\(width=(\d+)\)": "over consecutive windows of {:,} rows",
    r"Fading\(factor=([\d.e+-]+)\)": "with fading factor {:g}",
    r"Fading\(factor=([\d.e+-]+), chunk=(\d+)\)": "with fading factor {:g} per chunk of {:,} rows",
    r"EWMA\(alpha=([\d.e+-]+)\)": "as an EWMA with alpha {:g}",
    r"AdwinWindow\(delta=([\d.e+-]+)\)": "over an ADWIN window with delta {:g}",
}


def describe_forgetting(text: str) -> str:
    """Return in words over which rows a forgetting computes measures, from its text form.

    Examples
    --------
    >>> describe_forgetting("Landmark()"), describe_forgetting("Window(width=1000)"), describe_forgetting("Mine(5)")
    ('over all rows', 'over the last 1,000 rows', 'over Mine(5)')
    >>> describe_forgetting("Window(width=1000, moa_compatible=True)")
    'over the last 1,000 rows (counted as in MOA)'
    >>> describe_forgetting("TimeWindow(span='7 days')"), describe_forgetting("TimeWindow(span=5400.0)")
    ('over the last 7 days', 'over the last 1 h 30 min')
    """
    plain = re.sub(r"(, )?moa_compatible=True", "", text)
    if match := re.fullmatch(r"TimeWindow\(span=(?:([\d.e+-]+)|'([^']*)')\)", plain):
        return f"over the last {match[2] or format_duration(float(match[1]))}"
    for pattern, phrase in _FORGETTINGS.items():
        if match := re.fullmatch(pattern, plain):
            words = phrase.format(*(int(value) if value.isdigit() else float(value) for value in match.groups()))
            return words if plain == text else f"{words} (counted as in MOA)"
    return f"over {text}"


def describe_platform() -> str:
    """Return the operating system and C library, without starting a process as `platform.platform` does.

    Examples
    --------
    >>> describe_platform().startswith(platform.system())
    True
    """
    libc = "".join(platform.libc_ver())
    return "-".join(filter(None, (platform.system(), platform.release(), platform.machine(), libc)))
