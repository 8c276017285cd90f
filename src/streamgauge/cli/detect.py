"""`streamgauge detect`: when a stream has changed."""

from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.input_options import key
from streamgauge.cli.output import POSITIVE, console, output_options, print_json
from streamgauge.errors import StreamgaugeError
from streamgauge.names import FAMILIES, find_stream, make

if TYPE_CHECKING:
    from streamgauge.drift import AlarmScore
    from streamgauge.protocols import DetectorSpec
    from streamgauge.records import Drift

__all__ = ["command"]


@click.command("detect")
@click.argument("source", metavar="[INPUT]", required=False)
@click.option("--detector", multiple=True, help="A detector, such as 'DDM(drift=2.5)'; repeatable.  [default: Adwin]")
@click.option("--stream", help="The stream: 'SEA(drift_every=5000)', a file, or the name of a real one.")
@click.option("--column", help="The attribute of the stream to watch, by name or position.")
@click.option("--learner", multiple=True, help="A learner whose errors on the stream are watched; repeatable.")
@click.option("--rows", type=POSITIVE, help="How many rows to look at; needed where the stream never ends.")
@click.option("--drift", type=int, multiple=True, help="A row where a true drift begins; repeatable.")
@click.option("--max-delay", type=int, help="How late an alarm may be.  [default: half way to the next drift]")
@click.option("--seed", type=int, default=1, show_default=True, help="Decides the learners' randomness.")
@output_options
def command(source: str | None, *, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Say when a stream has changed, and how good the alarms are where its drifts are known.

    Watched are the numbers of INPUT, a text file with one a line ("-" for standard input); or a column of a stream; or
    the errors of a learner on a stream, tested on each row before it learns it.

    \b
    Examples:
      streamgauge detect errors.txt --detector PageHinkley --detector DDM
      streamgauge detect --stream electricity --column nswprice
      streamgauge detect --stream "paper_stream('SEA(Gama)')" --learner NaiveBayes --detector "DDM(drift=2.5)"
    """
    known = FAMILIES["detectors"]()
    detectors = {text: make("detector", text, known) for text in options["detector"] or ("Adwin",)}
    found = _watch_learners(source, detectors, options) if options["learner"] else _watch(source, detectors, options)
    from streamgauge.reports.alarms import with_baselines  # noqa: PLC0415

    names = list(found)
    scores = with_baselines({name: score for name, (_, _, score) in found.items()})
    if as_json:
        told = {
            name: {"alarms": found[name][0], "warnings": found[name][1], "score": scores[name].as_dict()}
            for name in names
        }
        baselines = {name: score.as_dict() for name, score in scores.items() if name not in found}
        print_json({"detectors": told, "baselines": _brief(baselines)})
        return
    _show(found, scores)


Found = dict[str, tuple[list[int], list[int], "AlarmScore"]]
"""Per name the rows of alarms and of warnings, and the score."""


def _watch(source: str | None, detectors: "dict[str, DetectorSpec]", options: dict[str, Any]) -> Found:
    """Watch a file of numbers, or a column of a stream."""
    from streamgauge.drift import detect, score_alarms  # noqa: PLC0415

    column = options["column"]
    if options["stream"] is None and column is None:
        if source is None:
            msg = "what to watch? Give a file of numbers, or --stream with --column or --learner"
            raise StreamgaugeError(msg)
        watched: object = "/dev/stdin" if source == "-" else source
    else:
        watched = find_stream(_one_of(source, options["stream"]))
    found: Found = {}
    for name, detector in detectors.items():
        one = detect(watched, detector, column=None if column is None else key(column), n_rows=options["rows"])
        if not one.n_rows:
            msg = f"{source or options['stream']} holds no values"
            raise StreamgaugeError(msg)
        drifts = _drifts(watched, options["drift"], one.n_rows)
        score = score_alarms(one.alarms, drifts, n_rows=one.n_rows, max_delay=options["max_delay"])
        found[name] = (one.alarms.tolist(), one.warnings.tolist(), score)
    return found


def _watch_learners(source: str | None, detectors: "dict[str, DetectorSpec]", options: dict[str, Any]) -> Found:
    """Watch the errors of learners."""
    from streamgauge.drift import score_alarms  # noqa: PLC0415
    from streamgauge.evaluation import evaluate  # noqa: PLC0415

    if options["column"] is not None:
        msg = "give --column or --learner, not both: either a column is watched or the errors of learners"
        raise StreamgaugeError(msg)
    stream = find_stream(_one_of(source, options["stream"]))
    learners = {text: make("learner", text, FAMILIES["learners"]()) for text in options["learner"]}
    results = evaluate(stream, learners, detectors=detectors, n_rows=options["rows"], seed=options["seed"])
    drifts = _drifts(stream, options["drift"], results.n_rows)
    found: Found = {}
    for learner in learners:
        for detector in detectors:
            own = [alarm for alarm in results.alarms if (alarm.learner, alarm.detector) == (learner, detector)]
            alarms, warnings = ([a.row for a in own if a.kind == kind] for kind in ("drift", "warning"))
            score = score_alarms(alarms, drifts, n_rows=results.n_rows, max_delay=options["max_delay"])
            found[f"{detector} on {learner}"] = (alarms, warnings, score)
    return found


def _one_of(source: str | None, stream: str | None) -> str:
    if (source is None) == (stream is None):
        msg = "give either INPUT or --stream: the stream whose column or learner is watched"
        raise StreamgaugeError(msg)
    return str(source if stream is None else stream)


def _drifts(watched: object, given: tuple[int, ...], n_rows: int) -> "tuple[Drift, ...]":
    """Give the true drifts: those named on the command line, or those the stream knows."""
    from streamgauge.protocols import is_stream  # noqa: PLC0415
    from streamgauge.records import Drift  # noqa: PLC0415
    from streamgauge.streams import drifts_of  # noqa: PLC0415

    if given:
        return tuple(Drift(row) for row in sorted(given))
    return drifts_of(watched, n_rows) if is_stream(watched) else ()


def _brief(baselines: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """Leave out the rows of the false alarms of detectors that look at nothing."""
    return {
        name: {fact: value for fact, value in told.items() if fact != "false_alarms"}
        for name, told in baselines.items()
    }


def _show(found: Found, scores: "dict[str, AlarmScore]") -> None:
    from streamgauge.drift.watch import alarms_text  # noqa: PLC0415
    from streamgauge.reports.alarms import score_table  # noqa: PLC0415

    for name, (alarms, warnings, _) in found.items():
        click.echo(f"{name}: {alarms_text(alarms, warnings)}")
    some = next(iter(scores.values()))
    if some.n_drifts:
        console().print(score_table(scores))
