"""What describes a run in results, checkpoints and journals, as it is written to files."""

from typing import Any, NotRequired, TypedDict

__all__ = ["LearnerFacts", "RunDescription", "SchemeFacts", "StreamFacts"]


class StreamFacts(TypedDict):
    """The rows of a run: the stream as text, its fingerprint, and the number of rows read or planned."""

    name: str
    fingerprint: str | None
    n_rows: int | None


class LearnerFacts(TypedDict):
    """A learner as text, and whether its seed changes nothing."""

    spec: str
    seedless: bool


class SchemeFacts(TypedDict):
    """A scheme as text, and what tests must know of it."""

    name: str
    n_folds: int
    test: str
    resampling: NotRequired[str]
    repetitions: NotRequired[int]
    repeats_tests: NotRequired[bool]


class RunDescription(TypedDict):
    """A run: what it did, on which rows, with which options, and how it ended.

    Checkpoints hold it without what may differ when a run resumes; the manifest of results holds all of it.
    """

    live: NotRequired[dict[str, Any]]
    stream: StreamFacts
    drifts: list[dict[str, Any]]
    learners: dict[str, LearnerFacts]
    scheme: SchemeFacts
    labelling: str
    score: str
    score_unlabelled_start: NotRequired[bool]
    forgettings: list[str]
    measures: dict[str, dict[str, Any]]
    detectors: list[str]
    every: int
    time_limit: float | None
    time_budget: float | None
    live_test: str | None
    budgets: NotRequired[list[str]]
    seed: int
    seconds: float
    ended_by: str
    call: dict[str, Any]
    notes: NotRequired[list[str]]
    tested: NotRequired[str]
    experiment: NotRequired[str]
