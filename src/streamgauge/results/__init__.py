"""The public Results class, results as files and tables, and recorders."""

from streamgauge.records.manifest import RunManifest
from streamgauge.results.files import holds_results, load, save
from streamgauge.results.manifest import ResultsManifest, build_manifest
from streamgauge.results.recorders import ConfusionMatrices, Misclassified, Predictions
from streamgauge.results.results import Results
from streamgauge.results.saved_errors import SavedErrors, read_errors
from streamgauge.results.tables import check_table_name, tabulate_readings, tabulate_resources, write_table

__all__ = [
    "ConfusionMatrices",
    "Misclassified",
    "Predictions",
    "Results",
    "ResultsManifest",
    "RunManifest",
    "SavedErrors",
    "build_manifest",
    "check_table_name",
    "holds_results",
    "load",
    "read_errors",
    "save",
    "tabulate_readings",
    "tabulate_resources",
    "write_table",
]
