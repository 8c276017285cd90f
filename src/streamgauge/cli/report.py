"""`streamgauge report`: saved results as a page, Markdown or LaTeX."""

from pathlib import Path
from typing import Any

import click

from streamgauge.cli.names import Choice
from streamgauge.cli.output import note, output_options, print_json
from streamgauge.cli.saved_results import saved_options, saved_runs

__all__ = ["command"]


@click.command("report")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    type=Choice(["html", "md", "latex"]),
    help="What to write.  [default: as --out ends, or html]",
)
@click.option("--out", type=click.Path(path_type=Path), help="The file.  [default: report.html; else printed]")
@click.option("--measure", help="By what to compare and rank.  [default: accuracy, or the first measure]")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of the tests.")
@click.option("--post-hoc", default="wilcoxon_holm", show_default=True, help="The test of the pairs over streams.")
@click.option("--learner", multiple=True, help="Of a store, only this learner; repeatable.")
@saved_options
@output_options
def command(
    results: tuple[Path, ...],
    *,
    format: str | None,  # noqa: A002
    out: Path | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Report what saved results say: in words, tables and curves.

    RESULTS are folders that were saved with --out, or stores that `streamgauge run` wrote. Several, of the same
    learners on different streams, are ranked over the streams. A page (html) needs nothing else and works offline;
    latex gives tables for a paper.

    \b
    Examples:
      streamgauge report results/rbf
      streamgauge report results/* --format latex > tables.tex
      streamgauge report results/sea results/rbf results/led --out study.html --measure kappa_m
    """
    from streamgauge.reports import report, write_report  # noqa: PLC0415

    runs = saved_runs(results, options, options.pop("learner"))
    if out is None and format in ("md", "latex") and not as_json:
        click.echo(report(runs, format=format, **options))  # type: ignore[arg-type]
        return
    path = write_report(runs, out or Path("report.html"), format=format, **options)  # type: ignore[arg-type]
    if as_json:
        print_json({"report": str(path)})
    note(f"report: {path}")
