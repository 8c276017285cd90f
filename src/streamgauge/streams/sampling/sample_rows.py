"""Samples the rows of any file into any format."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Batch
from streamgauge.streams.files import File
from streamgauge.streams.sampling.class_counts import Plan, plan
from streamgauge.streams.sampling.index import Counts
from streamgauge.streams.sampling.request import Drawn, Request, groups_of, selection_of
from streamgauge.streams.writers import csv_name, writing_rows

__all__ = ["sample_rows"]

_BATCH = 65_536
_TRAINING, _LABELLED, _UNLABELLED = 1, 2, 3  # what the native selection says of a row


def sample_rows(request: Request, fingerprint: str | None = None) -> Drawn:
    """Count the classes in one pass and draw in another."""
    file = request.file if request.features is None else replace(request.file, keep=request.features)
    if fingerprint not in (None, file.fingerprint):
        msg = f"{file.path} has changed: its fingerprint is {file.fingerprint}, not {fingerprint}"
        raise StreamgaugeError(msg)
    totals = np.zeros(file.schema.n_classes, dtype=np.int64)
    weighted = False
    for batch in file.batches(_BATCH):
        totals += np.bincount(batch.y[batch.y != UNLABELLED], minlength=len(totals))
        weighted |= batch.weight is not None
    counts = Counts(dict(zip(file.schema.classes, totals.tolist(), strict=True)), fingerprint=file.fingerprint)
    found = plan(request.wanted, counts.classes, labelled=request.labelled)
    _write(request, file, found, counts, weight="weight" if weighted else None)
    reading = {"weight": "weight"} if weighted and request.kind != "arff" else {}
    return request.drawn(found, counts, reading)


def _write(request: Request, file: File, found: Plan, counts: Counts, *, weight: str | None) -> None:
    selection = selection_of(found, request.seed)
    groups = np.array([*groups_of(found, counts.classes), -1], dtype=np.int32)  # the last for rows without a label
    truths = [csv_name(name, ",") for name in file.schema.classes]
    target = file.target if isinstance(file.target, str) else "class"
    n_test = 0
    with ExitStack() as files:
        put_truth = request.open_truth(found, files)
        put_training, put_test = (
            files.enter_context(writing_rows(path, file.schema, target=target, weight=weight)) if n else _nowhere
            for path, n in ((request.training, found.n_training), (request.test, found.n_test))
        )
        for batch in file.batches(_BATCH):
            fates = selection.update(groups[batch.y])
            _put(put_training, batch, fates == _TRAINING, fates)
            _put(put_test, batch, fates >= _LABELLED, fates)
            test = np.flatnonzero(fates >= _LABELLED)
            hidden = np.flatnonzero(fates[test] == _UNLABELLED)
            lines = (f"{n_test + i},{truths[code]}\n" for i, code in zip(hidden, batch.y[test[hidden]], strict=True))
            put_truth("".join(lines).encode())
            n_test += len(test)
        selection.finish()


def _put(put: Callable[[Batch], None], batch: Batch, chosen: NDArray[np.bool_], fates: NDArray[np.uint8]) -> None:
    if chosen.any():
        y = np.where(fates == _UNLABELLED, np.int32(UNLABELLED), batch.y)[chosen]
        put(Batch(batch.start, batch.x[chosen], y, None if batch.weight is None else batch.weight[chosen]))


def _nowhere(_: Batch) -> None:
    """Take rows of a set that is not wanted."""
