"""A saved run again, from its manifest: the same bits, or what differs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.batch_plan import Backend
from streamgauge._format.text import count
from streamgauge.backends import Auto
from streamgauge.errors import StreamgaugeError
from streamgauge.evaluation import Evaluation
from streamgauge.names import find_stream
from streamgauge.protocols import Stream
from streamgauge.records import ModelVerdict, PairSums, Verdict
from streamgauge.records.locks import open_temporary_folder
from streamgauge.results import Results, ResultsManifest, load, save
from streamgauge.results.call import CALL, FileFacts, list_files, restore_call, restore_stream
from streamgauge.results.files import read_manifest
from streamgauge.streams import File

__all__ = ["Rerun", "rerun"]

NOT_COMPARED = ("complete", "description", "resources", "rows", "values", "learners", "forgettings", "measures")
"""Fields of results that differ from run to run, or are compared with the readings."""


@dataclass(frozen=True)
class Rerun:
    """The outcome of repeating a run.

    Parameters
    ----------
    same
        Whether all readings, pairs, verdicts, alarms and counts have the same bits, and the rows the same digest.
    compared
        What was compared, in words.
    differences
        What differs in the results, the first reading that differs first; one sentence each.
    changes
        What differs around them and may explain it: versions, the machine, the files of the stream; one sentence each.
    results
        The results of the new run.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> rerun(evaluate(SEA(n_rows=100), NaiveBayes(), every=50))
    The same bits: 2 readings of 100 rows.
    """

    same: bool
    compared: str
    differences: tuple[str, ...]
    changes: tuple[str, ...]
    results: Results

    def __str__(self) -> str:
        lines = [f"The same bits: {self.compared}."] if self.same else ["Not the same:"]
        lines += [f"  {difference}" for difference in self.differences]
        if self.changes:
            heading = "What has changed since:" if self.same else "What may explain it:"
            lines += [heading, *(f"  {change}" for change in self.changes)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def rerun(
    results: Results | Path | str,
    *,
    stream: Stream | str | None = None,
    reading: Mapping[str, Any] | None = None,
    backend: Backend = Auto(),
    progress: bool | None = None,
) -> Rerun:
    """Repeat a run from the description in its manifest, and compare the results bit for bit.

    The new run ends at the row where the saved one ended, also if that was cut short or resumed from a checkpoint.
    Times and memory are not compared.

    Parameters
    ----------
    results
        The results, or the folder that they were saved to.
    stream
        The stream, or its text as on the command line, if it has moved since; None for the one of the run. A path is
        read with the options of the file that the run read.
    reading
        Options of `streamgauge.streams.File` that replace those of the run.
    backend
        Where to run; the results do not depend on it.
    progress
        As for `evaluate`.

    Raises
    ------
    StreamgaugeError
        If the run cannot be repeated: it used a live stream, arrays in memory or objects of Python that text cannot
        describe. The message names them.

    Examples
    --------
    >>> from streamgauge import SEA, HoeffdingTree, NaiveBayes, evaluate
    >>> saved = evaluate(SEA(n_rows=1000), [HoeffdingTree(), NaiveBayes()])
    >>> rerun(saved).same
    True
    """
    before, manifest = _load(results)
    try:
        arguments, call = _restore(before, stream, reading or {})
        evaluation = Evaluation(arguments.pop("stream"), arguments.pop("learners"), **arguments, backend=backend)
    except StreamgaugeError:
        raise
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        msg = f"the run cannot be repeated: its manifest is damaged ({type(error).__name__}: {error})"
        raise StreamgaugeError(msg) from error
    evaluation.stop_after = before.n_rows
    digest, was = evaluation.stream.fingerprint, _get_part(before.description, "stream").get("fingerprint")
    repeated = evaluation.run(progress=progress)
    if repeated.n_rows < before.n_rows and repeated.description["ended_by"] == "interrupt":
        raise KeyboardInterrupt
    after, new_manifest = _load(repeated)
    differences = tuple(_compare_readings(before, after)) + tuple(_compare_fields(before, after))
    changes = tuple(_compare_versions(manifest, new_manifest))
    changes += tuple(_compare_files(call["files"], list_files((evaluation.stream, evaluation.scheme))))
    if digest != was:
        differences += (f"the rows of the stream: digest {was} then, {digest} now",)
    if differences:
        changes += tuple(_list_doubts(call))
    return Rerun(
        same=not differences,
        compared=_count_compared(before),
        differences=differences,
        changes=changes,
        results=repeated,
    )


def _load(results: Results | Path | str) -> tuple[Results, ResultsManifest]:
    """Return results as they are read from a folder, and their manifest."""
    if isinstance(results, Results):
        with open_temporary_folder() as folder:
            return _load(save(results, folder))
    return load(results), read_manifest(results)


def _get_part(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = facts.get(name)
    return part if isinstance(part, Mapping) else {}


def _restore(
    results: Results, stream: Stream | str | None, reading: Mapping[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Return the arguments of the run, and the call that its manifest holds."""
    call = _get_part(results.description, CALL)
    if not call:
        msg = "the run cannot be repeated: its manifest was written by an earlier version, which kept no call"
        raise StreamgaugeError(msg)
    obstacles = [o for o in call["obstacles"] if stream is None or not o.startswith("stream: ")]
    if obstacles:
        msg = f"the run cannot be repeated from its manifest: {'; '.join(obstacles)}"
        raise StreamgaugeError(msg)
    sample = call["sample"]
    if sample is not None and not Path(sample).is_dir():
        experiment = results.description.get("experiment")
        again = "run the experiment again with 'streamgauge run FILE --again'" if experiment else "draw it again"
        msg = f"the run cannot be repeated: its rows were a sample in {sample}, which is gone; {again}"
        raise StreamgaugeError(msg)
    if reading and not isinstance(stream, str):
        msg = f"options of reading a file ({', '.join(reading)}) need --stream, the file to read"
        raise StreamgaugeError(msg)
    if isinstance(stream, str):
        stream = _open_moved(stream, call, reading)
    return restore_call(call, stream), call


