"""Where the curves of a run come from: the journal while it runs, the saved results once it is finished."""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.journal import JournalView, Layout
from streamgauge._engine.meter import FIGURES
from streamgauge.errors import StreamgaugeError
from streamgauge.results import Results, load

__all__ = ["Cache", "Readings", "journal_readings", "saved_readings"]

MOST_CACHED_BYTES = 2**28
"""How much of saved results is kept in memory."""


@dataclass(frozen=True)
class Readings:
    """The records of a run up to now.

    Parameters
    ----------
    layout
        What stands where in a record.
    generation
        Changes when the records before have changed, too.
    records
        Float64 [n, width].

    Examples
    --------
    >>> layout = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
    >>> Readings(layout, 0, np.ones((2, layout.width))).between(0, 1).shape
    (2, 3)
    """

    layout: Layout
    generation: int
    records: NDArray[np.float64]

    def between(self, first: float, last: float) -> NDArray[np.float64]:
        """Give the records from one row to another, and one more on either side, so that lines leave the picture."""
        if not (math.isfinite(first) or math.isfinite(last)):
            return self.records
        rows = self.records[:, 0]
        start, stop = int(np.searchsorted(rows, first)), int(np.searchsorted(rows, last, side="right"))
        return self.records[max(0, start - 1) : stop + 1]


def journal_readings(folder: Path) -> Readings:
    """Read the journal of a run."""
    view = JournalView(folder)
    return Readings(view.layout, *view.records())


def saved_readings(results: Results, generation: int) -> Readings:
    """Give saved results in the form of a journal.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> readings = saved_readings(evaluate(SEA(n_rows=100), NoChange(), every=50, resources=True), 1)
    >>> readings.layout.rows(readings.records).tolist()
    [50, 100]
    """
    cost = results.resources
    costs = None
    if cost is not None and cost.cpu_seconds.shape[0] == len(results.rows):
        costs = np.stack([np.asarray(getattr(cost, figure), dtype=np.float64) for figure in FIGURES], axis=-1)
    names = (results.learners, results.forgettings, results.measures)
    layout = Layout(*names, results.n_folds, with_costs=costs is not None)
    return Readings(layout, generation, layout.pack(results.rows, np.nan, results.values, costs, {}))


@dataclass(frozen=True)
class Saved:
    """Saved results, and the same in the form of a journal."""

    results: Results
    readings: Readings

    @property
    def n_bytes(self) -> int:
        """The memory it holds."""
        return int(self.results.values.nbytes + self.readings.records.nbytes)


class Cache:
    """Keeps the saved results that were asked for last, up to so many bytes.

    Examples
    --------
    >>> Cache().saved(Path("no such folder"))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: no such folder holds no results: there is no manifest.json in it
    """

    def __init__(self, most_bytes: int = MOST_CACHED_BYTES) -> None:
        self._kept: OrderedDict[tuple[str, int], Saved] = OrderedDict()
        self._facts: dict[str, tuple[tuple[int, int], Any]] = {}
        self._most, self._lock = most_bytes, Lock()

    def saved(self, folder: Path) -> Saved:
        """Load the results in a folder, or give those loaded before."""
        path = folder / "manifest.json"
        stamp = path.stat().st_mtime_ns if path.is_file() else -1
        key = (str(folder), stamp)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        results = load(folder)
        # To the millisecond, for a page counts in doubles.
        loaded = Saved(results, saved_readings(results, stamp // 1_000_000))
        with self._lock:
            self._kept[key] = loaded
            while len(self._kept) > 1 and sum(saved.n_bytes for saved in self._kept.values()) > self._most:
                self._kept.popitem(last=False)
        return loaded

    def facts(self, path: Path, read: Callable[[Path], Any]) -> Any:  # noqa: ANN401  (what the reader gives)
        """Read a small file, or give what was read of it before it last changed; None where it cannot be read."""
        try:
            state = path.stat()
        except OSError:
            return None
        stamp, key = (state.st_mtime_ns, state.st_size), str(path)
        known = self._facts.get(key)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            told = read(path)
        except (OSError, StreamgaugeError, ValueError, KeyError, TypeError):
            told = None
        if len(self._facts) > 10_000:
            self._facts.clear()
        self._facts[key] = (stamp, told)
        return told
