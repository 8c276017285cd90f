"""`streamgauge plot`: a figure of saved results."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.names import Choice, to_forgetting_name
from streamgauge.cli.output import add_output_options, print_json, print_note
from streamgauge.cli.saved_results import add_store_options, load_runs
from streamgauge.errors import StreamgaugeError, unknown_name

if TYPE_CHECKING:
    from streamgauge.plots import Figure
    from streamgauge.results import Results
    from streamgauge.significance import Ranking

__all__ = ["command"]

KINDS = {
    "curves": "A measure along the stream, with folds, drifts, alarms and hidden labels.",
    "difference": "The difference of two learners along the stream, with its confidence sequence.",
    "confusion": "Confusion matrices at several rows.",
    "balance": "The share of each class along the stream.",
    "labels": "How many labels arrived, were late or hidden, along the stream.",
    "resources": "The cost of the learners along the stream.",
    "pareto": "A measure against the cost, and the Pareto front.",
    "p_values": "The p-values of all pairs, for one run or over the streams of many.",
    "ranks": "The critical-difference diagram of many runs.",
    "wins": "Streams won, tied and lost by each pair, over many runs.",
}
"""The kinds of figures, named as the functions of `streamgauge.plots`."""

MULTI_RUN_KINDS = ("pareto", "p_values", "ranks", "wins")
"""The kinds that take several runs."""


@click.command(
    "plot",
    epilog="Kinds: " + ", ".join(KINDS) + ". Needs Matplotlib: pip install 'streamgauge[plots]'.",
)
@click.argument("kind")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="File to write: .png, .svg or .pdf.")
@click.option("--measure", help="Measure to draw.  [default: the first]")
@click.option("--forgetting", help="Forgetting of the readings, such as 'Window(1000)'.  [default: the first]")
@click.option("--learner", multiple=True, help="Learner to draw; repeatable.  [default: all]")
@click.option(
    "--band",
    type=Choice(["folds", "deviation", "interval", "none"]),
    default="folds",
    show_default=True,
    help="What the bands around curves show.",
)
@click.option("--cost", default="ram_hours", show_default=True, help="Cost to draw: ram_hours, cpu_seconds or n_bytes.")
@click.option("--moments", type=int, default=4, show_default=True, help="Number of confusion matrices per learner.")
@click.option("--size", nargs=2, type=float, help="Width and height in inches.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level of the tests.")
@click.option("--post-hoc", default="wilcoxon_holm", show_default=True, help="Test of the pairs over streams.")
@add_store_options
@add_output_options
def command(kind: str, results: tuple[Path, ...], *, out: Path, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Draw a figure of saved results into a file. The same results give the same bytes.

    KIND is one of the kinds below. RESULTS are folders saved with --out, or stores written by `streamgauge run`.

    \b
    Examples:
      streamgauge plot curves results/rbf --out curves.pdf --measure kappa_m
      streamgauge plot confusion results/rbf --out confusion.svg --learner HoeffdingTree
      streamgauge plot ranks results/* --out ranks.pdf --post-hoc nemenyi
    """
    if kind not in KINDS:
        raise unknown_name(kind="kind of figure", name=kind, known=KINDS)
    if options["forgetting"] is not None:
        options["forgetting"] = to_forgetting_name(options["forgetting"])
    runs = load_runs(results, options)
    if len(runs) > 1 and kind not in MULTI_RUN_KINDS:
        msg = f"{kind} takes one run, not {len(runs)}: name one folder, or choose one run of a store with --stream"
        raise StreamgaugeError(msg)
    path = _draw(kind, runs, options).save(out)
    if as_json:
        print_json({"figure": str(path)})
    print_note(f"figure: {path}")


def _draw(kind: str, runs: "list[Results]", options: dict[str, Any]) -> "Figure":
    from streamgauge import plots  # noqa: PLC0415

    if kind == "ranks":
        return plots.ranks(_rank(runs, options))
    if kind == "wins":
        return plots.wins(_rank(runs, options))
    if kind == "p_values" and len(runs) > 1:
        return plots.p_values(_rank(runs, options))
    if kind == "p_values":
        from streamgauge.reports.study import run_recommended_tests  # noqa: PLC0415

        return plots.p_values(run_recommended_tests(runs[0], options["measure"], options["alpha"]))
    size = {"size": options["size"]} if options["size"] else {}
    if kind == "pareto":
        return plots.pareto(runs, options["measure"], options["forgetting"], cost=options["cost"], **size)
    return _draw_run(kind, runs[0], options, size)


def _draw_run(kind: str, run: "Results", options: dict[str, Any], size: dict[str, Any]) -> "Figure":
    from streamgauge import plots  # noqa: PLC0415

    learners = list(options["learner"]) or None
    measure, forgetting = options["measure"], options["forgetting"]
    if kind == "curves":
        return plots.curves(run, measure, forgetting, learners=learners, band=options["band"], **size)
    if kind == "confusion":
        return plots.confusion(run, forgetting, learners=learners, moments=options["moments"])
    if kind == "resources":
        return plots.resources(run, options["cost"], learners=learners, **size)
    if kind == "difference":
        if learners is not None and len(learners) != 2:
            msg = f"difference takes two learners: give --learner twice, not {len(learners)} times"
            raise StreamgaugeError(msg)
        return plots.difference(run, *(learners or ()), **size)
    return plots.balance(run, **size) if kind == "balance" else plots.labels(run, **size)


def _rank(runs: "list[Results]", options: dict[str, Any]) -> "Ranking":
    from streamgauge.significance import rank  # noqa: PLC0415

    chosen = {name: options[name] for name in ("alpha", "post_hoc", "forgetting")}
    return rank(runs, measure=options["measure"] or _choose_shared_measure(runs), **chosen)


def _choose_shared_measure(runs: "list[Results]") -> str:
    """Return the first measure that all runs have."""
    shared = [measure for measure in runs[0].measures if all(measure in run.measures for run in runs)]
    if not shared:
        measures = "; ".join(dict.fromkeys(", ".join(run.measures) for run in runs))
        msg = f"the runs have no measure in common: {measures}"
        raise StreamgaugeError(msg)
    return shared[0]
