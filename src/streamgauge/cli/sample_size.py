"""`streamgauge sample-size`: how many rows, labels or folds a difference needs."""

from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.names import complete_names
from streamgauge.cli.output import POSITIVE, ROWS, add_output_options, print_json, print_note
from streamgauge.errors import StreamgaugeError
from streamgauge.names import FAMILIES, find_stream, make, make_learners

if TYPE_CHECKING:
    from streamgauge.results import Results
    from streamgauge.significance import SampleSize

__all__ = ["command"]

PLAN = ("difference", "power", "alpha", "planned_rows", "planned_folds", "rope", "label_share")
ASSUMPTIONS = ("errors", "discordance", "positives", "fold_deviation")


@click.command("sample-size")
@click.argument("results", required=False, type=click.Path(path_type=Path))
@click.option("--difference", type=float, help="Difference to tell, such as 0.01.  [default: that of the pilot]")
@click.option("--power", type=float, default=0.8, show_default=True, help="Probability to tell it if it exists.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level, shared by all pairs.")
@click.option("--tested", help="Measure to test.  [default: accuracy if it was measured, else the first]")
@click.option("--planned-rows", type=POSITIVE, help="Rows of the planned run.  [default: those of the pilot]")
@click.option("--planned-folds", type=POSITIVE, help="Folds of the planned run.  [default: those of the pilot, else 1]")
@click.option("--rope", type=float, help="Margin of a live verdict.  [default: that of the measure]")
@click.option("--label-share", type=float, help="Share of rows with a label.  [default: that of the pilot, else 1]")
@click.option("--errors", nargs=2, type=float, help="Assume these error rates of the two learners.")
@click.option("--discordance", type=float, help="Assume that exactly one of the two is right on this share of rows.")
@click.option("--positives", type=float, help="Assume that this share of rows counts, as for the recall of a class.")
@click.option("--fold-deviation", type=float, help="Assume this standard deviation of the difference between folds.")
@click.option("--stream", shell_complete=complete_names("streams"), help="Run a pilot on this stream.")
@click.option(
    "--learner", shell_complete=complete_names("learners"), multiple=True, help="Learner of a pilot; two or more."
)
@click.option(*ROWS, type=POSITIVE, default=5000, show_default=True, help="Rows of a pilot.")
@click.option("--scheme", default="Bootstrap(10)", show_default=True, help="Scheme of a pilot.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of a pilot.")
@add_output_options
def command(results: Path | None, *, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Estimate how many rows, labels or folds it takes to tell a difference.

    What is needed depends on how much the difference varies with rows and with folds. That is known from a pilot:
    either RESULTS, a folder that a short run saved with --out, or a run with --stream and --learner. Without a pilot,
    assume error rates or a discordance.

    \b
    Examples:
      streamgauge sample-size results/pilot --difference 0.01
      streamgauge sample-size --stream SEA --learner HoeffdingTree --learner NaiveBayes --difference 0.01
      streamgauge sample-size --errors 0.10 0.12 --discordance 0.08 --label-share 0.05
      streamgauge sample-size --errors 0.40 0.45 --positives 0.02
    """
    pilot = _find_pilot(results, options)
    sizes = _estimate(pilot, options)
    if as_json:
        print_json([{**asdict(size), "sentence": size.sentence} for size in sizes])
        return
    for size in sizes:
        click.echo("\n".join(size.sentences))
    for note in dict.fromkeys(note for size in sizes for note in size.notes):
        print_note(f"Note: {note}.")


def _find_pilot(folder: Path | None, options: dict[str, Any]) -> "Results | None":
    """Return the results of a saved pilot, or of one that is run now; None for assumptions."""
    runs = bool(options["stream"] or options["learner"])
    assumed = [f"--{name.replace('_', '-')}" for name in ASSUMPTIONS if options[name] is not None]
    ways = [
        *([f"a results folder ({folder})"] if folder is not None else []),
        *(["a pilot (--stream and --learner)"] if runs else []),
        *([f"assumptions ({', '.join(assumed)})"] if assumed else []),
    ]
    if len(ways) > 1:
        msg = f"give one of them, not both: {' and '.join(ways)}"
        raise StreamgaugeError(msg)
    if folder is not None:
        from streamgauge.results import load  # noqa: PLC0415

        return load(folder)
    if not runs:
        return None
    if not options["stream"] or len(options["learner"]) < 2:
        msg = "a pilot needs --stream and two or more --learner, such as --learner HoeffdingTree --learner NaiveBayes"
        raise StreamgaugeError(msg)
    from streamgauge.evaluation import evaluate  # noqa: PLC0415

    return evaluate(
        find_stream(options["stream"]),
        make_learners(options["learner"]),
        scheme=make("scheme", options["scheme"], FAMILIES["schemes"]()),
        measures=options["tested"] or "accuracy",
        n_rows=options["rows"],
        live_test=None,
        seed=options["seed"],
    )


def _estimate(pilot: "Results | None", options: dict[str, Any]) -> "list[SampleSize]":
    """Return the sample size of each pair of learners."""
    from streamgauge.significance import sample_size  # noqa: PLC0415

    plan = {name.replace("planned", "n"): options[name] for name in PLAN}
    plan["measure"] = options["tested"]
    if pilot is None:
        assumed = {name: options[name] for name in ASSUMPTIONS if options[name] is not None}
        if "errors" in assumed:
            assumed["error_rates"] = assumed.pop("errors")
        if not assumed:
            msg = (
                "a sample size needs a results folder, --stream and --learner for a pilot, or assumptions such as"
                " --errors 0.10 0.12"
            )
            raise StreamgaugeError(msg)
        return [sample_size(**plan, **assumed)]
    names = [name for name in pilot.learners if any(name in (pair.first, pair.second) for pair in pilot.pairs)]
    if len(names) < 2:
        msg = f"a sample size needs two learners; the pilot has {', '.join(pilot.learners) or 'none'}"
        raise StreamgaugeError(msg)
    pairs = list(combinations(names, 2))
    return [sample_size(pilot, *pair, n_pairs=len(pairs), **plan) for pair in pairs]
