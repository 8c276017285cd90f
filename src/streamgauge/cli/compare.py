"""`streamgauge compare`."""

from pathlib import Path
from typing import Any

import click

from streamgauge.cli.names import complete_names
from streamgauge.cli.out_folder import check_folders
from streamgauge.cli.run_options import add_run_options, run, write_outputs
from streamgauge.cli.watch import serve_page
from streamgauge.errors import StreamgaugeError
from streamgauge.significance import compare_all, list_tests

__all__ = ["command"]


@click.command("compare")
@click.argument("results", required=False, type=click.Path(path_type=Path))
@add_run_options
@click.option(
    "--test",
    "tests",
    shell_complete=complete_names("tests"),
    multiple=True,
    help=f"Significance test: {', '.join(list_tests())}; repeatable.  [default: the recommended one]",
)
@click.option("--tested", help="Measure to test.  [default: accuracy if it was measured, else the first]")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level of the tests.")
def command(
    results: Path | None,
    *,
    tests: tuple[str, ...],
    tested: str | None,
    alpha: float,
    **options: Any,  # noqa: ANN401
) -> int:
    """Evaluate learners on a stream, and test every pair.

    Either give the options of a new run, or RESULTS, a folder that an earlier run saved with --out. With RESULTS the
    options of a run, such as --rows, --scheme, --measure and --rope, are ignored.

    \b
    Examples:
      streamgauge compare --stream SEA --rows 100000 --scheme "Bootstrap(10)" \\
        --learner HoeffdingTree --learner NaiveBayes
      streamgauge compare results/rbf --test two_way_t --test wilcoxon
    """
    from streamgauge.results import load  # noqa: PLC0415
    from streamgauge.store import is_store  # noqa: PLC0415

    if results is not None and (options["stream"] or options["learner"]):
        msg = f"give either a results folder ({results}) or the options of a new run, not both"
        raise StreamgaugeError(msg)
    if results is not None and is_store(results):
        msg = (
            f"{results} is a store of many runs: compare one of them, {results}/runs/run=... "
            f"('streamgauge results {results} --runs' lists them), or rank all of them with 'streamgauge rank'"
        )
        raise StreamgaugeError(msg)
    if results is None and len(options["learner"]) == 1:
        msg = f"a comparison needs two learners; add one to --learner {options['learner'][0]}"
        raise StreamgaugeError(msg)
    options["earlier"] = check_folders(options, results)
    with serve_page(options["out"], enabled=options["watch"] and results is None) as journal:
        run_results = run({**options, "alpha": alpha}, journal) if results is None else load(results)
        if len(run_results.learners) < 2:
            learners = ", ".join(run_results.learners) or "none"
            msg = f"a comparison needs two learners; {results} has {learners}"
            raise StreamgaugeError(msg)
        comparisons = [
            comparison
            for test in tests or (None,)
            for comparison in compare_all(run_results, test=test, alpha=alpha, measure=tested)
        ]
        return write_outputs(run_results, comparisons, options)
