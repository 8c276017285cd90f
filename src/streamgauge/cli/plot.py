"""`streamgauge plot`: a figure of saved results."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.names import Choice
from streamgauge.cli.output import add_output_options, print_json, print_note
from streamgauge.cli.saved_results import add_store_options, load_runs
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.names import FAMILIES, make, to_forgetting_name

if TYPE_CHECKING:
    from streamgauge.plots import Figure
    from streamgauge.results import Results
    from streamgauge.significance import Ranking

__all__ = ["command"]

Found = dict[str, list[dict[str, object]]]
"""Values that are printed beside a figure, by their name in JSON; each has a sentence."""

KINDS = {
    "curves": "Measures along the stream, with folds, seeds, drifts, alarms and hidden labels.",
    "difference": "The difference of two learners along the stream, with its confidence sequence.",
    "q_statistic": "The Q statistic of two learners along the stream: the logarithm of the ratio of their losses.",
    "detector_statistic": "The statistic of drift detectors beside its threshold, on recorded errors of a learner.",
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

MULTI_RUN_KINDS = ("curves", "q_statistic", "pareto", "p_values", "ranks", "wins")
"""The kinds that take several runs."""


@click.command(
    "plot",
    epilog="Kinds: " + ", ".join(KINDS) + ". Needs Matplotlib: pip install 'streamgauge[plots]'.",
)
@click.argument("kind")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="File to write: .png, .svg or .pdf.")
@click.option("--measure", multiple=True, help="Measure to draw; repeatable in curves.  [default: the first]")
@click.option(
    "--forgetting",
    multiple=True,
    help="Forgetting of the readings, such as 'Window(1000)'; repeatable in curves and q_statistic."
    "  [default: the first]",
)
@click.option("--learner", multiple=True, help="Learner to draw; repeatable.  [default: all]")
@click.option(
    "--lines",
    type=Choice(["learners", "measures", "forgettings"]),
    help="What the lines of a panel of curves stand for; all else has panels of its own."
    "  [default: the first of which there are several]",
)
@click.option(
    "--band",
    type=Choice(["folds", "deviation", "interval", "none"]),
    default="folds",
    show_default=True,
    help="What the bands around curves show.",
)
@click.option(
    "--x",
    type=Choice(["row", "time"]),
    help="What the x axis shows.  [default: the times of the rows where all runs carry them, else rows]",
)
@click.option("--cost", default="ram_hours", show_default=True, help="Cost to draw: ram_hours, cpu_seconds or n_bytes.")
@click.option("--moments", type=int, default=4, show_default=True, help="Number of confusion matrices per learner.")
@click.option("--row", "rows", type=int, multiple=True, help="Row to draw confusion matrices at; repeatable.")
@click.option(
    "--values",
    type=Choice(["shares", "counts", "both"]),
    default="shares",
    show_default=True,
    help="Numbers in confusion matrices: percent of the true class, rows, or both.",
)
@click.option(
    "--detector",
    multiple=True,
    help="Detector to draw the statistic of, such as 'PageHinkley(threshold=2.5)'; repeatable.  [default: PageHinkley]",
)
@click.option("--fold", type=int, default=0, show_default=True, help="Fold whose errors the detectors read.")
@click.option("--size", nargs=2, type=float, help="Width and height in inches.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level of the tests.")
@click.option("--post-hoc", default="wilcoxon_holm", show_default=True, help="Test of the pairs over streams.")
@click.option("--value", help="Value to rank over streams by: last or mean.  [default: over the stream]")
@add_store_options
@add_output_options
def command(kind: str, results: tuple[Path, ...], *, out: Path, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Draw a figure of saved results into a file. The same results give the same bytes.

    KIND is one of the kinds below. RESULTS are folders saved with --out, or stores written by `streamgauge run`. Curves
    of several runs of one stream are means over their seeds; other streams have panels of their own.

    \b
    Examples:
      streamgauge plot curves results/rbf --out curves.pdf --measure kappa_m
      streamgauge plot curves results/rbf --out measures.pdf --measure accuracy --measure kappa --lines measures
      streamgauge plot curves results/seed-* --out mean.pdf --band deviation
      streamgauge plot curves results/payments --out rows.pdf --x row
      streamgauge plot q_statistic results/rbf --out q.pdf --learner HoeffdingTree --learner NaiveBayes
      streamgauge plot detector_statistic results/sea --out alarms.pdf --detector "PageHinkley(threshold=2.5)"
      streamgauge plot confusion results/rbf --out confusion.svg --learner HoeffdingTree
      streamgauge plot ranks results/* --out ranks.pdf --post-hoc nemenyi
    """
    from streamgauge.plots.figure import check_suffix  # noqa: PLC0415

    if kind not in KINDS:
        raise unknown_name(kind="kind of figure", name=kind, known=KINDS)
    check_suffix(out)
    options["forgetting"] = list(map(to_forgetting_name, options["forgetting"]))
    runs = load_runs(results, options)
    if len(runs) > 1 and kind not in MULTI_RUN_KINDS:
        msg = f"{kind} takes one run, not {len(runs)}: name one folder, or choose one run of a store with --stream"
        raise StreamgaugeError(msg)
    figure, found = _draw(kind, runs, results[0], options)
    path = figure.save(out)
    if as_json:
        print_json({"figure": str(path), **found})
    for value in chain.from_iterable(found.values()) if not as_json else ():
        click.echo(value["sentence"])
    print_note(f"figure: {path}")


