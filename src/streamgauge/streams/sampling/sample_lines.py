"""Samples lines as they are: ARFF to ARFF and CSV to CSV, at the speed of a copy."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.files.column_roles import in_order
from streamgauge.streams.files.text_files import located
from streamgauge.streams.output_files import file_kind, writing_bytes
from streamgauge.streams.sampling.class_counts import Plan, plan
from streamgauge.streams.sampling.index import Counts, count_rows, note_index, read_counts
from streamgauge.streams.sampling.request import Drawn, Request, groups_of, selection_of
from streamgauge.streams.text_lines import RawText
from streamgauge.streams.writers import csv_name

__all__ = ["draw_lines", "sample_lines"]


def sample_lines(request: Request, raw: RawText, index: Path | None) -> Drawn:
    """Count the classes, unless index files tell, and draw."""
    known = None if index is None else read_counts(raw, index)
    counts = count_rows(raw, index) if known is None else known
    drawn, counts = draw_lines(request, raw, counts)
    if index is not None and known is None:
        note_index(raw, index, counts)
    return drawn


def draw_lines(request: Request, raw: RawText, counts: Counts) -> tuple[Drawn, Counts]:
    """Copy the selected lines; nothing appears unless the input is the one that was counted."""
    ordered = counts.classes if raw.classes else {name: counts.classes[name] for name in in_order(counts.classes)}
    found = plan(request.wanted, ordered, labelled=request.labelled)
    sampling = _native.Sampling(
        raw.rows,
        list(counts.classes),
        groups_of(found, counts.classes),
        [f",{csv_name(name, ',')}\n".encode() for name in counts.classes],
        raw.kept,
        selection_of(found, request.seed),
        raw.head,
        raw.place,
    )
    with located(raw.source), ExitStack() as files:
        puts = _outputs(request, found, raw.header(), files)
        for chunk in raw.chunks():
            for put, text in zip(puts, sampling.update(chunk), strict=True):
                put(text)
        for put, text in zip(puts, sampling.finish(), strict=True):
            put(text)
        fingerprint = f"xxh3:{sampling.fingerprint}"
        if counts.fingerprint not in (None, fingerprint):
            msg = f"{raw.source.name} has changed: its fingerprint is {fingerprint}, not {counts.fingerprint}"
            raise StreamgaugeError(msg)
    counts = replace(counts, fingerprint=fingerprint)
    return request.drawn(found, counts, raw.reading), counts


def _outputs(request: Request, found: Plan, header: bytes, files: ExitStack) -> list[Callable[[bytes], object]]:
    """Open the files of training set, test set and truth; what is not wanted goes nowhere."""
    _, compression = file_kind(request.test)
    puts: list[Callable[[bytes], object]] = []
    for path, n in ((request.training, found.n_training), (request.test, found.n_test)):
        puts.append(files.enter_context(writing_bytes(path, compression)).write if n else len)
        puts[-1](header)
    return [*puts, request.open_truth(found, files)]
