"""An experiment: streams x learners x schemes x labellings x seeds, and what is measured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from streamgauge._format.text import to_text
from streamgauge.drift import name_detectors
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.experiments.stream_sources import Sample, Source
from streamgauge.forgetting import Landmark, Window
from streamgauge.learners import as_spec
from streamgauge.measures import measure
from streamgauge.names import FAMILIES, make
from streamgauge.protocols import DetectorSpec, Forgetting, LearnerSpec, Scheme
from streamgauge.schemes.prequential import require_scheme
from streamgauge.store import Asked, Condition

__all__ = ["Experiment", "Job"]


def _learner(thing: object) -> LearnerSpec:
    known, within = FAMILIES["learners"](), FAMILIES["detectors"]()
    return as_spec(make("learner", thing, known, within=within) if isinstance(thing, str) else thing)


def _scheme(thing: object) -> Scheme:
    known = {**FAMILIES["streams"](), **FAMILIES["schemes"]()}
    found: Any = make("scheme", thing, known) if isinstance(thing, str) else thing
    require_scheme(found)
    scheme: Scheme = found
    return scheme


def _made(kind: str, family: str) -> Any:  # noqa: ANN401
    return lambda thing: make(kind, thing, FAMILIES[family]()) if isinstance(thing, str) else thing


MADE: dict[str, Any] = {
    "learners": _learner,
    "schemes": _scheme,
    "labellings": _made("labelling", "labellings"),
    "forgettings": _made("forgetting", "forgettings"),
    "detectors": _made("detector", "detectors"),
    "measures": measure,
}
"""Per part of an experiment, what makes an object of a text."""


@dataclass(frozen=True)
class Job:
    """One run of an experiment: all learners on one stream under one scheme, one labelling and one seed.

    Its fingerprint is that of the rows, where it is known already.

    Examples
    --------
    >>> experiment = Experiment("small", streams={"sea": Source("SEA", rows=100)}, learners={"last": "NoChange"})
    >>> [str(job.condition()) for job in experiment.jobs()]
    ['sea, seed 1']
    """

    experiment: "Experiment"
    name: str
    source: Source | Sample
    scheme: object
    labelling: object
    seed: int
    fingerprint: str = ""

    def condition(self) -> Condition:
        """Say under which condition the learners are evaluated; looks at the rows of a file."""
        own = self.experiment
        rows = own.rows if self.source.rows is None else self.source.rows
        return Condition(
            stream=self.name,
            fingerprint=self.fingerprint or self.source.fingerprint(self.seed),
            scheme=to_text(MADE["schemes"](self.scheme)),
            labelling=self._labelling_name,
            score=own.score,
            seed=self.seed,
            rows=rows,
            every=own.every,
            time_budget=own.time_budget,
            sample=self.source.sampled,
        )

    @property
    def _labelling_name(self) -> str:
        if isinstance(self.source, Sample):
            return self.source.labelling_name
        return to_text(MADE["labellings"](self.labelling))

    def learners(self) -> dict[str, str]:
        """Give per name of a learner all that decides what it does, as a text."""
        return {name: f"{to_text(spec)} seed {spec.seed}" for name, spec in self.experiment.specs().items()}

    def asked(self) -> Asked:
        """Say what the results must hold."""
        return self.experiment.asked(MADE["schemes"](self.scheme))

    def __str__(self) -> str:
        """Name it for people."""
        return f"{self.name}, seed {self.seed}"


@dataclass(frozen=True)
class Experiment:
    """Many evaluations: every learner on every stream, under every scheme and labelling, with every seed.

    Objects are given as they are, or as the texts that the command line takes.

    Parameters
    ----------
    name
        What it is called.
    streams
        The streams by name.
    learners
        The learners by name.
    samples
        Samples of files; they bring their own labelling.
    schemes, labellings, seeds
        What each learner is evaluated with on each stream.
    forgettings, measures, detectors
        As for `Evaluation`; no forgetting stands for a landmark, or with `Holdout` for the last test.
    score, rows, every, time_budget, resources
        As for `Evaluation`; `rows` is its `n_rows`.
    checkpoint_every
        A run writes a checkpoint after so many rows, to go on from where it is killed; None for about every 30
        seconds, 0 for never.

    Examples
    --------
    >>> experiment = Experiment(
    ...     "small",
    ...     streams={"sea": Source("SEA(seed={seed})", rows=1000)},
    ...     learners={"bayes": "NaiveBayes", "last": "NoChange"},
    ...     seeds=(1, 2),
    ... )
    >>> experiment.n_cells
    4
    """

    name: str
    streams: Mapping[str, Source] = field(default_factory=dict)
    learners: Mapping[str, object] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    schemes: tuple[object, ...] = ("Prequential",)
    labellings: tuple[object, ...] = ("AllLabels",)
    seeds: tuple[int, ...] = (1,)
    forgettings: tuple[object, ...] = ()
    measures: tuple[object, ...] = ("accuracy",)
    detectors: tuple[object, ...] = ()
    score: str = "first"
    rows: int | None = None
    every: int | None = None
    time_budget: float | None = None
    resources: bool = True
    checkpoint_every: int | None = None

    def __post_init__(self) -> None:
        for option, least in (("rows", 1), ("every", 1), ("checkpoint_every", 0)):
            if getattr(self, option) is not None:
                require_at_least(option, getattr(self, option), least)
        for seed in self.seeds:
            require_at_least("seed", seed, 0)
        for part, things in (("stream", (*self.streams, *self.samples)), ("learner", self.learners)):
            if not things:
                msg = f"the experiment has no {part}"
                raise StreamgaugeError(msg)

    def jobs(self) -> Iterator[Job]:
        """Give all runs."""
        grid = product(self.streams.items(), self.schemes, self.labellings, self.seeds)
        for (name, source), scheme, labelling, seed in grid:
            yield Job(self, name, source, scheme, labelling, seed)
        for sample, scheme, seed in product(self.samples, self.schemes, self.seeds):
            yield Job(self, sample.stream_name, sample, scheme, None, seed)

    @property
    def n_cells(self) -> int:
        """How many evaluations of a learner there are."""
        n_conditions = len(self.streams) * len(self.labellings) + len(self.samples)
        return n_conditions * len(self.schemes) * len(self.seeds) * len(self.learners)

    def specs(self) -> dict[str, LearnerSpec]:
        """Make the learners."""
        return {name: _learner(thing) for name, thing in self.learners.items()}

    def made_forgettings(self, scheme: Scheme) -> tuple[Forgetting, ...]:
        """Make the forgettings; by default the usual one of a scheme."""
        made: tuple[Forgetting, ...] = tuple(map(MADE["forgettings"], self.forgettings))
        period = getattr(scheme, "period", None)  # of a holdout, and the size of its tests
        return made or ((Landmark(),) if period is None else (Window(period[1]),))

    def made_detectors(self) -> dict[str, DetectorSpec]:
        """Make the detectors."""
        made = [MADE["detectors"](thing) for thing in self.detectors]
        return name_detectors(made)

    def asked(self, scheme: Scheme) -> Asked:
        """Say what the results of a run must hold."""
        return Asked(
            tuple(MADE["measures"](thing).name for thing in self.measures),
            tuple(to_text(one) for one in self.made_forgettings(scheme)),
            tuple(self.made_detectors()),
            self.resources,
        )