def _draw(kind: str, runs: "list[Results]", folder: Path, options: dict[str, Any]) -> "tuple[Figure, Found]":
    """Return the figure, and what is printed beside it."""
    from streamgauge import plots  # noqa: PLC0415

    learners, measures, forgettings = (list(options[name]) or None for name in ("learner", "measure", "forgetting"))
    size = {"size": options["size"]} if options["size"] else {}
    if kind == "curves":
        chosen = {name: options[name] for name in ("lines", "band", "x")}
        return plots.curves(runs, measures, forgettings, learners=learners, **chosen, **size), {}
    measure = _get_only("measure", kind, measures)
    if kind == "q_statistic":
        return _draw_q_statistic(runs, measure, forgettings, learners, {"x": options["x"], **size})
    forgetting = _get_only("forgetting", kind, forgettings)
    if kind in ("ranks", "wins", "p_values"):
        return _draw_tests(kind, runs, measure, forgetting, options), {}
    if kind == "pareto":
        return plots.pareto(runs, measure, forgetting, cost=options["cost"], **size), {}
    if kind == "detector_statistic":
        return _draw_detector_statistic(runs[0], folder, learners, options, size), {}
    return _draw_run(kind, runs[0], learners, forgetting, {**options, "measure": measure}, size), {}


def _draw_tests(
    kind: str, runs: "list[Results]", measure: str | None, forgetting: str | None, options: dict[str, Any]
) -> "Figure":
    """Draw the tests of a run, or the ranks over the streams of several."""
    from streamgauge import plots  # noqa: PLC0415
    from streamgauge.reports.study import run_recommended_tests  # noqa: PLC0415

    if kind == "p_values" and len(runs) == 1:
        return plots.p_values(run_recommended_tests(runs[0], measure, options["alpha"]))
    draw = {"ranks": plots.ranks, "wins": plots.wins, "p_values": plots.p_values}[kind]
    return draw(_rank(runs, measure, forgetting, options))


def _get_only(option: str, kind: str, values: list[str] | None) -> str | None:
    """Return the value of an option that a kind takes once."""
    if values is not None and len(values) > 1:
        msg = f"{kind} takes one --{option}, not {len(values)}: {', '.join(values)}"
        raise StreamgaugeError(msg)
    return values[0] if values else None


