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
    """A run: what it does, on which rows, with which options; once it has ended also how, with the drifts it met.

    Checkpoints also name the recorders, and runs of an experiment their place in it.
    """

    live: NotRequired[dict[str, Any]]
    stream: StreamFacts
    drifts: NotRequired[list[dict[str, Any]]]
    learners: dict[str, LearnerFacts]
    scheme: SchemeFacts
    labelling: str
    score: str
    score_unlabelled_start: NotRequired[bool]
    forgettings: list[str]
    measures: dict[str, dict[str, Any]]
    detectors: dict[str, str]
    every: int
    time_limit: float | None
    time_budget: float | None
    call_limit: NotRequired[float]
    live_test: str | None
    budgets: NotRequired[list[str]]
    seed: int
    call: dict[str, Any]
    seconds: NotRequired[float]
    ended_by: NotRequired[str]
    notes: NotRequired[list[str]]
    tested: NotRequired[str]
    recorders: NotRequired[list[str]]
    experiment: NotRequired[str]
    condition: NotRequired[str]
    sample: NotRequired[dict[str, Any]]
    asked: NotRequired[dict[str, Any]]
