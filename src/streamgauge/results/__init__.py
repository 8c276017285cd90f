"""Results of a run: as users hold them, in files, as tables, and what else a run records."""

from streamgauge.results.files import holds_results, load, manifest, readings_table, resources_table, save, write_table
from streamgauge.results.recorders import ConfusionMatrices, Misclassified, Predictions
from streamgauge.results.results import Results

__all__ = [
    "ConfusionMatrices",
    "Misclassified",
    "Predictions",
    "Results",
    "holds_results",
    "load",
    "manifest",
    "readings_table",
    "resources_table",
    "save",
    "write_table",
]
