"""Reports of one run or many, in HTML, Markdown or LaTeX."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.text import count, shorten_stream_name
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import RunData
from streamgauge.reports.charts import curve_charts
from streamgauge.reports.comparisons import Comparison
from streamgauge.reports.document import document_of, ranking_document
from streamgauge.reports.latex import latex
from streamgauge.reports.markdown import markdown
from streamgauge.reports.matters import ranking_sections
from streamgauge.reports.page import banners, curves_section, header, marks_of, page_html, whole_page
from streamgauge.reports.sections import finals_section, verdicts_section
from streamgauge.reports.series import panels
from streamgauge.reports.title import lead, part_of, title_of
from streamgauge.significance import Ranking, compare_all, rank
from streamgauge.streams.output_files import replace_atomically

__all__ = ["FORMATS", "recommended", "report", "write_report"]

Format = Literal["html", "md", "latex"]

FORMATS = get_args(Format)
"""What a report can be written in."""

ENDINGS: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".tex": "latex"}


def write_report(
    results: RunData | Sequence[RunData],
    path: str | Path,
    comparisons: Sequence[Comparison] | None = None,
    *,
    format: Format | None = None,  # noqa: A002
    **options: object,
) -> Path:
    """Write the report of one run or many to a file, in the format that its name ends in; give the path.

    Parameters
    ----------
    results, comparisons, options
        As for `report`.
    path
        The file; a name that ends in .html, .md or .tex says the format.
    format
        The format, where the name does not say it.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> path = write_report(evaluate(SEA(n_rows=1000), NaiveBayes()), Path(mkdtemp()) / "report.md")
    >>> path.read_text().splitlines()[0]
    '# NaiveBayes'
    """
    path = Path(path)
    chosen = format or ENDINGS.get(path.suffix.lower())
    if chosen is None:
        msg = f"{path}: a report is written to a file that ends in .html, .md or .tex, or in a format that you name"
        raise StreamgaugeError(msg)
    text = report(results, comparisons, format=chosen, **options)  # type: ignore[arg-type]
    try:
        with replace_atomically(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"cannot write the report to {path}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None
    return path


def report(
    results: RunData | Sequence[RunData],
    comparisons: Sequence[Comparison] | None = None,
    *,
    format: Format = "html",  # noqa: A002
    measure: str | None = None,
    alpha: float = 0.05,
    post_hoc: str = "wilcoxon_holm",
) -> str:
    r"""Report one run or many: what was found, what cannot be concluded, and the numbers behind it.

    Several runs of the same learners on different streams are ranked over the streams; each has its own part, too.

    Parameters
    ----------
    results
        What evaluations found.
    comparisons
        The tests between learners to tell; None to make those that `compare` recommends. Of one run only.
    format
        ``html``, a page that needs nothing else; ``md``, Markdown; ``latex``, tables for a paper.
    measure
        By what to rank and compare; by default the accuracy, or the first measure.
    alpha
        The level of the tests.
    post_hoc
        The test of the pairs over streams.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> print(report(evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes()}), format="latex").splitlines()[1])
    % needs \usepackage{booktabs}
    """
    if format not in FORMATS:
        raise unknown_name(kind="format of reports", name=format, known=FORMATS)
    runs = [results] if isinstance(results, RunData) else list(results)
    if not runs:
        msg = "there are no results to report"
        raise StreamgaugeError(msg)
    if len(runs) > 1 and comparisons is not None:
        msg = "comparisons are those of one run; several runs are compared anew"
        raise StreamgaugeError(msg)
    told = [recommended(run, measure, alpha) if comparisons is None else comparisons for run in runs]
    if len(runs) == 1:
        return _single(runs[0], told[0], format)
    ranking, reason = _ranked(runs, measure, alpha, post_hoc)
    if format == "html":
        return _study_page(runs, told, ranking, reason)
    write = markdown if format == "md" else partial(latex, labels=set())
    parts = [ranking_document(ranking)] if ranking is not None else []
    parts += [document_of(run, of_run) for run, of_run in zip(runs, told, strict=True)]
    return "\n".join(map(write, parts))


def recommended(results: RunData, measure: str | None = None, alpha: float = 0.05) -> tuple[Comparison, ...]:
    """Make the recommended test of every pair of a run; none where there is nothing to test.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> recommended(evaluate(SEA(n_rows=1000), NaiveBayes()))
    ()
    """
    if not results.pairs:
        return ()
    return compare_all(results, measure=measure, alpha=alpha)


def _main_measure(results: RunData) -> str:
    """Give the measure to compare by: the accuracy, whose sums every run keeps."""
    return "accuracy" if "accuracy" in results.measures or not results.measures else results.measures[0]


def _single(results: RunData, comparisons: Sequence[Comparison], format: Format) -> str:  # noqa: A002
    if format == "html":
        return page_html(results, comparisons)
    return (markdown if format == "md" else latex)(document_of(results, comparisons))


def _ranked(runs: Sequence[RunData], measure: str | None, alpha: float, post_hoc: str) -> tuple[Ranking | None, str]:
    """Rank the learners of runs; None and the reason where they cannot be."""
    try:
        return rank(runs, measure=measure or _main_measure(runs[0]), alpha=alpha, post_hoc=post_hoc), ""
    except StreamgaugeError as error:
        return None, str(error)


def _study_page(
    runs: Sequence[RunData], comparisons: Sequence[Sequence[Comparison]], ranking: Ranking | None, reason: str
) -> str:
    # Learners have the same colours all over the page.
    learners = tuple(dict.fromkeys(name for run in runs for name in run.learners))
    charts = [curve_charts(run, learners, at) for at, run in enumerate(runs)]
    streams = {str(part_of(run.description, "stream").get("name", at)) for at, run in enumerate(runs)}
    title = f"{count(len(learners), 'learner')} on {count(len(streams), 'stream')}"
    not_ranked = tag("p", tag("strong", "The learners are not ranked. "), reason, class_="banner", role="status")
    parts: list[Markup] = [
        header(title, "Each run in its own part below, the learners ranked over all of them first."),
        not_ranked if ranking is None else ranking_sections(ranking),
    ]
    for run, told, of_run in zip(runs, comparisons, charts, strict=True):
        name = shorten_stream_name(str(part_of(run.description, "stream").get("name", title_of(run))))
        inner = (
            tag("p", lead(run), class_="note"),
            banners(run),
            verdicts_section(told),
            finals_section(panels(run), learners),
            curves_section(of_run, [run]),
        )
        parts.append(tag("details", tag("summary", name), *inner, class_="run", open="open" if len(runs) < 4 else None))
    marks: list[Mapping[str, object]] = [marks_of(run, learners) for run in runs]
    return whole_page(title, join_markup(*parts), learners, [chart for of_run in charts for chart in of_run], marks)
