"""`streamgauge rank`: many learners on many streams."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from streamgauge.cli.names import Choice
from streamgauge.cli.output import add_output_options, make_console, print_json
from streamgauge.cli.saved_results import add_store_options, load_repetitions
from streamgauge.names import to_forgetting_name
from streamgauge.significance import POST_HOCS, VALUES, Ranking, rank

__all__ = ["command"]


@click.command("rank")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--measure", default="accuracy", show_default=True, help="Measure to rank by.")
@click.option(
    "--forgetting",
    help="Forgetting of the readings, such as 'Window(1000)'.  [default: Landmark(), or the only one]",
)
@click.option(
    "--value",
    type=Choice(list(VALUES)),
    help="Rank by the value after the last row, or by the mean of the readings over the stream."
    "  [default: over the stream: the last one over all rows, the mean under any other forgetting]",
)
@click.option(
    "--post-hoc",
    default="wilcoxon_holm",
    show_default=True,
    help=f"Test of the pairs of learners: {', '.join(POST_HOCS)}.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level of the tests.")
@click.option(
    "--control",
    help="Compare this learner alone with the others: fewer tests, which need fewer streams.",
)
@click.option("--learner", multiple=True, help="In a store, only this learner; a name or pattern; repeatable.")
@add_store_options
@click.option("--diagram", type=click.Path(path_type=Path), help="Draw the diagram into this .svg, .png or .pdf file.")
@add_output_options
def command(results: tuple[Path, ...], *, diagram: Path | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Rank learners over streams, and test which of them differ.

    RESULTS are folders saved with --out, of the same learners on different streams, or stores written by
    `streamgauge run`. Runs on one stream with several seeds count as one stream.

    \b
    Examples:
      streamgauge rank results/sea results/rbf results/led results/electricity
      streamgauge rank results/* --measure kappa_m --post-hoc nemenyi --diagram ranks.svg
      streamgauge rank results/* --forgetting "Window(1000)" --value mean
      streamgauge rank results/* --control MyLearner
      streamgauge rank results/quick --learner "Hoeffding*" --learner NaiveBayes
    """
    if options["forgetting"] is not None:
        options["forgetting"] = to_forgetting_name(options["forgetting"])
    learners = options.pop("learner")
    ranking = rank(load_repetitions(results, options, learners, forgetting=options["forgetting"]), **options)
    if diagram is not None:
        from streamgauge.plots import ranks  # noqa: PLC0415

        ranks(ranking).save(diagram)
    if as_json:
        print_json(_to_json(ranking))
        return
    from streamgauge.reports.rankings import build_ranking_document  # noqa: PLC0415  (not needed for JSON)
    from streamgauge.reports.terminal import to_renderable  # noqa: PLC0415

    make_console().print(to_renderable(build_ranking_document(ranking)))
    if diagram is not None:
        click.echo(f"diagram: {diagram}")


def _to_json(ranking: Ranking) -> dict[str, Any]:
    facts = asdict(ranking)
    for name in ("values", "ranks"):
        facts[name] = facts[name].tolist()
    for pair in facts["pairs"]:
        for name in ("p_value", "adjusted"):
            pair[name] = None if math.isnan(pair[name]) else pair[name]
    if math.isinf(facts["friedman"]["iman_davenport"]):
        facts["friedman"]["iman_davenport"] = None
    return {
        **facts,
        "mean_ranks": ranking.mean_ranks.tolist(),
        "order": ranking.order,
        "groups": ranking.groups,
    }