def _open_moved(text: str, call: Mapping[str, Any], reading: Mapping[str, Any]) -> Stream:
    """Open the stream that replaces the one of a run; a file is read with the options of the file of the run."""
    stream = find_stream(text, **reading)
    if not isinstance(stream, File) or call["stream"] is None:
        return stream
    try:
        was = restore_stream(call)
    except StreamgaugeError:  # it was an object of Python
        return stream
    return replace(was, path=stream.path, **reading) if isinstance(was, File) else stream


class _Reading(NamedTuple):
    """The position of a reading in results."""

    row: int
    learner: str
    fold: int
    forgetting: str
    measure: str


def _compare_readings(before: Results, after: Results) -> Iterator[str]:
    """Yield how readings differ: their rows and names, or the first of them in the order of the rows."""
    for axis in ("learners", "forgettings", "measures"):
        names, now = getattr(before, axis), getattr(after, axis)
        if names != now:
            yield f"{axis}: {', '.join(names)} then, {', '.join(now)} now"
            return
    if before.values.shape != after.values.shape or not np.array_equal(before.rows, after.rows):
        yield (
            f"readings: {len(before.rows)} up to row {before.n_rows:,} then, "
            f"{len(after.rows)} up to row {after.n_rows:,} now"
        )
        return
    unequal = ~_are_same_bits(before.values, after.values)
    if not unequal.any():
        return
    row, learner, fold, forgetting, measure = (int(index) for index in np.argwhere(unequal)[0])
    index = (row, learner, fold, forgetting, measure)
    where = _Reading(
        int(before.rows[row]),
        before.learners[learner],
        fold,
        before.forgettings[forgetting],
        before.measures[measure],
    )
    n = int(unequal.sum())
    which = "the only reading that differs" if n == 1 else f"the first of {n:,} readings that differ"
    yield (
        f"{where.measure} of {where.learner} at row {where.row:,}, fold {where.fold}, {where.forgetting}: "
        f"{float(before.values[index])!r} then, {float(after.values[index])!r} now ({which})"
    )


