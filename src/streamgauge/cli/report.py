"""`streamgauge report`: saved results as a page, Markdown or LaTeX."""

from pathlib import Path
from typing import Any

import click

from streamgauge.cli.names import Choice
from streamgauge.cli.output import add_output_options, print_json, print_note
from streamgauge.cli.saved_results import add_store_options, load_repetitions, load_runs
from streamgauge.errors import StreamgaugeError
from streamgauge.names import to_forgetting_name

__all__ = ["command"]


@click.command("report")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    type=Choice(["html", "md", "latex"]),
    help="Format of the report.  [default: by the suffix of --out, else html]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File to write, for a paper the folder.  [default: report.html, for a paper paper; md and latex are printed]",
)
@click.option(
    "--for",
    "purpose",
    type=Choice(["paper"]),
    help="Write what goes into a paper into the folder --out: tables.tex, method.tex, references.bib and, with"
    " Matplotlib, figures.tex with curves.pdf and ranks.pdf.",
)
@click.option("--force", is_flag=True, help="For a paper: replace files that were edited since they were written.")
@click.option(
    "--forgetting",
    help="For a paper: forgetting of tables, ranks and curves, such as 'Window(1000)'.  [default: Landmark(), or the"
    " only one; curves show a window, if there is one]",
)
@click.option("--control", help="For a paper: compare this learner alone with the others over streams.")
@click.option("--measure", help="Measure to compare and rank by.  [default: accuracy, or the first measure]")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level of the tests.")
@click.option("--post-hoc", default="wilcoxon_holm", show_default=True, help="Test of the pairs over streams.")
@click.option("--value", help="Value to rank over streams by: last or mean.  [default: over the stream]")
@click.option("--learner", multiple=True, help="In a store, only this learner; a name or pattern; repeatable.")
@add_store_options
@add_output_options
def command(
    results: tuple[Path, ...],
    *,
    format: str | None,  # noqa: A002
    out: Path | None,
    purpose: str | None,
    force: bool,
    forgetting: str | None,
    control: str | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Write a report of saved results: sentences, tables and curves.

    RESULTS are folders saved with --out, or stores written by `streamgauge run`. Several runs of the same learners on
    different streams are ranked over the streams. An HTML report is one file that works offline; latex gives tables
    for a paper.

    \b
    Examples:
      streamgauge report results/rbf
      streamgauge report results/* --format latex > tables.tex
      streamgauge report results/sea results/rbf results/led --out study.html --measure kappa_m
      streamgauge report results/* --for paper --out paper/tables
    """
    from streamgauge.reports import report, write_report  # noqa: PLC0415

    if purpose is not None and format is not None:
        msg = f"--for {purpose} writes LaTeX: leave --format {format} out"
        raise StreamgaugeError(msg)
    if purpose is not None:
        chosen = {"forgetting": forgetting and to_forgetting_name(forgetting), "control": control}
        _write_paper(results, out or Path(purpose), {**options, **chosen}, force=force, as_json=as_json)
        return
    only = {"--force": force, "--forgetting": forgetting, "--control": control}
    given = [name for name, value in only.items() if value]
    if given:
        msg = f"{given[0]} belongs to --for paper"
        raise StreamgaugeError(msg)
    runs = load_runs(results, options, options.pop("learner"))
    if out is None and format in ("md", "latex") and not as_json:
        click.echo(report(runs, format=format, **options))  # type: ignore[arg-type]
        return
    path = write_report(runs, out or Path("report.html"), format=format, **options)  # type: ignore[arg-type]
    if as_json:
        print_json({"report": str(path)})
    print_note(f"report: {path}")


def _write_paper(results: tuple[Path, ...], out: Path, options: dict[str, Any], *, force: bool, as_json: bool) -> None:
    from streamgauge.reports.paper_files import prepare_paper  # noqa: PLC0415

    runs = load_repetitions(results, options, options.pop("learner"), forgetting=options["forgetting"])
    measure = options.pop("measure")
    paper = prepare_paper(runs, measures=None if measure is None else [measure], **options)
    paths = paper.write(out, overwrite=force)
    if as_json:
        print_json({"files": [str(path) for path in paths], "notes": list(paper.notes)})
    for note in paper.notes:
        print_note(note)
    print_note(f"paper: {', '.join(map(str, paths))}")
    packages, folder = r"\usepackage{booktabs,adjustbox,graphicx}", rf"\graphicspath{{{{{out.as_posix()}/}}}}"
    print_note(f"the preamble of the paper needs {packages} {folder}")
