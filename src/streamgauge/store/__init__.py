"""The store of many runs: a folder with an SQLite catalogue and one folder per run, in formats that any tool reads."""

from streamgauge.store.conditions import Condition, WantedResults
from streamgauge.store.export import build_latex_table, export
from streamgauge.store.filters import Filter
from streamgauge.store.store import CATALOGUE, Claim, Store, is_store

__all__ = [
    "CATALOGUE",
    "Claim",
    "Condition",
    "Filter",
    "Store",
    "WantedResults",
    "build_latex_table",
    "export",
    "is_store",
]
