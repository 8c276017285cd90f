"""Results as text, for a prompt, and as HTML, for a notebook."""

from collections.abc import Sequence

from streamgauge._format.markup import Markup, build_table, join_markup, tag
from streamgauge._format.numbers import format_spread, format_value, label_measure
from streamgauge._format.palette import COLOURS
from streamgauge._format.text import count, describe_forgetting, make_printable, shorten_stream_name
from streamgauge.records import LabelEstimate, ModelVerdict, RunData, Verdict
from streamgauge.significance.verdict_terms import describe_verdicts

__all__ = ["format_html", "format_text"]

MAX_VERDICTS = 6
"""The number of live verdicts that a notebook lists for each measure."""


def format_html(results: RunData) -> str:
    """Return the readings after the last row as HTML, with what limits them.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> "After 100 rows of SEA" in format_html(evaluate(SEA(n_rows=100), NoChange()))
    True
    """
    parts = [tag("p", tag("b", _format_title(results)))]
    if not results.complete:
        parts.append(tag("p", tag("b", "Cut short: "), "all numbers cover these rows only."))
    parts += [tag("p", tag("b", "Failed: "), f"{failure}; no readings from there on.") for failure in results.failures]
    columns = [(forgetting, measure) for forgetting in results.forgettings for measure in results.measures]
    if columns and len(results.rows):
        parts.append(_build_finals_table(results, columns))
        folds = f"Mean over {results.n_folds} folds ± standard deviation; b" if results.n_folds > 1 else "B"
        parts.append(tag("p", tag("small", f"{folds}est mean in bold, which says nothing about significance.")))
        parts.append(_build_chart(results))
    if results.feedback is not None and results.feedback.sentence:
        parts.append(tag("p", results.feedback.sentence))
    parts += _list_verdicts(results)
    if results.label_estimates:
        parts.append(_build_estimates(results.label_estimates))
    parts += [tag("p", f"Note: {make_printable(note)}") for note in results.notes]
    return tag("div", *parts)


def format_text(results: RunData) -> str:
    """Return the readings after the last row as plain text.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes(), "majority": MajorityClass()}, measures=["accuracy", "kappa"])
    After 1,000 rows of SEA(n_rows=1000), over all rows
              accuracy %  kappa %
    bayes         84.20*   63.11*
    majority       64.90    -0.10
    """
    lines = [] if results.complete else ["Cut short: all numbers cover these rows only."]
    lines += [f"Failed: {make_printable(str(failure))}; no readings from there on." for failure in results.failures]
    for forgetting in results.forgettings if len(results.rows) else ():
        lines.append(f"{_format_title(results)}, {describe_forgetting(forgetting)}")
        columns = [("", *map(make_printable, results.learners))]
        columns += [
            (label_measure(measure, results.unit(measure)), *_format_finals(results, measure, forgetting))
            for measure in results.measures
        ]
        widths = [max(map(len, column)) for column in columns]
        for first, *others in zip(*columns, strict=True):
            cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
            lines.append("  ".join((first.ljust(widths[0]), *cells)))
    if results.feedback is not None and results.feedback.sentence:
        lines.append(results.feedback.sentence)
    sentences = describe_verdicts(results.model_verdicts).sentences
    lines += [f"Live verdict: {make_printable(sentence)}." for sentence in sentences]
    lines += [f"Note: {make_printable(note)}" for note in results.notes]
    return "\n".join(lines) or f"{_format_title(results)}: no readings."


def _build_chart(results: RunData) -> Markup:
    """Return the curves of the first measure, over the last rows if they were measured, with names in their colours."""
    from streamgauge.reports.curves import summarise_folds  # noqa: PLC0415  (reports are slow to import)
    from streamgauge.reports.svg import draw_small_curves  # noqa: PLC0415

    measure = results.measures[0]
    forgetting = next((name for name in results.forgettings if name != "Landmark()"), results.forgettings[0])
    curves = {
        index: summarise_folds(results.curve(learner, measure, forgetting).T)
        for index, learner in enumerate(results.learners)
    }
    title = f"{label_measure(measure, results.unit(measure))} {describe_forgetting(forgetting)}"
    drawing = draw_small_curves(curves, results.rows, results.unit(measure), title)
    names = [
        join_markup(" ", tag("span", learner, style=f"color: {COLOURS[index % len(COLOURS)]}; font-weight: bold"))
        for index, learner in enumerate(results.learners)
    ]
    caption = tag("figcaption", tag("small", f"{title}:", *names))
    return tag("figure", caption, drawing, style="max-width: 26em; margin: 0.5em 0")


