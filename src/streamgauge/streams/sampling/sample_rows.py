"""Sampling of parsed rows, from any file format to any other."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Batch
from streamgauge.streams.base import require_classes
from streamgauge.streams.files import File
from streamgauge.streams.sampling.index_files import ClassCounts
from streamgauge.streams.sampling.request import SampleFiles, SampleRequest, assign_groups, build_selection
from streamgauge.streams.sampling.sample_plan import SamplePlan, plan_sample
from streamgauge.streams.writers import open_row_writer, quote_csv

__all__ = ["sample_rows"]

_BATCH = 65_536
_TRAINING, _TEST_LABELLED, _TEST_UNLABELLED = 1, 2, 3  # results of the native selection


def sample_rows(request: SampleRequest, fingerprint: str | None = None) -> SampleFiles:
    """Count the classes in a first pass and draw in a second."""
    file = request.file if request.features is None else replace(request.file, keep=request.features)
    if fingerprint not in (None, file.fingerprint):
        msg = f"{file.path} has changed: its fingerprint is {file.fingerprint}, not {fingerprint}"
        raise StreamgaugeError(msg)
    require_classes(file.schema, "a sample by classes")
    totals = np.zeros(file.schema.n_classes, dtype=np.int64)
    weighted = False
    for batch in file.batches(_BATCH):
        totals += np.bincount(batch.y[batch.y != UNLABELLED], minlength=len(totals))
        weighted |= batch.weight is not None
    counts = ClassCounts(dict(zip(file.schema.classes, totals.tolist(), strict=True)), fingerprint=file.fingerprint)
    plan = plan_sample(request.wanted, counts.classes, labelled=request.labelled)
    _write_sample(request, file, plan, counts, weight="weight" if weighted else None)
    file_options = {"weight": "weight"} if weighted and request.kind != "arff" else {}
    return request.finish(plan, counts, file_options)


def _write_sample(
    request: SampleRequest, file: File, plan: SamplePlan, counts: ClassCounts, *, weight: str | None
) -> None:
    selection = build_selection(plan, request.seed)
    groups = np.array([*assign_groups(plan, counts.classes), -1], dtype=np.int32)  # UNLABELLED, -1, picks the last
    names = [quote_csv(name, ",") for name in file.schema.classes]
    target = file.target if isinstance(file.target, str) else "class"
    n_test = 0
    with ExitStack() as files:
        write_truth = request.open_truth(plan, files)
        write_training, write_test = (
            files.enter_context(open_row_writer(path, file.schema, target=target, weight=weight)) if n else _discard
            for path, n in ((request.training, plan.n_training), (request.test, plan.n_test))
        )
        for batch in file.batches(_BATCH):
            fates = selection.update(groups[batch.y])
            _write_chosen(write_training, batch, fates == _TRAINING, fates)
            _write_chosen(write_test, batch, fates >= _TEST_LABELLED, fates)
            test = np.flatnonzero(fates >= _TEST_LABELLED)
            hidden = np.flatnonzero(fates[test] == _TEST_UNLABELLED)
            lines = (f"{n_test + i},{names[code]}\n" for i, code in zip(hidden, batch.y[test[hidden]], strict=True))
            write_truth("".join(lines).encode())
            n_test += len(test)
        selection.finish()


def _write_chosen(
    write: Callable[[Batch], object], batch: Batch, chosen: NDArray[np.bool_], fates: NDArray[np.uint8]
) -> None:
    """Write the chosen rows of a batch, without the labels that are to be hidden."""
    if chosen.any():
        y = np.where(fates == _TEST_UNLABELLED, np.int32(UNLABELLED), batch.y)[chosen]
        weight = None if batch.weight is None else batch.weight[chosen]
        write(Batch(start=batch.start, x=batch.x[chosen], y=y, weight=weight))


def _discard(_: Batch) -> None:
    """Ignore the rows of an empty set."""
