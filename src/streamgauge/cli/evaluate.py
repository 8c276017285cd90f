"""`streamgauge evaluate`."""

from typing import Any

import click

from streamgauge.cli.out_folder import check_folders
from streamgauge.cli.run_options import add_run_options, finish, prepare, run
from streamgauge.cli.watch import serve_page

__all__ = ["command"]


@click.command("evaluate")
@add_run_options
def command(**options: Any) -> int:  # noqa: ANN401
    """Evaluate learners on a stream, all in one pass.

    \b
    Examples:
      streamgauge evaluate --stream SEA --rows 100000 --learner HoeffdingTree
      streamgauge evaluate --stream "RandomRBF(speed=0.001)" --rows 1000000 \\
        --learner HoeffdingTree --learner NaiveBayes --scheme "Bootstrap(10)" \\
        --forgetting AdwinWindow --measure accuracy --measure kappa_m --out results/rbf
    """
    options["earlier"] = check_folders(options)
    evaluation = prepare(options)
    with serve_page(options["out"], enabled=options["watch"]) as journal:
        return finish(run(evaluation, options, journal), options)
