"""Experiments: streams x learners x schemes x labellings x seeds from one file; only missing runs are run.

`rerun` repeats a saved run.
"""

from streamgauge.experiments.experiment import Experiment
from streamgauge.experiments.jobs import Event
from streamgauge.experiments.ready import READY, get_ready_path
from streamgauge.experiments.repetition import Rerun, rerun
from streamgauge.experiments.run import ExperimentOutcome, find_missing, run
from streamgauge.experiments.stream_sources import SampleSource, Source
from streamgauge.experiments.toml_reader import read, read_out_folder

__all__ = [
    "READY",
    "Event",
    "Experiment",
    "ExperimentOutcome",
    "Rerun",
    "SampleSource",
    "Source",
    "find_missing",
    "get_ready_path",
    "read",
    "read_out_folder",
    "rerun",
    "run",
]
