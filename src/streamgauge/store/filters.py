"""Which runs are meant: by stream, learner, scheme and so on."""

from dataclasses import dataclass, fields
from fnmatch import fnmatchcase

from streamgauge.errors import unknown_name

__all__ = ["Filter"]


@dataclass(frozen=True)
class Filter:
    """Says which rows of the catalogue are meant; a field left empty means all.

    A text fits the whole name, the name before its options (``Bootstrap`` fits ``Bootstrap(k=10)``), or is a pattern
    such as ``skin*``. Several texts of one field mean any of them.

    Examples
    --------
    >>> Filter(scheme=("Bootstrap",)).fits({"scheme": "Bootstrap(k=10)", "learner": "NaiveBayes"})
    True
    >>> Filter(learner=("Hoeffding*",)).fits({"scheme": "Bootstrap(k=10)", "learner": "NaiveBayes"})
    False
    """

    run: tuple[str, ...] = ()
    experiment: tuple[str, ...] = ()
    stream: tuple[str, ...] = ()
    learner: tuple[str, ...] = ()
    scheme: tuple[str, ...] = ()
    labelling: tuple[str, ...] = ()
    seed: tuple[str, ...] = ()
    measure: tuple[str, ...] = ()
    forgetting: tuple[str, ...] = ()
    status: tuple[str, ...] = ()

    def fits(self, row: dict[str, object]) -> bool:
        """Say whether a row is meant; what a row does not have is not asked of it."""
        return all(
            any(_fits(str(row[one.name]), text) for text in getattr(self, one.name))
            for one in fields(self)
            if getattr(self, one.name) and one.name in row
        )

    def check(self, rows: list[dict[str, object]]) -> None:
        """Raise where a text fits nothing at all, with the nearest name that would."""
        for one in fields(self):
            known = {str(row[one.name]) for row in rows if one.name in row}
            for text in getattr(self, one.name):
                if known and not any(_fits(name, text) for name in known):
                    raise unknown_name(kind=f"{one.name} among these results called", name=text, known=known)


def _fits(name: str, text: str) -> bool:
    return text in (name, name.partition("(")[0]) or fnmatchcase(name, text)