def _are_same_bits(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are equal to the bit; all NaN count as equal."""
    if first.dtype != np.float64 or second.dtype != np.float64:
        return np.asarray(first == second)
    same: NDArray[np.bool_] = (first.view(np.int64) == second.view(np.int64)) | (np.isnan(first) & np.isnan(second))
    return same


def _compare_fields(before: Results, after: Results) -> Iterator[str]:
    """Yield the first difference in each of the other fields: pairs, verdicts, alarms, counts and so on."""
    for field in fields(before):
        if field.name not in NOT_COMPARED and field.compare:
            found = next(_find_difference(field.name, getattr(before, field.name), getattr(after, field.name)), None)
            if found is not None:
                yield found


def _find_difference(name: str, before: Any, after: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield where two values differ, with their names."""
    parts = _pair_parts(name, before, after)
    if parts is not None:
        for part, one, other in parts:
            yield from _find_difference(part, one, other)
    elif isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        yield from _find_array_difference(name, before, after)
    elif not _is_same(before, after):
        yield f"{name}: {_shorten(before)} then, {_shorten(after)} now"


def _pair_parts(name: str, before: Any, after: Any) -> list[tuple[str, Any, Any]] | None:  # noqa: ANN401
    """Return the parts of two values of the same structure, each with its name; None if they have none in common."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and before.keys() == after.keys():
        return [(f"{name}[{key!r}]", value, after[key]) for key, value in before.items()]
    if isinstance(before, tuple | list) and isinstance(after, tuple | list) and len(before) == len(after):
        pairs = zip(before, after, strict=True)
        return [(f"{name}[{_name_item(one, index)}]", one, other) for index, (one, other) in enumerate(pairs)]
    if is_dataclass(before) and type(before) is type(after):
        names = [field.name for field in fields(before)]
        return [(f"{name}.{part}", getattr(before, part), getattr(after, part)) for part in names]
    return None


def _find_array_difference(name: str, before: NDArray[Any], after: NDArray[Any]) -> Iterator[str]:
    if before.shape != after.shape:
        yield f"{name}: shape {before.shape} then, {after.shape} now"
        return
    unequal = ~_are_same_bits(before, after)
    if unequal.any():
        index = tuple(int(position) for position in np.argwhere(np.atleast_1d(unequal))[0])
        was, now = np.atleast_1d(before)[index].item(), np.atleast_1d(after)[index].item()
        yield f"{name}[{', '.join(map(str, index))}]: {was!r} then, {now!r} now"


def _name_item(item: object, index: int) -> str:
    """Return the name of an item of a list: the learners and the measure of a pair, or else its number."""
    if isinstance(item, PairSums):
        return f"{item.first}, {item.second}"
    if isinstance(item, Verdict):
        return f"{item.first}, {item.second}, {item.measure}"
    if isinstance(item, ModelVerdict):
        return f"{item.learner}, {item.requirement}"
    return str(index)


def _is_same(before: object, after: object) -> bool:
    both_nan = isinstance(before, float) and isinstance(after, float) and math.isnan(before) and math.isnan(after)
    return both_nan or (type(before) is type(after) and before == after)


def _shorten(value: object) -> str:
    text = count(len(value), "entry", "entries") if isinstance(value, tuple | list | Mapping) else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _compare_versions(before: ResultsManifest, after: ResultsManifest) -> Iterator[str]:
    """Yield the versions and facts about the machine that differ."""
    for was, now in ((before.versions, after.versions), (before.machine, after.machine)):
        for name in dict.fromkeys((*was, *now)):
            if was.get(name) != now.get(name):
                yield f"{name.replace('_', ' ')}: {was.get(name, 'none')} then, {now.get(name, 'none')} now"


def _compare_files(before: Sequence[Mapping[str, Any]], after: Iterator[FileFacts]) -> Iterator[str]:
    """Yield the files whose contents, size or time of writing differ."""
    for was, now in zip(before, after, strict=False):
        if was["path"] != now.path:
            yield f"{was['path']} then, {now.path} now"
        if was["bytes"] != now.bytes:
            yield f"{now.path}: {was['bytes']:,} bytes then, {now.bytes:,} now"
        elif was["digest"] != now.digest:
            yield f"{now.path}: its contents or its options have changed"
        if was["modified"] != now.modified:
            yield f"{now.path}: written {was['modified']} then, {now.modified} now"


def _list_doubts(call: Mapping[str, Any]) -> Iterator[str]:
    """Yield what may explain a difference in a run with these options."""
    if call["time_budget"] is not None:
        yield "the run has a time budget, so its readings depend on the speed of the machine"
    if call["call_limit"] is not None:
        yield "calls of learners had a time limit, so a failure depends on the speed of the machine"
    if call.get("resumed"):
        yield "the run was resumed from a checkpoint; if it was prolonged, its verdicts were planned for fewer rows"


def _count_compared(results: Results) -> str:
    """Return what was compared in words."""
    kinds = {
        "reading": results.values.size,
        "pair": len(results.pairs),
        "verdict": len(results.verdicts) + len(results.model_verdicts),
        "alarm": len(results.alarms),
        "failure": len(results.failures),
    }
    counts = [count(n, kind) for kind, n in kinds.items() if n]
    listed = " and ".join(filter(None, (", ".join(counts[:-1]), *counts[-1:])))
    return f"{listed or 'no readings'} of {count(results.n_rows, 'row')}"
