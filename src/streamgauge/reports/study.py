"""Reports of one or several runs, in HTML, Markdown or LaTeX."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from streamgauge.errors import StreamgaugeError, require_between, unknown_name
from streamgauge.measures import measure as find_measure
from streamgauge.records import RunData
from streamgauge.reports.document import build_document
from streamgauge.reports.latex import to_latex
from streamgauge.reports.markdown import to_markdown
from streamgauge.reports.model import Grid
from streamgauge.reports.page import page_html
from streamgauge.reports.paper import build_paper_tables
from streamgauge.reports.rankings import build_ranking_document
from streamgauge.reports.study_page import build_study_page
from streamgauge.significance import POST_HOCS, Comparison, Ranking, rank
from streamgauge.significance.ranking import check_value
from streamgauge.significance.requests import compare_possible
from streamgauge.streams.output_files import replace_atomically

__all__ = ["FORMATS", "build_ranking_tables", "rank_runs", "report", "run_recommended_tests", "write_report"]

Format = Literal["html", "md", "latex"]

FORMATS = get_args(Format)
"""The output formats of reports."""

SUFFIXES: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".tex": "latex"}


def write_report(
    results: RunData | Sequence[RunData],
    path: str | Path,
    comparisons: Sequence[Comparison] | None = None,
    *,
    format: Format | None = None,  # noqa: A002
    **options: object,
) -> Path:
    """Write the report of one or several runs to a file and return its path.

    Parameters
    ----------
    results, comparisons, options
        As for `report`.
    path
        The file; its suffix .html, .md or .tex decides the format.
    format
        The format, if the suffix is another one.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> path = write_report(evaluate(SEA(n_rows=1000), NaiveBayes()), Path(mkdtemp()) / "report.md")
    >>> path.read_text().splitlines()[0]
    '# NaiveBayes on SEA'
    """
    path = Path(path)
    chosen = format or SUFFIXES.get(path.suffix.lower())
    if chosen is None:
        msg = f"{path}: the name of a report must end in .html, .md or .tex, unless the format is given"
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
    value: str | None = None,
) -> str:
    r"""Return the report of one or several runs: findings, limitations, and the numbers behind them.

    Several runs of the same learners on different streams are ranked over the streams, and reported one by one.

    Parameters
    ----------
    results
        The results of evaluations.
    comparisons
        The tests between learners, for one run only; None to run those that `compare` recommends.
    format
        ``html``, a self-contained page; ``md``, Markdown; ``latex``, tables for a paper.
    measure
        The measure to rank and compare by; by default the accuracy, or the first measure.
    alpha
        The level of the tests.
    post_hoc
        The test of the pairs over streams.
    value
        What is ranked over streams: the ``last`` value, or the ``mean`` over the stream; None as for `rank`.

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
        msg = "comparisons are only accepted for one run; several runs are compared by the report itself"
        raise StreamgaugeError(msg)
    _check_request(runs, measure, alpha, post_hoc)
    check_value(value)
    tests = [run_recommended_tests(run, measure, alpha) if comparisons is None else comparisons for run in runs]
    if format == "html" and len(runs) == 1:
        return page_html(runs[0], tests[0])
    ranking, reason = rank_runs(runs, measure, alpha, post_hoc, value) if len(runs) > 1 else (None, "")
    tables = [] if ranking is None else build_ranking_tables(runs, ranking, value)
    if format == "html":
        return build_study_page(runs, tests, ranking, tables, reason)
    write = to_markdown if format == "md" else partial(to_latex, labels=set())
    parts = [build_ranking_document(ranking, tables)] if ranking is not None else []
    parts += [build_document(run, run_tests) for run, run_tests in zip(runs, tests, strict=True)]
    return "\n".join(map(write, parts))


def _check_request(runs: Sequence[RunData], measure: str | None, alpha: float, post_hoc: str) -> None:
    """Raise if an option is wrong, so that what cannot be tested is a matter of the results."""
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    if post_hoc not in POST_HOCS:
        raise unknown_name(kind="post-hoc test", name=post_hoc, known=POST_HOCS)
    if measure is not None and not all(measure in run.measures for run in runs):
        find_measure(measure)


def run_recommended_tests(results: RunData, measure: str | None = None, alpha: float = 0.05) -> tuple[Comparison, ...]:
    """Return the recommended test of every pair of a run; pairs that cannot be tested are left out.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> run_recommended_tests(evaluate(SEA(n_rows=1000), NaiveBayes()))
    ()
    """
    return tuple(compare_possible(results, measure=measure, alpha=alpha)[0])


def rank_runs(
    runs: Sequence[RunData],
    measure: str | None = None,
    alpha: float = 0.05,
    post_hoc: str = "wilcoxon_holm",
    value: str | None = None,
) -> tuple[Ranking | None, str]:
    """Return the ranking of the learners of several runs, or None and the reason.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> rank_runs([evaluate("SEA", "NaiveBayes", n_rows=500)])[1].partition(",")[0]
    'a ranking needs at least 2 learners on at least 2 streams'
    """
    if not runs:
        return None, "no run is finished"
    measures = runs[0].measures
    default = "accuracy" if "accuracy" in measures or not measures else measures[0]
    try:
        return rank(runs, measure=measure or default, alpha=alpha, post_hoc=post_hoc, value=value), ""
    except StreamgaugeError as error:
        return None, str(error)


def build_ranking_tables(runs: Sequence[RunData], ranking: Ranking, value: str | None = None) -> list[Grid]:
    """Return a table by stream of the ranked measure, and of each other one that is defined on all streams.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> runs = [evaluate(stream, ["NaiveBayes", "NoChange"], n_rows=500) for stream in ("SEA", "RandomRBF", "LED")]
    >>> [table.title for table in build_ranking_tables(runs, rank(runs))]
    ['accuracy % over all rows']
    """
    shared = [name for name in runs[0].measures if all(name in run.measures for run in runs)]
    tables: list[Grid] = []
    for measure in dict.fromkeys((ranking.measure, *shared)):
        with suppress(StreamgaugeError):  # it is undefined for a learner on a stream
            options: dict[str, Any] = {"alpha": ranking.alpha, "post_hoc": ranking.post_hoc, "value": value}
            sections = build_paper_tables(runs, measures=[measure], **options).sections
            tables += [block for section in sections for block in section.blocks if isinstance(block, Grid)]
    return tables
