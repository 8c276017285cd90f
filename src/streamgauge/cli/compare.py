"""`streamgauge compare`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from streamgauge.cli.names import complete_names
from streamgauge.cli.out_folder import check_folders
from streamgauge.cli.run_options import add_run_options, finish, prepare, run
from streamgauge.cli.watch import serve_page
from streamgauge.errors import StreamgaugeError
from streamgauge.names import to_forgetting_name
from streamgauge.reports.q_statistic import choose_loss
from streamgauge.significance import ADJUSTMENTS, find_test, list_tests
from streamgauge.significance.all_pairs import check_adjustment
from streamgauge.significance.requests import compare_possible

__all__ = ["command"]


@click.command("compare")
@click.argument("results", required=False, type=click.Path(path_type=Path))
@add_run_options
@click.option(
    "--test",
    "tests",
    shell_complete=complete_names("tests"),
    multiple=True,
    help=f"Significance test: {', '.join(list_tests())}; repeatable.  [default: two_way_t]",
)
@click.option("--tested", help="Measure to test.  [default: accuracy if it was measured, else the first]")
@click.option(
    "--q-statistic", is_flag=True, help="Also print the Q statistic of each pair: the log ratio of their losses."
)
@click.option(
    "--tested-forgetting",
    help="Test the mean of the readings under this forgetting, such as 'Window(100)'.  [default: all rows]",
)
@click.option(
    "--adjust",
    default="holm",
    show_default=True,
    help=f"How the p-values of three or more pairs are adjusted: {', '.join(ADJUSTMENTS)}.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level of the tests.")
def command(
    results: Path | None,
    *,
    tests: tuple[str, ...],
    tested: str | None,
    tested_forgetting: str | None,
    adjust: str,
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
    check_adjustment(adjust)
    options["earlier"] = check_folders(options, results)
    forgetting = None if tested_forgetting is None else to_forgetting_name(tested_forgetting)
    request: dict[str, Any] = {"measure": tested, "alpha": alpha, "forgetting": forgetting}
    if results is not None:
        return _compare_saved(results, tests, {**request, "adjust": adjust}, options)
    evaluation = prepare({**options, "alpha": alpha})
    names = evaluation.check_tests(tests, **request)
    if options["q_statistic"]:
        choose_loss({measure.name: measure.greater_is_better for measure in evaluation.measures})
    with serve_page(options["out"], enabled=options["watch"]) as journal:
        run_results = run(evaluation, options, journal)
        chosen = {} if tested is None else {"tested": tested}  # reports of the saved results test the same
        run_results = replace(run_results, description={**run_results.description, **chosen})
        return finish(run_results, options, lambda: compare_possible(run_results, names, **request, adjust=adjust))


def _compare_saved(folder: Path, tests: tuple[str, ...], request: dict[str, Any], options: dict[str, Any]) -> int:
    from streamgauge.results import load  # noqa: PLC0415

    saved = load(folder)
    if len(saved.learners) < 2:
        msg = f"a comparison needs two learners; {folder} has {', '.join(saved.learners) or 'none'}"
        raise StreamgaugeError(msg)
    names = tuple(find_test(test, list_tests()).name for test in tests)
    comparisons, reasons = compare_possible(saved, names, **request)
    if not comparisons and reasons:
        raise StreamgaugeError("; ".join(reasons))
    return finish(saved, options, lambda: (comparisons, reasons))
