"""Experiments: streams x learners x schemes x labellings x seeds, from one file, run as far as results are missing."""

from streamgauge.experiments.experiment import Experiment
from streamgauge.experiments.jobs import Event
from streamgauge.experiments.ready import READY, ready_path
from streamgauge.experiments.run import ExperimentOutcome, missing, run
from streamgauge.experiments.stream_sources import Sample, Source
from streamgauge.experiments.toml_reader import out_of, read

__all__ = [
    "READY",
    "Event",
    "Experiment",
    "ExperimentOutcome",
    "Sample",
    "Source",
    "missing",
    "out_of",
    "read",
    "ready_path",
    "run",
]