def _list_verdicts(results: RunData) -> list[Markup]:
    """Return the live verdicts on pairs, measure by measure, and on one model, with what they have in common."""
    from streamgauge.reports.verdicts import group_verdicts, sort_model_verdicts  # noqa: PLC0415  (reports are slow to import)

    parts: list[Markup] = []
    for group in group_verdicts(results.verdicts):
        lines = [f"{line.sentence}; {line.state}." for line in group.lines[:MAX_VERDICTS]]
        if (n_more := len(group.lines) - MAX_VERDICTS) > 0:
            lines.append(f"{count(n_more, 'more pair')}, {len(group.lines) - group.n_decided} of all undecided.")
        parts.append(_build_list(group.heading, lines))
    parts += _build_terms(results.verdicts)
    if results.model_verdicts:
        sentences = describe_verdicts(sort_model_verdicts(results.model_verdicts)).sentences
        parts.append(_build_list("Live verdicts on one model", [f"{sentence}." for sentence in sentences]))
        parts += _build_terms(results.model_verdicts)
    return parts


def _build_estimates(estimates: Sequence[LabelEstimate]) -> Markup:
    """Return the losses that were estimated with few labels, and what the columns mean."""
    from streamgauge.reports import label_estimates  # noqa: PLC0415  (reports are slow to import)

    columns, all_cells = label_estimates.tabulate_estimates(estimates)
    rows = [
        [f"{estimate.learner}, {estimate.measure}", *map(" ".join, cells)]
        for estimate, cells in zip(estimates, all_cells, strict=True)
    ]
    table = build_table(["learner", *columns], rows)
    terms = tag("p", tag("small", " ".join(label_estimates.describe_estimates(estimates))))
    return join_markup(tag("p", tag("b", label_estimates.title_estimates(estimates))), table, terms)


def _build_list(heading: str, lines: Sequence[str]) -> Markup:
    return join_markup(tag("p", tag("b", heading)), tag("ul", *(tag("li", line) for line in lines)))


def _build_terms(verdicts: Sequence[Verdict | ModelVerdict]) -> list[Markup]:
    """Return what all verdicts have in common; empty if there are none."""
    terms = " ".join(describe_verdicts(verdicts).terms)
    return [tag("p", tag("small", terms))] if terms else []


def _format_title(results: RunData) -> str:
    stream = results.description.get("stream")
    name = f" of {shorten_stream_name(str(stream['name']))}" if isinstance(stream, dict) and "name" in stream else ""
    return f"After {count(results.n_rows, 'row')}{name}"


def _format_finals(results: RunData, measure: str, forgetting: str) -> list[str]:
    unit, best = results.unit(measure), results.best(measure, forgetting)
    texts = []
    for learner in results.learners:
        final = results.final(learner, measure, forgetting)
        value = f"{format_value(final.mean, unit)} {format_spread(final.deviation, unit)}".rstrip()
        texts.append(f"{value}*" if learner in best else value)
    return texts


def _build_finals_table(results: RunData, columns: list[tuple[str, str]]) -> Markup:
    headings = [
        f"{label_measure(measure, results.unit(measure))}, {describe_forgetting(forgetting)}"
        for forgetting, measure in columns
    ]
    rows = [[learner] for learner in results.learners]
    for forgetting, measure in columns:
        finals = [results.final(learner, measure, forgetting) for learner in results.learners]
        unit, best = results.unit(measure), results.best(measure, forgetting)
        for row, learner, final in zip(rows, results.learners, finals, strict=True):
            mean = format_value(final.mean, unit)
            text = tag("b", mean) if learner in best else mean
            row.append(join_markup(text, " ", format_spread(final.deviation, unit)))
    return build_table(["learner", *headings], rows)
