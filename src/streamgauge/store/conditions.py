"""The identity of a run: the condition its learners share, and what its results must hold."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from streamgauge.records.manifest import RunManifest

__all__ = ["Condition", "WantedResults", "compute_digest"]


def compute_digest(*parts: object) -> str:
    """Return a short digest that differs if the parts do.

    Examples
    --------
    >>> compute_digest("a", 1) == compute_digest("a", 1), compute_digest("a", 1) == compute_digest("a", 2)
    (True, False)
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Condition:
    """The condition of an evaluation: one learner evaluated twice under one condition gives the same numbers.

    Parameters
    ----------
    stream
        Name of the stream.
    fingerprint
        Fingerprint of its rows; for a sample, that of the file it is drawn from.
    scheme, labelling
        Scheme and labelling as text, with their options.
    score, score_unlabelled_start, seed, rows, every, time_budget
        As for `Evaluation`; `rows` is its `n_rows`.
    sample
        How a sample is drawn; empty for other streams.

    Examples
    --------
    >>> condition = Condition("SEA", "sea-1", "Prequential()", "AllLabels()", seed=1)
    >>> condition.key == Condition("SEA", "sea-1", "Prequential()", "AllLabels()", seed=2).key
    False
    """

    stream: str
    fingerprint: str
    scheme: str
    labelling: str
    score: str = "first"
    score_unlabelled_start: bool = False
    seed: int = 1
    rows: int | None = None
    every: int | None = None
    time_budget: float | None = None
    sample: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A digest of the condition."""
        return compute_digest(asdict(self))

    def __str__(self) -> str:
        """Return the parts that distinguish the condition; the usual scheme and labelling are left out."""
        usual = {"Prequential(test='all')", "AllLabels()"}
        parts = (self.stream, self.scheme, self.labelling, f"seed {self.seed}")
        return ", ".join(part for part in parts if part and part not in usual)


@dataclass(frozen=True)
class WantedResults:
    """What the results of every learner of a run must hold.

    Examples
    --------
    >>> WantedResults(("accuracy", "kappa"), ("Landmark()",)).covers(WantedResults(("kappa",), ("Landmark()",)))
    True
    """

    measures: tuple[str, ...]
    forgettings: tuple[str, ...]
    detectors: tuple[str, ...] = ()
    live_measures: tuple[str, ...] = ()
    budgets: tuple[str, ...] = ()
    resources: bool = False

    def covers(self, other: "WantedResults") -> bool:
        """Return whether results of this request hold everything that another one needs."""
        return (
            set(self.measures) >= set(other.measures)
            and set(self.forgettings) >= set(other.forgettings)
            and set(self.detectors) >= set(other.detectors)
            and set(self.live_measures) >= set(other.live_measures)
            and set(self.budgets) >= set(other.budgets)
            and self.resources >= other.resources
        )

    @classmethod
    def of(cls, run: RunManifest) -> "WantedResults":
        """Return what was asked for in a run of a store."""
        facts = run.description["asked"]
        texts = {name: tuple(fact) for name, fact in facts.items() if name != "resources"}
        return cls(**texts, resources=facts["resources"])
