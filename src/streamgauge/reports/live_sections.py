"""Sections of the page with verdicts: on pairs of learners, measure by measure, and on one model."""

import math
from collections.abc import Sequence

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.numbers import RATE, format_value, to_difference_unit
from streamgauge.records import ModelVerdict, RunData
from streamgauge.reports.charts import Chart, build_figure
from streamgauge.reports.sections import build_item_list, build_section, draw_interval
from streamgauge.reports.verdicts import VerdictGroup, VerdictLine, group_verdicts, sort_model_verdicts
from streamgauge.significance.verdict_terms import describe_rows_left, describe_verdicts

__all__ = ["build_live_section", "build_model_verdicts_section"]


def build_live_section(results: RunData, charts: Sequence[Chart]) -> Markup:
    """Return the section with the live verdicts of a run by measure, and the differences along the run.

    Examples
    --------
    >>> build_live_section(RunData.from_readings((), n_rows=0), [])
    ''
    """
    groups = group_verdicts(results.verdicts)
    if not groups and not charts:
        return Markup()
    lists = (
        join_markup(tag("h3", group.heading.removeprefix("Live verdicts on ")), _build_group(group)) for group in groups
    )
    terms = (tag("p", text, class_="note") for text in describe_verdicts(results.verdicts).terms)
    note = (
        "Curves: above 0 the first one is the better one, or in a measure of which less is better the second. Dashed"
        " line: no difference; shaded: the margin. A verdict is reached once the band excludes the margin, or lies in"
        " it; it ends once the band no longer supports it."
    )
    figures = tag("div", *(build_figure(chart) for chart in charts), class_="charts")
    pictures = join_markup(figures, tag("p", note, class_="note")) if charts else Markup()
    return build_section("Live verdicts", *lists, *terms, pictures)


def _build_group(group: VerdictGroup) -> Markup:
    bounds = [bound for line in group.lines for bound in (*(line.reach or ()), line.lead) if math.isfinite(bound)]
    margin = group.lines[0].verdict.rope
    scale = min(0.0, -1.5 * margin, *bounds), max(0.0, 1.5 * margin, *bounds)
    return build_item_list([_build_item(line, scale) for line in group.lines])


def _build_item(line: VerdictLine, scale: tuple[float, float]) -> Markup:
    verdict, known = line.verdict, math.isfinite(line.lead)
    margin = 0.0 if verdict.test == "group_sequential" else verdict.rope
    bounds = [*(line.reach or ()), line.lead] if known else []
    drawing = draw_interval(bounds, scale, is_clear=verdict.row is not None, margin=margin)
    number = tag("span", format_value(line.lead, verdict.unit), class_="difference")
    unit = f" {to_difference_unit(verdict.unit, short=True)} " if known else " "
    who = tag("div", f"{line.ahead} is ahead" if line.lead > 0.0 else "") if known else Markup()
    figures = tag("div", number, unit, tag("span", line.interval, class_="spread"), who, class_="figures")
    rows_left = describe_rows_left(verdict)
    words = tag("div", tag("p", f"{line.sentence}."), tag("p", rows_left, class_="aside") if rows_left else Markup())
    return tag("li", words, tag("div", drawing, figures, class_="estimate"), class_=verdict.outcome)


def build_model_verdicts_section(verdicts: Sequence[ModelVerdict]) -> Markup:
    """Return the section with the verdicts on each learner and requirement.

    Examples
    --------
    >>> build_model_verdicts_section([])
    ''
    """
    if not verdicts:
        return Markup()
    verdicts = sort_model_verdicts(verdicts)
    described = describe_verdicts(verdicts)
    items = list(map(_build_model_item, verdicts, described.sentences))
    terms = (tag("p", text, class_="note") for text in described.terms)
    return build_section("Live verdicts on one model", build_item_list(items), *terms)


def _build_model_item(verdict: ModelVerdict, sentence: str) -> Markup:
    known = math.isfinite(verdict.value)
    bounds = [*(verdict.interval or ()), verdict.value] if known else []
    reach = max((abs(bound - verdict.limit) for bound in bounds), default=0.0) or 1.0
    scale = (verdict.limit - 1.1 * reach, verdict.limit + 1.1 * reach)
    drawing = draw_interval(bounds, scale, is_clear=verdict.row is not None, middle=verdict.limit)
    unit = "%" if verdict.unit == RATE else f" {verdict.unit}".rstrip()
    number = tag("span", f"{format_value(verdict.value, verdict.unit)}{unit if known else ''}", class_="difference")
    ends = ", ".join(format_value(end, verdict.unit) for end in verdict.interval or ())
    limit = tag("div", f"limit {format_value(verdict.limit, verdict.unit)}{unit}")
    figures = tag(
        "div", number, " ", tag("span", f"[{ends}]" if ends else "", class_="spread"), limit, class_="figures"
    )
    return tag("li", tag("p", f"{sentence}."), tag("div", drawing, figures, class_="estimate"), class_=verdict.outcome)
