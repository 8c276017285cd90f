"""Sampling of unparsed lines: ARFF to ARFF and CSV to CSV, at the speed of a copy."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.column_rules import sort_names
from streamgauge.streams.files.text_files import locate_errors
from streamgauge.streams.output_files import detect_format, open_output
from streamgauge.streams.sampling.index_files import ClassCounts, count_rows, read_counts, write_index_note
from streamgauge.streams.sampling.request import SampleFiles, SampleRequest, assign_groups, build_selection
from streamgauge.streams.sampling.sample_plan import SamplePlan, plan_sample
from streamgauge.streams.text_lines import RawText, feed
from streamgauge.streams.writers import quote_csv

__all__ = ["draw_lines", "sample_lines"]


def sample_lines(request: SampleRequest, raw: RawText, index: Path | None) -> SampleFiles:
    """Count the classes, unless index files have the counts, and draw."""
    indexed = None if index is None else read_counts(raw, index)
    counts = count_rows(raw, index) if indexed is None else indexed
    sample, counts = draw_lines(request, raw, counts)
    if index is not None and indexed is None:
        write_index_note(raw, index, counts)
    return sample


def draw_lines(request: SampleRequest, raw: RawText, counts: ClassCounts) -> tuple[SampleFiles, ClassCounts]:
    """Copy the selected lines; no file appears if the input has changed since it was counted."""
    ordered = counts.classes if raw.classes else {name: counts.classes[name] for name in sort_names(counts.classes)}
    plan = plan_sample(request.wanted, ordered, labelled=request.labelled)
    sampling = _native.Sampling(
        raw.layout,
        list(counts.classes),
        assign_groups(plan, counts.classes),
        [f",{quote_csv(name, ',')}\n".encode() for name in counts.classes],
        raw.keep_mask,
        build_selection(plan, request.seed),
        raw.head,
        raw.mark,
    )
    with locate_errors(raw.source), ExitStack() as files:
        writes = _open_outputs(request, plan, raw.format_header(), files)
        for texts in feed(sampling, raw.read_chunks()):
            for write, text in zip(writes, texts, strict=True):
                write(text)
        fingerprint = f"xxh3:{sampling.fingerprint}"
        if counts.fingerprint not in (None, fingerprint):
            msg = f"{raw.source.name} has changed: its fingerprint is {fingerprint}, not {counts.fingerprint}"
            raise StreamgaugeError(msg)
    counts = replace(counts, fingerprint=fingerprint)
    return request.finish(plan, counts, raw.file_options), counts


def _open_outputs(
    request: SampleRequest, plan: SamplePlan, header: bytes, files: ExitStack
) -> list[Callable[[bytes], object]]:
    """Return functions that write to the training set, the test set and the truth; those of empty files do nothing."""
    _, compression = detect_format(request.test)
    writes: list[Callable[[bytes], object]] = []
    for path, n in ((request.training, plan.n_training), (request.test, plan.n_test)):
        writes.append(files.enter_context(open_output(path, compression)).write if n else len)
        writes[-1](header)
    return [*writes, request.open_truth(plan, files)]
