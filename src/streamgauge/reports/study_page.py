"""The page of several runs: ranks, values by stream, small curves, and each run in a part of its own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.text import count, describe_forgetting, shorten_stream_name
from streamgauge.records import RunData
from streamgauge.reports.curves import Curve, summarise_folds
from streamgauge.reports.html import list_charts, to_markup
from streamgauge.reports.marks import collect_marks
from streamgauge.reports.model import Drawing, Grid, Section
from streamgauge.reports.page import assemble_page, build_header
from streamgauge.reports.paper import shorten_streams
from streamgauge.reports.rankings import build_ranking_document
from streamgauge.reports.sections import Subject, build_sections
from streamgauge.reports.svg import draw_key, draw_small_curves
from streamgauge.reports.title import describe_run, get_part, shorten_scheme
from streamgauge.significance import Comparison, Ranking
from streamgauge.significance.compare import LANDMARK
from streamgauge.significance.setups import name_stream

__all__ = ["build_study_page"]

FEW = 3
"""The largest number of runs that are shown open."""


def build_study_page(
    runs: Sequence[RunData],
    comparisons: Sequence[Sequence[Comparison]],
    ranking: Ranking | None,
    tables: Sequence[Grid] = (),
    reason: str = "",
) -> str:
    """Return the page of several runs; `reason` says why they are not ranked, if they are not.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> runs = [evaluate(stream, "NoChange", n_rows=100) for stream in ("SEA", "LED")]
    >>> build_study_page(runs, [(), ()], None, reason="There is one learner.").count('<details class="run"')
    2
    """
    # Learners have the same colours on the whole page.
    learners = tuple(dict.fromkeys(name for run in runs for name in run.learners))
    parts_of_runs = [
        build_sections(Subject(run, tests, learners, index), "study")
        for index, (run, tests) in enumerate(zip(runs, comparisons, strict=True))
    ]
    by_stream = _group_by_stream(runs)
    title = f"{count(len(learners), 'learner')} on {count(len(by_stream), 'stream')}"
    streams = dict(zip(by_stream, shorten_streams(list(by_stream)), strict=True))
    if ranking is None:
        not_ranked = tag("strong", "The learners are not ranked. ")
        ranked = tag("p", not_ranked, reason, class_="banner", role="status")
    else:
        document = build_ranking_document(ranking, tables, _link_runs(runs, by_stream, streams))
        ranked = join_markup(*map(to_markup, document.sections))
    parts = [
        build_header(title, _describe_study(runs, len(by_stream))),
        ranked,
        _build_multiples(runs, by_stream, streams, learners, "" if ranking is None else ranking.measure),
        tag("h2", "Runs"),
        *(
            tag(
                "details",
                tag("summary", shorten_stream_name(_name_run(runs, index, streams))),
                tag("p", describe_run(run), class_="note"),
                *(to_markup(section, learners) for section in sections),
                class_="run",
                id=f"run-{index}",
                open="open" if len(runs) <= FEW else None,
            )
            for index, (run, sections) in enumerate(zip(runs, parts_of_runs, strict=True))
        ),
    ]
    marks: list[Mapping[str, object]] = [collect_marks(run, learners) for run in runs]
    return assemble_page(
        title, join_markup(*parts), learners, list_charts([*chain.from_iterable(parts_of_runs)]), marks
    )


def _describe_study(runs: Sequence[RunData], n_streams: int) -> str:
    rows = sorted({run.n_rows for run in runs})
    n_rows = f"{rows[0]:,} to {rows[-1]:,} rows" if len(rows) > 1 else count(rows[0], "row")
    schemes = {shorten_scheme(str(get_part(run.description, "scheme").get("name", ""))) for run in runs}
    how = f", by {schemes.pop()}" if len(schemes) == 1 else ""
    return f"{count(len(runs), 'run')} on {count(n_streams, 'stream')} of {n_rows} each{how}."


def _group_by_stream(runs: Sequence[RunData]) -> dict[str, list[int]]:
    """Return the positions of the runs on each stream."""
    by_stream: dict[str, list[int]] = defaultdict(list)
    for index, run in enumerate(runs):
        by_stream[name_stream(run)].append(index)
    return by_stream


def _name_run(runs: Sequence[RunData], index: int, streams: Mapping[str, str]) -> str:
    """Return the stream of a run, and in what it differs from the other runs on that stream."""
    name = name_stream(runs[index])
    facts = [_list_settings(run) for run in runs if name_stream(run) == name]
    own = _list_settings(runs[index])
    differing = [own[key] for key in own if len({other[key] for other in facts}) > 1]
    return ", ".join([streams[name], *differing])


def _list_settings(run: RunData) -> dict[str, str]:
    """Return what may distinguish runs on one stream, in words."""
    description = run.description
    return {
        "seed": f"seed {description.get('seed')}",
        "scheme": str(get_part(description, "scheme").get("name", "")),
        "labelling": str(description.get("labelling", "")),
        "rows": count(run.n_rows, "row"),
        "learners": count(len(run.learners), "learner") if len(run.learners) > FEW else " and ".join(run.learners),
    }


def _link_runs(
    runs: Sequence[RunData], by_stream: Mapping[str, Sequence[int]], streams: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return for each stream and learner the address of the first run with it."""
    return {
        streams[stream]: {name: f"#run-{index}" for index in reversed(indices) for name in runs[index].learners}
        for stream, indices in by_stream.items()
    }


def _build_multiples(
    runs: Sequence[RunData],
    by_stream: Mapping[str, Sequence[int]],
    streams: Mapping[str, str],
    learners: Sequence[str],
    measure: str,
) -> Markup:
    """Return a small picture of the curves on each stream: means over its runs and folds."""
    shared = [name for name in runs[0].measures if all(name in run.measures for run in runs)]
    forgettings = [name for name in runs[0].forgettings if all(name in run.forgettings for run in runs)]
    if not shared or not forgettings:
        return Markup()
    measure = measure if measure in shared else shared[0]
    # Over a window a curve shows what happens in time.
    forgetting = next((name for name in forgettings if name != LANDMARK), forgettings[0])
    figures = []
    for stream, indices in by_stream.items():
        same = [runs[index] for index in indices if np.array_equal(runs[index].rows, runs[indices[0]].rows)]
        curves = {
            learners.index(name): _average(
                [run.curve(name, measure, forgetting) for run in same if name in run.learners]
            )
            for name in dict.fromkeys(name for run in same for name in run.learners)
        }
        label = f"{measure} on {streams[stream]}"
        drawing = draw_small_curves(curves, same[0].rows, runs[0].unit(measure), label)
        n_runs = f", mean of {len(same)} runs" if len(same) > 1 else ""
        caption = tag("figcaption", tag("b", tag("a", streams[stream], href=f"#run-{indices[0]}")), n_runs)
        figures.append(tag("figure", caption, drawing))
    keys = tag("ul", *(tag("li", draw_key(i), name) for i, name in enumerate(learners)), class_="keys")
    note = "Each picture has its own scale. Over all runs of a stream and their folds."
    title = f"{measure} over time, {describe_forgetting(forgetting)}"
    drawing = join_markup(keys, tag("div", *figures, class_="multiples"))
    return to_markup(Section(title, (Drawing(drawing),), (note,)))


def _average(curves: Sequence[np.ndarray]) -> Curve:
    """Return the mean of curves [rows, folds] over runs and folds."""
    return summarise_folds(np.concatenate([curve.T for curve in curves]))