def _get_pair(kind: str, learners: list[str] | None) -> list[str]:
    if learners is not None and len(learners) != 2:
        msg = f"{kind} takes two learners: give --learner twice, not {len(learners)} times"
        raise StreamgaugeError(msg)
    return learners or []


def _draw_q_statistic(
    runs: "list[Results]",
    measure: str | None,
    forgettings: list[str] | None,
    learners: list[str] | None,
    shape: dict[str, Any],
) -> "tuple[Figure, Found]":
    from streamgauge import plots  # noqa: PLC0415
    from streamgauge.plots.pooling import pool_runs  # noqa: PLC0415
    from streamgauge.reports.q_statistic import compute_q_curve, describe_q  # noqa: PLC0415

    pair = _get_pair("q_statistic", learners)
    options: dict[str, Any] = {"measure": measure, **dict(zip(("first", "second"), pair, strict=False))}
    figure = plots.q_statistic(runs, forgettings=forgettings, **options, **shape)
    (run,) = pool_runs(runs).runs.values()
    names = forgettings or run.forgettings[:1]
    curves = [compute_q_curve(run, forgetting=name, **options) for name in names]
    return figure, {"q_statistic": [{**curve.as_dict(), "sentence": describe_q(curve)} for curve in curves]}


def _draw_detector_statistic(
    run: "Results", folder: Path, learners: list[str] | None, options: dict[str, Any], size: dict[str, Any]
) -> "Figure":
    from streamgauge import plots  # noqa: PLC0415
    from streamgauge.plots.axis import choose_x  # noqa: PLC0415
    from streamgauge.results import read_errors  # noqa: PLC0415

    known = FAMILIES["detectors"]()
    detectors = [make("detector", text, known) for text in options["detector"] or ("PageHinkley",)]
    if not learners and len(run.learners) > 1:
        msg = f"detector_statistic takes one learner: choose it with --learner from {', '.join(run.learners)}"
        raise StreamgaugeError(msg)
    errors = read_errors(folder, _get_only("learner", "detector_statistic", learners), options["fold"])
    label = f"error of {errors.learner}"
    places: dict[str, Any] = {"rows": errors.rows, "drifts": run.drifts}
    if choose_x(options["x"], [run]) == "time":
        places["times"] = run.find_times(errors.rows + 1)
    return plots.detector_statistic(errors.errors, detectors, **places, label=label, **size)


def _draw_run(
    kind: str,
    run: "Results",
    learners: list[str] | None,
    forgetting: str | None,
    options: dict[str, Any],
    size: dict[str, Any],
) -> "Figure":
    from streamgauge import plots  # noqa: PLC0415

    shape = {"x": options["x"], **size}
    if kind == "confusion":
        moments = {"moments": options["moments"], "rows": options["rows"] or None, "values": options["values"]}
        return plots.confusion(run, forgetting, learners=learners, **moments)
    if kind == "resources":
        return plots.resources(run, options["cost"], learners=learners, **shape)
    if kind == "difference":
        pair: dict[str, Any] = dict(zip(("first", "second"), _get_pair(kind, learners), strict=False))
        return plots.difference(run, **pair, measure=options["measure"], **shape)
    return plots.balance(run, **shape) if kind == "balance" else plots.labels(run, **shape)


def _rank(runs: "list[Results]", measure: str | None, forgetting: str | None, options: dict[str, Any]) -> "Ranking":
    from streamgauge.significance import rank  # noqa: PLC0415

    chosen = {name: options[name] for name in ("alpha", "post_hoc", "value")}
    return rank(runs, measure=measure or _choose_shared_measure(runs), forgetting=forgetting, **chosen)


def _choose_shared_measure(runs: "list[Results]") -> str:
    """Return the first measure that all runs have."""
    shared = [measure for measure in runs[0].measures if all(measure in run.measures for run in runs)]
    if not shared:
        measures = "; ".join(dict.fromkeys(", ".join(run.measures) for run in runs))
        msg = f"the runs have no measure in common: {measures}"
        raise StreamgaugeError(msg)
    return shared[0]
