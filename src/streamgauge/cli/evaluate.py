"""`streamgauge evaluate`."""

from typing import Any

import click

from streamgauge.cli.out_folder import prepared_folders
from streamgauge.cli.run_options import run, run_options, show
from streamgauge.cli.watch import watched

__all__ = ["command"]


@click.command("evaluate")
@run_options
def command(**options: Any) -> int:  # noqa: ANN401
    """Evaluate learners on a stream, all in one pass.

    \b
    Examples:
      streamgauge evaluate --stream SEA --rows 100000 --learner HoeffdingTree
      streamgauge evaluate --stream "RandomRBF(speed=0.001)" --rows 1000000 \\
        --learner HoeffdingTree --learner NaiveBayes --scheme "Bootstrap(10)" \\
        --forgetting AdwinWindow --measure accuracy --measure kappa_m --out results/rbf
    """
    options["earlier"] = prepared_folders(options)
    with watched(options["out"], wanted=options["watch"]) as journal:
        return show(run(options, journal), (), options)
