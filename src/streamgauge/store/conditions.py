"""What a run is of: the condition its learners share, and what was asked for of them."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Asked", "Condition", "digest"]


def digest(*parts: object) -> str:
    """Give a short text that differs where the parts do.

    Examples
    --------
    >>> digest("a", 1) == digest("a", 1), digest("a", 1) == digest("a", 2)
    (True, False)
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Condition:
    """Under which a learner is evaluated; two evaluations of one learner under one condition give the same numbers.

    Parameters
    ----------
    stream
        What the stream is called.
    fingerprint
        That of its rows; of a sample, that of the file it is drawn from.
    scheme, labelling
        As they are written with their options.
    score, seed, rows, every, time_budget
        As for `Evaluation`; `rows` is its `n_rows`.
    sample
        Of a sample, how it is drawn; else nothing.

    Examples
    --------
    >>> one = Condition("SEA", "sea-1", "Prequential()", "AllLabels()", seed=1)
    >>> one.key == Condition("SEA", "sea-1", "Prequential()", "AllLabels()", seed=2).key
    False
    """

    stream: str
    fingerprint: str
    scheme: str
    labelling: str
    score: str = "first"
    seed: int = 1
    rows: int | None = None
    every: int | None = None
    time_budget: float | None = None
    sample: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A short text that differs where a condition does."""
        return digest(asdict(self))

    def __str__(self) -> str:
        """Name what sets a condition apart from others."""
        usual = {"Prequential(test='all')", "AllLabels()"}
        said = (self.stream, self.scheme, self.labelling, f"seed {self.seed}")
        return ", ".join(part for part in said if part and part not in usual)


@dataclass(frozen=True)
class Asked:
    """What was asked for of every learner of a run, and what its results therefore hold.

    Examples
    --------
    >>> Asked(("accuracy", "kappa"), ("Landmark()",)).covers(Asked(("kappa",), ("Landmark()",)))
    True
    """

    measures: tuple[str, ...]
    forgettings: tuple[str, ...]
    detectors: tuple[str, ...] = ()
    resources: bool = False

    def covers(self, other: "Asked") -> bool:
        """Say whether results that hold this hold all of another, too."""
        names = ("measures", "forgettings", "detectors")
        held = all(set(getattr(self, name)) >= set(getattr(other, name)) for name in names)
        return held and self.resources >= other.resources

    @classmethod
    def from_text(cls, text: str) -> "Asked":
        """Read what `as_text` wrote."""
        facts: dict[str, Any] = json.loads(text)
        for name in ("measures", "forgettings", "detectors"):
            facts[name] = tuple(facts[name])
        return cls(**facts)

    @property
    def as_text(self) -> str:
        """What was asked for, as JSON."""
        return json.dumps(asdict(self))
