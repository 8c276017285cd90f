"""Selection of runs by stream, learner, scheme and so on."""

from dataclasses import dataclass, fields
from fnmatch import fnmatchcase

from streamgauge.errors import unknown_name

__all__ = ["Filter"]


@dataclass(frozen=True)
class Filter:
    """A selection of rows of the catalogue; an empty field selects all.

    A text matches the whole name, the name without its options (``Bootstrap`` matches ``Bootstrap(k=10)``), or is a
    pattern such as ``skin*``. Several texts in one field select any of them.

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
        """Return whether a row is selected; fields that the row does not have are ignored."""
        return all(
            any(_matches(str(row[axis]), text) for text in texts)
            for axis, texts in self._list_texts().items()
            if texts and axis in row
        )

    def check(self, rows: list[dict[str, object]]) -> None:
        """Raise if a text matches no row at all; the error suggests the nearest name."""
        for axis, texts in self._list_texts().items():
            known = {str(row[axis]) for row in rows if axis in row}
            for text in texts:
                if known and not any(_matches(name, text) for name in known):
                    raise unknown_name(kind=f"{axis} among these results called", name=text, known=known)

    def _list_texts(self) -> dict[str, tuple[str, ...]]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _matches(name: str, text: str) -> bool:
    return text in (name, name.partition("(")[0]) or fnmatchcase(name, text)
