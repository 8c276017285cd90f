"""`streamgauge plot`: a figure of saved results."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.names import Choice, forgetting_name
from streamgauge.cli.output import note, output_options, print_json
from streamgauge.cli.saved_results import saved_options, saved_runs
from streamgauge.errors import StreamgaugeError, unknown_name

if TYPE_CHECKING:
    from streamgauge.plots import Figure
    from streamgauge.results import Results

__all__ = ["command"]

KINDS = {
    "curves": "A measure along the stream, with folds, drifts, alarms and hidden labels.",
    "difference": "The difference of two learners along the stream, with its confidence sequence.",
    "confusion": "Who is taken for whom, at several moments.",
    "balance": "The share of each class along the stream.",
    "labels": "What became of the labels along the stream.",
    "resources": "What the learners cost along the stream.",
    "pareto": "A measure against the cost, and the Pareto front.",
    "p_values": "The p-values of all pairs: of one run, or of many over their streams.",
    "ranks": "The critical-difference diagram of many runs.",
    "wins": "Streams won, tied and lost by each pair, of many runs.",
}
"""The kinds of figures, named as the functions of `streamgauge.plots`."""

MANY = ("pareto", "p_values", "ranks", "wins")
"""Those that take several runs."""


@click.command(
    "plot",
    epilog="Kinds: " + ", ".join(KINDS) + ". Needs Matplotlib: pip install 'streamgauge[plots]'.",
)
@click.argument("kind")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The file: .png, .svg or .pdf.")
@click.option("--measure", help="Which measure.  [default: the first]")
@click.option("--forgetting", help="Over which forgetting, as the results name it.  [default: the first]")
@click.option("--learner", multiple=True, help="Whose; repeatable.  [default: everyone's]")
@click.option(
    "--band",
    type=Choice(["folds", "deviation", "interval", "none"]),
    default="folds",
    show_default=True,
    help="What the bands of curves are.",
)
@click.option("--cost", default="ram_hours", show_default=True, help="ram_hours, cpu_seconds or n_bytes.")
@click.option("--moments", type=int, default=4, show_default=True, help="How many confusion matrices a learner has.")
@click.option("--size", nargs=2, type=float, help="Width and height in inches.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of tests.")
@click.option("--post-hoc", default="wilcoxon_holm", show_default=True, help="The test of the pairs over streams.")
@saved_options
@output_options
def command(kind: str, results: tuple[Path, ...], *, out: Path, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Draw a figure of saved results into a file; the same results give the same bytes.

    RESULTS are folders that were saved with --out, or stores that `streamgauge run` wrote.

    \b
    Examples:
      streamgauge plot curves results/rbf --out curves.pdf --measure kappa_m
      streamgauge plot confusion results/rbf --out confusion.svg --learner HoeffdingTree
      streamgauge plot ranks results/* --out ranks.pdf --post-hoc nemenyi
    """
    if kind not in KINDS:
        raise unknown_name(kind="kind of figure", name=kind, known=KINDS)
    if options["forgetting"] is not None:
        options["forgetting"] = forgetting_name(options["forgetting"])
    runs = saved_runs(results, options)
    if len(runs) > 1 and kind not in MANY:
        msg = f"{kind} is drawn of one run, not of {len(runs)}: name one folder, or of a store one --stream"
        raise StreamgaugeError(msg)
    figure = _drawn(kind, runs, options)
    path = figure.save(out)
    if as_json:
        print_json({"figure": str(path)})
    note(f"figure: {path}")


def _drawn(kind: str, runs: "list[Results]", options: dict[str, Any]) -> "Figure":
    from streamgauge import plots  # noqa: PLC0415

    if kind in ("ranks", "wins") or (kind == "p_values" and len(runs) > 1):
        return getattr(plots, kind)(_ranking(runs, options))  # type: ignore[no-any-return]
    if kind == "p_values":
        from streamgauge.reports.study import recommended  # noqa: PLC0415

        return plots.p_values(recommended(runs[0], options["measure"], options["alpha"]))  # type: ignore[arg-type]
    if kind == "pareto":
        return plots.pareto(runs, options["measure"], options["forgetting"], cost=options["cost"], **_size(options))
    return _of_one(kind, runs[0], options)


def _of_one(kind: str, run: "Results", options: dict[str, Any]) -> "Figure":
    from streamgauge import plots  # noqa: PLC0415

    learners = list(options["learner"]) or None
    which = (options["measure"], options["forgetting"])
    if kind == "curves":
        return plots.curves(run, *which, learners=learners, band=options["band"], **_size(options))
    if kind == "confusion":
        return plots.confusion(run, options["forgetting"], learners=learners, moments=options["moments"])
    if kind == "resources":
        return plots.resources(run, options["cost"], learners=learners, **_size(options))
    if kind == "difference":
        if learners is not None and len(learners) != 2:
            msg = f"a difference is of two learners: give --learner twice, not {len(learners)} times"
            raise StreamgaugeError(msg)
        return plots.difference(run, *(learners or ()), **_size(options))
    return plots.balance(run, **_size(options)) if kind == "balance" else plots.labels(run, **_size(options))


def _ranking(runs: "list[Results]", options: dict[str, Any]) -> Any:  # noqa: ANN401
    from streamgauge.significance import rank  # noqa: PLC0415

    chosen = {name: options[name] for name in ("alpha", "post_hoc", "forgetting")}
    return rank(runs, measure=options["measure"] or _shared_measure(runs), **chosen)


def _shared_measure(runs: "list[Results]") -> str:
    """Give the first measure that all runs have."""
    shared = [measure for measure in runs[0].measures if all(measure in run.measures for run in runs)]
    if not shared:
        told = "; ".join(dict.fromkeys(", ".join(run.measures) for run in runs))
        msg = f"the runs have no measure in common: {told}"
        raise StreamgaugeError(msg)
    return shared[0]


def _size(options: dict[str, Any]) -> dict[str, Any]:
    return {"size": options["size"]} if options["size"] else {}
