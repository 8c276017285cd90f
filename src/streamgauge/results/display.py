"""Results as text, for a prompt, and as HTML, for a notebook."""

from streamgauge._format.markup import tag
from streamgauge._format.numbers import format_spread, format_value, label_measure
from streamgauge._format.text import count, describe_forgetting, make_printable, shorten_stream_name
from streamgauge.records import RunData
from streamgauge.significance.verdict_terms import describe_verdicts

__all__ = ["format_html", "format_text"]


def format_html(results: RunData) -> str:
    """Return the readings after the last row as HTML, with what limits them.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> "on 100 rows of SEA" in format_html(evaluate(SEA(n_rows=100), NoChange()))
    True
    """
    from streamgauge.reports.notebook import to_notebook  # noqa: PLC0415  (reports are slow to import)
    from streamgauge.reports.sections import Subject, build_sections  # noqa: PLC0415
    from streamgauge.reports.title import describe_run  # noqa: PLC0415

    sections = build_sections(Subject(results, (), results.learners), "notebook")
    notes = [tag("p", f"Note: {make_printable(note)}") for note in results.notes]
    return tag("div", tag("p", describe_run(results)), to_notebook(sections), *notes)


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
        lines.append(f"{make_printable(_format_title(results))}, {describe_forgetting(forgetting)}")
        columns = [("", *map(make_printable, results.learners))]
        columns += [
            (
                make_printable(label_measure(measure, results.unit(measure))),
                *_format_finals(results, measure, forgetting),
            )
            for measure in results.measures
        ]
        widths = [max(map(len, column)) for column in columns]
        for first, *others in zip(*columns, strict=True):
            cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
            lines.append("  ".join((first.ljust(widths[0]), *cells)))
    if results.feedback is not None and results.feedback.sentence:
        lines.append(results.feedback.sentence)
    sentences = describe_verdicts(results.model_verdicts, results.name_row).sentences
    lines += [f"Live verdict: {make_printable(sentence)}." for sentence in sentences]
    lines += [f"Note: {make_printable(note)}" for note in results.notes]
    return "\n".join(lines) or f"{_format_title(results)}: no readings."


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
