"""BibTeX entries of what a run used, from the references in the documentation of learners, streams and tests.

``assets/references.bib`` has the full entries of what this library refers to; a reference of another object is parsed.
"""

import inspect
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from streamgauge.names import FAMILIES
from streamgauge.records import RunData
from streamgauge.reports.title import get_part

__all__ = ["collect_references", "format_bibliography", "list_citations", "parse_reference", "to_bibtex"]

_INITIALS = r"[A-Z]\.(?:[ -]?[A-Z]\.)*"
_SURNAME = r"(?:(?:de|van|der|von|la|di) )*[A-Z][\w'-]*(?: [A-Z][\w'-]*)*(?: et al\.)?"
_AUTHOR = rf"{_INITIALS} {_SURNAME}"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_VENUE = r"(?P<venue>[^,]+?)(?: (?P<volume>\d{1,3}(?:\(\d+\))?))?,? "
_BEGINNINGS = (
    rf"(?P<authors>{_AUTHOR}(?:, {_AUTHOR})*(?: and {_AUTHOR})?), (?P<title>(?!{_INITIALS} )(?:(?!\d{{4}}[;.,]).)+), ",
    r'(?P<authors>[^"]+), "(?P<title>[^"]+)", ',
)
_FORMS = [re.compile(start + venue + _YEAR) for start in _BEGINNINGS for venue in (_VENUE, "(?P<venue>)(?P<volume>)")]
"""P. Domingos and G. Hulten, Title, KDD 2000. Or: Domingos and Hulten, "Title", KDD 2000."""

_END = re.compile(r"(?<=\d{4})(?:, section [\d.]+)?[.;]\s+(?=[A-Z]\.|[^.;\"]+, \")")
_NAMES = re.compile(r"[A-Za-z_]\w*")


ONLY_WITH = {"lyon2014hellinger": "hellinger"}
"""What the description of a learner must name for a reference to be about what was used."""

RELEASED = "2026"
"""The year of this version."""

PUBLISHERS = ("Springer", "Wiley")
"""Venues that are no journals or conferences."""


def parse_reference(text: str) -> dict[str, str]:
    """Return the parts of a reference; of one with another form, only a note.

    Examples
    --------
    >>> parts = parse_reference("P. Domingos and G. Hulten, Mining high-speed data streams, KDD 2000.")
    >>> parts["key"], parts["author"], parts["venue"], parts["year"]
    ('domingos2000mining', 'Domingos, P. and Hulten, G.', 'KDD', '2000')
    >>> parse_reference("The manual")
    {'key': 'themanual', 'note': 'The manual'}
    """
    known = next((known for form in _FORMS if (known := form.match(text)) is not None), None)
    if known is None:
        return {"key": "".join(_NAMES.findall(text.lower())[:3]), "note": text.rstrip(".")}
    authors = re.split(r", (?:and )?| and ", known["authors"].replace(" et al.", ", others"))
    surname = _to_key(re.sub(rf"^{_INITIALS} ", "", authors[0]))
    found = {
        "key": surname + known["year"] + _to_key(_NAMES.findall(known["title"])[0]),
        "author": " and ".join(re.sub(rf"^({_INITIALS}) (.+)", r"\2, \1", author) for author in authors),
        **{name: known[name] or "" for name in ("title", "venue", "volume", "year")},
    }
    return {name: value for name, value in found.items() if value}


def _to_key(word: str) -> str:
    """Return the plain letters of a word."""
    return re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", word.lower()))


def to_bibtex(parts: dict[str, str]) -> str:
    """Return a BibTeX entry.

    Examples
    --------
    >>> print(to_bibtex(parse_reference("P. Domingos and G. Hulten, Mining high-speed data streams, KDD 2000.")))
    @inproceedings{domingos2000mining,
      author = {Domingos, P. and Hulten, G.},
      title = {{Mining high-speed data streams}},
      booktitle = {KDD},
      year = {2000},
    }
    """
    kind = "article" if "volume" in parts else "inproceedings" if "venue" in parts else "misc"
    kind = "book" if parts.get("venue") in PUBLISHERS else kind
    venue = {"article": "journal", "book": "publisher"}.get(kind, "booktitle")
    fields = {venue if name == "venue" else name: value for name, value in parts.items() if name != "key"}
    if "title" in fields:
        fields["title"] = f"{{{fields['title']}}}"  # keeps its capitals
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{parts['key']},", *lines, "}"])


