"""The public Results class, results as files and tables, and recorders."""

from streamgauge.results.files import build_manifest, holds_results, load, save
from streamgauge.results.recorders import ConfusionMatrices, Misclassified, Predictions
from streamgauge.results.results import Results
from streamgauge.results.tables import tabulate_readings, tabulate_resources, write_table

__all__ = [
    "ConfusionMatrices",
    "Misclassified",
    "Predictions",
    "Results",
    "build_manifest",
    "holds_results",
    "load",
    "save",
    "tabulate_readings",
    "tabulate_resources",
    "write_table",
]
