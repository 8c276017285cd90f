"""`streamgauge compare`."""

from pathlib import Path
from typing import Any

import click

from streamgauge.cli.out_folder import prepared_folders
from streamgauge.cli.run_options import run, run_options, show
from streamgauge.cli.watch import watched
from streamgauge.errors import StreamgaugeError

__all__ = ["command"]


@click.command("compare")
@click.argument("results", required=False, type=click.Path(path_type=Path))
@run_options
@click.option("--test", "tests", multiple=True, help="The test to use; repeatable.  [default: the recommended one]")
@click.option("--tested", help="The measure that is tested.  [default: accuracy where it was measured, else the first]")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of the tests.")
def command(
    results: Path | None,
    *,
    tests: tuple[str, ...],
    tested: str | None,
    alpha: float,
    **options: Any,  # noqa: ANN401
) -> int:
    """Say of each pair of learners whether one is really better.

    Give the options of a run, or RESULTS, the folder of one that was saved with --out.

    \b
    Examples:
      streamgauge compare --stream SEA --rows 100000 --scheme "Bootstrap(10)" \\
        --learner HoeffdingTree --learner NaiveBayes
      streamgauge compare results/rbf --test two_way_t --test wilcoxon
    """
    from streamgauge.results import load  # noqa: PLC0415
    from streamgauge.significance import compare_all  # noqa: PLC0415
    from streamgauge.store import is_store  # noqa: PLC0415

    if results is not None and (options["stream"] or options["learner"]):
        msg = f"give either a folder of results ({results}) or the options of a run, not both"
        raise StreamgaugeError(msg)
    if results is not None and is_store(results):
        runs = f"{results}/runs/run=..., as 'streamgauge results {results} --runs' names them"
        msg = f"{results} is a store of many runs: compare one of them, {runs}, or rank all with 'streamgauge rank'"
        raise StreamgaugeError(msg)
    if results is None and len(options["learner"]) == 1:
        msg = f"a comparison needs two learners; give another beside --learner {options['learner'][0]}"
        raise StreamgaugeError(msg)
    options["earlier"] = prepared_folders(options, results)
    with watched(options["out"], wanted=options["watch"] and results is None) as journal:
        found = run({**options, "alpha": alpha}, journal) if results is None else load(results)
        if len(found.learners) < 2:
            msg = f"a comparison needs two learners; in {results} there is {', '.join(found.learners) or 'none'}"
            raise StreamgaugeError(msg)
        by_test = [compare_all(found, test=test, alpha=alpha, measure=tested) for test in tests or (None,)]
        return show(found, [comparison for of_test in by_test for comparison in of_test], options)