def collect_references(runs: Sequence[RunData], methods: Iterable[object] = ()) -> str:
    """Return the BibTeX entries of the learners, streams and schemes of some runs, of methods, and of this library.

    Parameters
    ----------
    runs
        The results of evaluations.
    methods
        Functions or classes whose documentation has references, such as tests.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> print(collect_references([evaluate("SEA(n_rows=100)", "HoeffdingTree")]).splitlines()[0])
    @misc{streamgauge,
    """
    known = list_citations(runs, {str(index): method for index, method in enumerate(methods)})
    return format_bibliography({key for keys in known.values() for key in keys})


def format_bibliography(keys: Iterable[str]) -> str:
    """Return the BibTeX entries of some keys of `list_citations`, and of this library.

    Examples
    --------
    >>> "author = {Holm, S.}," in format_bibliography(["holm1979a"])
    True
    """
    own = {
        "key": "streamgauge",
        "author": "{The streamgauge developers}",
        "title": "streamgauge: evaluation and comparison of data-stream classifiers",
        "year": RELEASED,
        "note": f"Version {version('streamgauge')}",
    }
    entries = {**_parse_known(), **_read_entries()}
    chosen = sorted(set(keys) - {"streamgauge"})
    return "\n\n".join([to_bibtex(own), *(entries[key] for key in chosen if key in entries)]) + "\n"


@cache
def _read_entries() -> dict[str, str]:
    """Return the entries of this library by their keys."""
    text = files("streamgauge.reports").joinpath("assets/references.bib").read_text(encoding="utf-8")
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in text.strip().split("\n\n")}


@cache
def _parse_known() -> dict[str, str]:
    """Return entries made from the references of all known objects, for those without a full one."""
    things = [thing for family in FAMILIES.values() for thing in family().values()]
    parsed = [parse_reference(text) for thing in things for text in list_references(thing)]
    return {parts["key"]: to_bibtex(parts) for parts in parsed}


def list_citations(runs: Sequence[RunData], methods: Mapping[str, object] | None = None) -> dict[str, list[str]]:
    """Return the keys of the entries of `collect_references` by the name of what they are of.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> list_citations([evaluate("SEA(n_rows=100)", "HoeffdingTree")])["HoeffdingTree"]
    ['domingos2000mining']
    """
    used = str([get_part(run.description, "learners") for run in runs])
    things = {**_find_things(runs), **(methods or {})}
    keys = {name: [parse_reference(text)["key"] for text in list_references(thing)] for name, thing in things.items()}
    kept = {
        name: list(dict.fromkeys(key for key in found if ONLY_WITH.get(key, "") in used))
        for name, found in keys.items()
    }
    return {name: found for name, found in kept.items() if found}


def list_references(thing: object) -> list[str]:
    """Return the references in the documentation of an object, each in one line.

    Examples
    --------
    >>> from streamgauge.learners import HoeffdingTree
    >>> list_references(HoeffdingTree)[0]
    'P. Domingos and G. Hulten, Mining high-speed data streams, KDD 2000.'
    """
    text = inspect.getdoc(thing) or ""
    _, _, section = text.partition("References\n----------\n")
    section = re.split(r"\n\n|\n\w+\n---", section)[0]
    joined = " ".join(section.split())
    parts = (part.strip() for part in _END.sub(".\n", joined).split("\n"))
    return [part for part in parts if part and not part.startswith("See ")]


def _find_things(runs: Sequence[RunData]) -> dict[str, object]:
    """Return by name the classes of learners, streams, schemes and forgettings that descriptions of runs name."""
    known = {name: thing for family in FAMILIES.values() for name, thing in family().items()}
    texts: list[str] = []
    for run in runs:
        stream, scheme = (get_part(run.description, part) for part in ("stream", "scheme"))
        texts += [str(part) for part in (stream.get("name"), stream.get("fingerprint"), scheme.get("name"))]
        texts += [str(facts) for facts in get_part(run.description, "learners").values()]
        texts += [*run.forgettings, *run.measures]
        texts += map(str, get_part(run.description, "detectors").values())
    names = dict.fromkeys(name for text in texts for name in _NAMES.findall(text) if name in known)
    return {name: known[name] for name in names}
