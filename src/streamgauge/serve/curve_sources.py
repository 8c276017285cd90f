"""Sources of the curves of a run: the journal while it runs, the saved results once it is finished."""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.journal import JournalReader, Layout
from streamgauge._engine.meter import FIGURES
from streamgauge._format.times import increases
from streamgauge.errors import StreamgaugeError
from streamgauge.results import Results, load

__all__ = ["MALFORMED", "Cache", "RunRecords", "convert_results", "read_journal"]

MAX_CACHED_BYTES = 2**28
"""Memory for saved results."""


MALFORMED = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
"""What reading a malformed file of a run may raise."""


@dataclass(frozen=True)
class RunRecords:
    """The records of a run so far.

    Parameters
    ----------
    layout
        Layout of a record.
    generation
        Changes if earlier records change.
    records
        Float64 [n, width].

    Examples
    --------
    >>> layout = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
    >>> RunRecords(layout, 0, np.ones((2, layout.width))).select_between(0, 1).shape
    (2, 3)
    """

    layout: Layout
    generation: int
    records: NDArray[np.float64]

    def find_places(self, x: str) -> NDArray[np.float64]:
        """Return where the records are on an x axis: their rows, or the times of these for ``time``."""
        if x == "row":
            return self.records[:, 0]
        times = self.layout.times(self.records)
        if times is None or not increases(times):
            msg = "the rows of this run carry no times that increase"
            raise StreamgaugeError(msg)
        return times

    def select_between(self, first: float, last: float, x: str = "row", margin: int = 1) -> NDArray[np.float64]:
        """Return the records between two rows or times, and some more on either side, so that lines reach the edges."""
        if not (math.isfinite(first) or math.isfinite(last)):
            return self.records
        places = self.find_places(x)
        start, stop = int(np.searchsorted(places, first)), int(np.searchsorted(places, last, side="right"))
        return self.records[max(0, start - margin) : stop + margin]


def read_journal(folder: Path) -> RunRecords:
    """Read the records of a run from its journal."""
    view = JournalReader(folder)
    return RunRecords(view.layout, *view.records())


def convert_results(results: Results, generation: int) -> RunRecords:
    """Return saved results as the records of a journal.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> run_records = convert_results(evaluate(SEA(n_rows=100), NoChange(), every=50, resources=True), 1)
    >>> run_records.layout.rows(run_records.records).tolist()
    [50, 100]
    """
    resources = results.resources
    costs = None
    if resources is not None and resources.cpu_seconds.shape[0] == len(results.rows):
        costs = np.stack([np.asarray(getattr(resources, figure), dtype=np.float64) for figure in FIGURES], axis=-1)
    layout = Layout(
        learners=results.learners,
        forgettings=results.forgettings,
        measures=results.measures,
        n_folds=results.n_folds,
        with_costs=costs is not None,
        with_times=results.times is not None,
        compared=_list_compared(results),
    )
    records = layout.pack(results.rows, np.nan, results.values, costs, _place_differences(results), results.times)
    return RunRecords(layout, generation, records)


def _list_compared(results: Results) -> tuple[str, ...]:
    columns = () if results.differences is None else results.differences.columns
    return tuple(dict.fromkeys(measure for _, _, measure in columns)) or ("accuracy",)


def _place_differences(results: Results) -> dict[tuple[str, str, str], NDArray[np.float64]]:
    """Return the difference of each pair in each measure at all readings: the last one known, NaN before the first."""
    differences = results.differences
    if differences is None:
        return {}
    last = np.searchsorted(differences.rows, results.rows, side="right") - 1
    values = np.where((last >= 0)[:, None, None], differences.values[np.maximum(last, 0)], np.nan)
    return {column: values[:, index] for index, column in enumerate(differences.columns)}


@dataclass(frozen=True)
class SavedRun:
    """Saved results, and the same as records of a journal."""

    results: Results
    run_records: RunRecords

    @property
    def n_bytes(self) -> int:
        """Memory of both."""
        return int(self.results.values.nbytes + self.run_records.records.nbytes)


class Cache:
    """A cache of saved results, least recently used first out, and of small files.

    Examples
    --------
    >>> Cache().load(Path("no such folder"))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: no such folder holds no results: there is no manifest.json in it
    """

    def __init__(self, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._saved: OrderedDict[tuple[str, int], SavedRun] = OrderedDict()
        self._files: dict[str, tuple[tuple[int, int], Any]] = {}
        self._max_bytes, self._lock = max_bytes, Lock()

    def load(self, folder: Path) -> SavedRun:
        """Return the results in a folder; they are loaded again only if they changed."""
        path = folder / "manifest.json"
        stamp = path.stat().st_mtime_ns if path.is_file() else -1
        key = (str(folder), stamp)
        with self._lock:
            if key in self._saved:
                self._saved.move_to_end(key)
                return self._saved[key]
        results = load(folder)
        # In milliseconds, because JavaScript's numbers are doubles.
        saved = SavedRun(results, convert_results(results, stamp // 1_000_000))
        with self._lock:
            self._saved[key] = saved
            while len(self._saved) > 1 and sum(entry.n_bytes for entry in self._saved.values()) > self._max_bytes:
                self._saved.popitem(last=False)
        return saved

    def read(self, path: Path, read: Callable[[Path], Any]) -> Any:  # noqa: ANN401  (the type of the reader)
        """Return what a reader gives for a small file, read again only if it changed; None if it cannot be read.

        If it is damaged, the error of the reader names it.
        """
        try:
            state = path.stat()
        except OSError:
            return None
        stamp, key = (state.st_mtime_ns, state.st_size), str(path)
        known = self._files.get(key)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            content = read(path)
        except StreamgaugeError:
            raise
        except MALFORMED:
            content = None
        if len(self._files) > 10_000:
            self._files.clear()
        self._files[key] = (stamp, content)
        return content
