"""An experiment: streams x learners x schemes x labellings x seeds, and what is measured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from streamgauge._engine.schedule import Score, check_score
from streamgauge._foreign import adopt_scheme
from streamgauge._format.text import to_text
from streamgauge.drift import name_detectors
from streamgauge.errors import StreamgaugeError, require_at_least, require_between, require_whole
from streamgauge.experiments.stream_sources import SampleSource, Source
from streamgauge.forgetting import Landmark, Window
from streamgauge.learners import as_spec
from streamgauge.measures import depends_on_classes, expand_all, find_measures, measure
from streamgauge.names import FAMILIES, make
from streamgauge.protocols import DetectorSpec, Forgetting, LearnerSpec, Scheme
from streamgauge.schemes.wrapping import require_scheme
from streamgauge.significance import LiveTest
from streamgauge.significance.requirements import Requirement, as_requirements
from streamgauge.store import Condition, WantedResults

__all__ = ["MAKERS", "Experiment", "Job"]


def _make_learner(thing: object) -> LearnerSpec:
    known, within = FAMILIES["learners"](), FAMILIES["detectors"]()
    return as_spec(make("learner", thing, known, within=within) if isinstance(thing, str) else thing)


def _make_scheme(thing: object) -> Scheme:
    known = {**FAMILIES["streams"](), **FAMILIES["schemes"]()}
    scheme: Scheme = make("scheme", thing, known) if isinstance(thing, str) else thing  # type: ignore[assignment]
    require_scheme(scheme)
    return scheme


def _make_labelling(thing: object) -> Any:  # noqa: ANN401
    return make("labelling", thing, FAMILIES["labellings"]()) if isinstance(thing, str) else thing


def _make_forgetting(thing: object) -> Any:  # noqa: ANN401
    return make("forgetting", thing, FAMILIES["forgettings"]()) if isinstance(thing, str) else thing


def _make_detector(thing: object) -> Any:  # noqa: ANN401
    return make("detector", thing, FAMILIES["detectors"]()) if isinstance(thing, str) else thing


def _make_measures(thing: object) -> Any:  # noqa: ANN401
    return [measure(one) for one in expand_all(thing)]  # type: ignore[arg-type]


def _make_budget(thing: object) -> Requirement:
    return as_requirements([thing])[0]


def _make_live_measure(thing: object) -> str:
    LiveTest(measure=thing)
    return measure(thing).name  # type: ignore[arg-type]


MAKERS: dict[str, Any] = {
    "learners": _make_learner,
    "schemes": _make_scheme,
    "labellings": _make_labelling,
    "forgettings": _make_forgetting,
    "detectors": _make_detector,
    "measures": _make_measures,
    "live_measures": _make_live_measure,
    "budgets": _make_budget,
}
"""Functions that turn the text of each part of an experiment into an object; objects pass through."""


@dataclass(frozen=True)
class Job:
    """One run of an experiment: all learners on one stream under one scheme, one labelling and one seed.

    The fingerprint is that of the rows; empty if not known yet.

    Examples
    --------
    >>> experiment = Experiment("small", streams={"sea": Source("SEA", rows=100)}, learners={"last": "NoChange"})
    >>> [str(job.make_condition()) for job in experiment.list_jobs()]
    ['sea, seed 1']
    """

    experiment: "Experiment"
    name: str
    source: Source | SampleSource
    scheme: object
    labelling: object
    seed: int
    fingerprint: str = ""

    def make_condition(self) -> Condition:
        """Return the condition of the evaluation; reads the rows of a file unless the fingerprint is known."""
        own, source = self.experiment, self.source
        return Condition(
            stream=self.name,
            fingerprint=self.fingerprint or source.compute_fingerprint(self.seed),
            scheme=to_text(_make_scheme(self.scheme)),
            labelling=source.labelling_name
            if isinstance(source, SampleSource)
            else to_text(_make_labelling(self.labelling)),
            score=own.score,
            score_unlabelled_start=own.score_unlabelled_start,
            seed=self.seed,
            rows=own.rows if source.rows is None else source.rows,
            every=own.every,
            time_budget=own.time_budget,
            sample=source.sampling,
        )

    def describe_learners(self) -> dict[str, str]:
        """Return the learners by name, each as a text of everything that decides what it does."""
        return {name: f"{to_text(spec)} seed {spec.seed}" for name, spec in self.experiment.make_learners().items()}

    def make_request(self) -> WantedResults:
        """Return what the results must hold."""
        return self.experiment.make_request(_make_scheme(self.scheme))

    def __str__(self) -> str:
        return f"{self.name}, seed {self.seed}"


@dataclass(frozen=True)
class Experiment:
    """Many evaluations: every learner on every stream, under every scheme and labelling, with every seed.

    All parts are given as objects, or as text in the syntax of the command line.

    Parameters
    ----------
    name
        Name of the experiment.
    streams
        Streams by name.
    learners
        Learners by name.
    samples
        Samples of files; each has its own labelling.
    schemes, labellings, seeds
        Schemes, labellings and seeds of the evaluations.
    forgettings, measures, detectors, budgets
        As for `Evaluation`; the default forgetting is a landmark, and with `Holdout` the last test.
    live_measures
        Measures in which learners are compared during a run; none for the default of `LiveTest`.
    score, score_unlabelled_start, rows, every, time_budget, resources
        As for `Evaluation`; `rows` is its `n_rows`.
    checkpoint_every
        Rows between the checkpoints of a run, from which it resumes after a kill; None for about every 30 seconds, 0
        for none.

    Examples
    --------
    >>> experiment = Experiment(
    ...     "small",
    ...     streams={"sea": Source("SEA(seed={seed})", rows=1000)},
    ...     learners={"bayes": "NaiveBayes", "last": "NoChange"},
    ...     seeds=(1, 2),
    ... )
    >>> experiment.n_evaluations
    4
    """

    name: str
    streams: Mapping[str, Source] = field(default_factory=dict)
    learners: Mapping[str, object] = field(default_factory=dict)
    samples: tuple[SampleSource, ...] = ()
    schemes: tuple[object, ...] = ("Prequential",)
    labellings: tuple[object, ...] = ("AllLabels",)
    seeds: tuple[int, ...] = (1,)
    forgettings: tuple[object, ...] = ()
    measures: tuple[object, ...] = ("accuracy",)
    detectors: tuple[object, ...] = ()
    live_measures: tuple[object, ...] = ()
    budgets: tuple[object, ...] = ()
    score: Score = "first"
    score_unlabelled_start: bool = False
    rows: int | None = None
    every: int | None = None
    time_budget: float | None = None
    resources: bool = True
    checkpoint_every: int | None = None

    def __post_init__(self) -> None:
        limits = (("rows", self.rows, 1), ("every", self.every, 1), ("checkpoint_every", self.checkpoint_every, 0))
        for option, value, least in limits:
            if value is not None:
                require_at_least(option, value, least)
        for seed in self.seeds:
            require_at_least("seed", seed, 0)
        for part, things in (("stream", (*self.streams, *self.samples)), ("learner", self.learners)):
            if not things:
                msg = f"the experiment has no {part}"
                raise StreamgaugeError(msg)
        names = {"experiment": (self.name,), "stream": self.streams, "learner": self.learners}
        for kind, named in names.items():
            for name in named:
                require_whole(kind, str(name))
        object.__setattr__(self, "measures", expand_all(tuple(self.measures)))
        self._check_parts()

    def _check_parts(self) -> None:
        """Raise if a name or an option of a part is wrong, before the first run."""
        check_score(self.score)
        if self.time_budget is not None:
            require_between("time_budget", self.time_budget, 0.0, float("inf"))
        for part, make_part in MAKERS.items():
            things = getattr(self, part)
            for thing in things.values() if isinstance(things, Mapping) else things:
                make_part(thing)

    def check_classes(self) -> None:
        """Raise if a measure does not fit the classes of a stream; streams that cannot be opened are left out."""
        named = [*self.measures, *self.live_measures, *(budget.measure for budget in self.make_budgets())]
        wanted = list({known.name: known for known in map(measure, named)}.values())  # type: ignore[arg-type]
        if not any(map(depends_on_classes, wanted)):
            return
        for name, source in self.streams.items():
            try:
                stream = source.find(self.seeds[0]).stream
                _ = stream.schema
            except (StreamgaugeError, OSError):
                continue  # its run fails, and says why
            try:
                find_measures(wanted, stream)
            except StreamgaugeError as error:
                msg = f"{name}: {error}"
                raise StreamgaugeError(msg) from None

    def list_jobs(self) -> Iterator[Job]:
        """Yield all runs."""
        grid = product(self.streams.items(), self.schemes, self.labellings, self.seeds)
        for (name, source), scheme, labelling, seed in grid:
            yield Job(experiment=self, name=name, source=source, scheme=scheme, labelling=labelling, seed=seed)
        for sample, scheme, seed in product(self.samples, self.schemes, self.seeds):
            yield Job(experiment=self, name=sample.stream_name, source=sample, scheme=scheme, labelling=None, seed=seed)

    @property
    def n_evaluations(self) -> int:
        """Number of evaluations of a learner."""
        n_conditions = len(self.streams) * len(self.labellings) + len(self.samples)
        return n_conditions * len(self.schemes) * len(self.seeds) * len(self.learners)

    def make_learners(self) -> dict[str, LearnerSpec]:
        """Return the learners by name."""
        return {name: _make_learner(thing) for name, thing in self.learners.items()}

    def make_forgettings(self, scheme: Scheme) -> tuple[Forgetting, ...]:
        """Return the forgettings; if none is given, the default of a scheme."""
        forgettings: tuple[Forgetting, ...] = tuple(map(_make_forgetting, self.forgettings))
        period = adopt_scheme(scheme).period  # rows between the tests of a holdout, and rows of a test
        return forgettings or ((Landmark(),) if period is None else (Window(period[1]),))

    def make_detectors(self) -> dict[str, DetectorSpec]:
        """Return the detectors by name."""
        return name_detectors([_make_detector(thing) for thing in self.detectors])

    def make_live_test(self) -> LiveTest:
        """Return how learners are compared during a run."""
        return LiveTest(measure=self.live_measures or None)

    def make_budgets(self) -> tuple[Requirement, ...]:
        """Return what each learner must keep."""
        return as_requirements(self.budgets)

    def make_request(self, scheme: Scheme) -> WantedResults:
        """Return what the results of a run must hold."""
        return WantedResults(
            measures=tuple(measure(thing).name for thing in self.measures),  # type: ignore[arg-type]
            forgettings=tuple(to_text(forgetting) for forgetting in self.make_forgettings(scheme)),
            detectors=tuple(self.make_detectors()),
            live_measures=tuple(map(_make_live_measure, self.live_measures)),
            budgets=tuple(map(str, self.make_budgets())),
            resources=self.resources,
        )
