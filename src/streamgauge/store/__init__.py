"""The store of many runs: a folder with a catalogue (SQLite) and a folder per run, which any tool can read."""

from streamgauge.store.conditions import Asked, Condition
from streamgauge.store.export import export, latex_table
from streamgauge.store.filters import Filter
from streamgauge.store.store import CATALOGUE, Claim, Store, is_store

__all__ = ["CATALOGUE", "Asked", "Claim", "Condition", "Filter", "Store", "export", "is_store", "latex_table"]
