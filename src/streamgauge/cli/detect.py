"""`streamgauge detect`: drift detectors on numbers, on a column or on the errors of learners."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from streamgauge.cli.input_options import add_file_options, parse_column, take_file_options
from streamgauge.cli.output import (
    POSITIVE,
    ROWS,
    add_output_options,
    is_quiet,
    make_console,
    print_json,
    print_note,
    print_warnings_briefly,
)
from streamgauge.errors import StreamgaugeError
from streamgauge.names import FAMILIES, find_stream, make, make_learners
from streamgauge.records.locks import open_temporary_folder
from streamgauge.streams import File
from streamgauge.streams.base import min_limit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from streamgauge.drift import AlarmScore
    from streamgauge.protocols import DetectorSpec
    from streamgauge.records import Drift

__all__ = ["command"]


@click.command("detect")
@click.argument("source", metavar="[INPUT]", required=False)
@click.option(
    "--detector",
    multiple=True,
    help="Drift detector, such as 'DDM(drift=2.5)'; repeatable.  [default: Adwin; with --plot, PageHinkley]",
)
@click.option("--stream", help="Generator such as 'SEA(drift_every=5000)', file, or name of a data set.")
@add_file_options
@click.option("--column", help="Attribute of the stream to watch, by name or position.")
@click.option("--learner", multiple=True, help="Learner whose errors on the stream are watched; repeatable.")
@click.option(*ROWS, type=POSITIVE, help="Number of rows to read; required for endless streams.")
@click.option(
    "--drift", type=click.IntRange(min=0), multiple=True, help="Row at which a true drift begins; repeatable."
)
@click.option(
    "--max-delay",
    type=POSITIVE,
    help="Most rows from the end of a drift to its alarm. Alarms later than this are false.  [default: half way to the"
    " next drift]",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the learners.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Draw the statistic of each detector beside its threshold into this .png, .svg or .pdf file.",
)
@add_output_options
def command(source: str | None, *, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Detect drift, and score the alarms if the true drifts are known.

    The detectors watch one of three things: the numbers in INPUT, a text file with one number per line ("-" for
    standard input); a --column of a --stream; or the errors of a --learner that is tested on each row of the --stream
    before it learns it.

    \b
    Examples:
      streamgauge detect errors.txt --detector PageHinkley --detector DDM
      streamgauge detect --stream electricity --column nswprice
      streamgauge detect --stream "paper_stream('SEA(Gama)')" --learner NaiveBayes --detector "DDM(drift=2.5)"
      streamgauge detect --stream "SEA(drift_every=5000)" --rows 20000 --learner NaiveBayes \\
        --detector "PageHinkley(threshold=10)" --plot statistic.png
    """
    from streamgauge.reports.alarms import add_baselines  # noqa: PLC0415

    options["reading"] = take_file_options(options)
    known, default = FAMILIES["detectors"](), "PageHinkley" if options["plot"] else "Adwin"
    detectors = {text: make("detector", text, known) for text in options["detector"] or (default,)}
    if options["plot"]:
        _check_plot(detectors, options)
    _check_drifts(options)
    watch = _watch_learners if options["learner"] else _watch_values
    alarms = watch(source, detectors, options)
    scores = add_baselines({name: score for name, (_, _, score) in alarms.items()})
    if as_json:
        found = {
            name: {"alarms": rows, "warnings": warnings, "score": scores[name].as_dict()}
            for name, (rows, warnings, _) in alarms.items()
        }
        baselines = {name: _summarise(score) for name, score in scores.items() if name not in alarms}
        print_json({"detectors": found, "baselines": baselines})
        return
    _show(alarms, scores)


class _Alarms(NamedTuple):
    """Rows of the alarms and warnings of a detector, and its score."""

    alarms: list[int]
    warnings: list[int]
    score: "AlarmScore"


def _watch_values(
    source: str | None, detectors: "dict[str, DetectorSpec]", options: dict[str, Any]
) -> dict[str, _Alarms]:
    """Watch a file of numbers, or a column of a stream."""
    from streamgauge.drift import detect, read_values, score_alarms  # noqa: PLC0415

    column = options["column"]
    if options["stream"] is None and column is None:
        if source is None:
            msg = "nothing to watch: give a file of numbers, or --stream with --column or --learner"
            raise StreamgaugeError(msg)
        values: object = read_values("/dev/stdin")[1] if source == "-" else source
    else:
        values = find_stream(_choose_stream(source, options["stream"]), **options["reading"])
    chosen = {"column": None if column is None else parse_column(column), "n_rows": options["rows"]}
    result: dict[str, _Alarms] = {}
    for name, detector in detectors.items():
        detection = detect(values, detector, **chosen)
        if not detection.n_rows:
            msg = f"{source or options['stream']} holds no values"
            raise StreamgaugeError(msg)
        drifts = _find_drifts(values, options["drift"], detection.n_rows)
        score = score_alarms(detection.alarms, drifts, n_rows=detection.n_rows, max_delay=options["max_delay"])
        result[name] = _Alarms(detection.alarms.tolist(), detection.warnings.tolist(), score)
    if options["plot"]:
        rows, numbers = read_values(values, **chosen)
        _draw(numbers, detectors, options, rows=rows, drifts=drifts, label=column or "value")
    return result


def _watch_learners(
    source: str | None, detectors: "dict[str, DetectorSpec]", options: dict[str, Any]
) -> dict[str, _Alarms]:
    """Watch the errors of learners."""
    from streamgauge.drift import score_alarms  # noqa: PLC0415
    from streamgauge.evaluation import evaluate  # noqa: PLC0415
    from streamgauge.results import Predictions, read_errors  # noqa: PLC0415

    if options["column"] is not None:
        msg = "give --column to watch a column or --learner to watch errors, not both"
        raise StreamgaugeError(msg)
    stream = find_stream(_choose_stream(source, options["stream"]), **options["reading"])
    learners = make_learners(options["learner"])
    with open_temporary_folder() as folder:
        path = folder / "predictions.parquet"
        recorders = [Predictions(path)] if options["plot"] else []
        chosen = {"n_rows": options["rows"], "seed": options["seed"], "recorders": recorders}
        print_warnings_briefly()
        results = evaluate(stream, learners, detectors=detectors, progress=False if is_quiet() else None, **chosen)
        drifts = _find_drifts(stream, options["drift"], results.n_rows)
        if options["plot"]:
            saved = read_errors(path)
            label = f"error of {saved.learner}"
            times = results.find_times(saved.rows + 1) if results.has_time_axis else None
            _draw(saved.errors, detectors, options, rows=saved.rows, times=times, drifts=drifts, label=label)
    result: dict[str, _Alarms] = {}
    for learner in learners:
        for detector in detectors:
            own = [alarm for alarm in results.alarms if (alarm.learner, alarm.detector) == (learner, detector)]
            alarms, warnings = ([a.row for a in own if a.kind == kind] for kind in ("drift", "warning"))
            score = score_alarms(alarms, drifts, n_rows=results.n_rows, max_delay=options["max_delay"])
            result[f"{detector} on {learner}"] = _Alarms(alarms, warnings, score)
    return result


def _check_plot(detectors: "dict[str, DetectorSpec]", options: dict[str, Any]) -> None:
    """Raise before the first row if the statistic of a detector cannot be drawn."""
    from streamgauge.drift import trace_statistic  # noqa: PLC0415
    from streamgauge.plots.figure import check_suffix  # noqa: PLC0415

    check_suffix(options["plot"])
    for detector in detectors.values():
        trace_statistic((), detector)
    if len(options["learner"]) > 1:
        msg = f"--plot draws the errors of one learner, not of {len(options['learner'])}: give --learner once"
        raise StreamgaugeError(msg)


def _draw(
    values: "NDArray[np.float64]",
    detectors: "dict[str, DetectorSpec]",
    options: dict[str, Any],
    **chosen: Any,  # noqa: ANN401
) -> None:
    """Draw the statistic of each detector beside its threshold."""
    from streamgauge.plots import detector_statistic  # noqa: PLC0415

    figure = detector_statistic(values, list(detectors.values()), **chosen)
    print_note(f"figure: {figure.save(options['plot'])}")


def _check_drifts(options: dict[str, Any]) -> None:
    """Raise if a true drift is after the rows that will be read."""
    last, limit = max(options["drift"], default=0), options["rows"]
    if options["stream"] is not None and last:
        stream = find_stream(options["stream"], **options["reading"])
        limit = min_limit(limit, None if isinstance(stream, File) else stream.n_rows)
    if limit is not None and last >= limit:
        msg = (
            f"there is a drift at row {last}, but only {limit} rows are read: remove --drift {last}, or read more rows"
        )
        raise StreamgaugeError(msg)


def _choose_stream(source: str | None, stream: str | None) -> str:
    if (source is None) == (stream is None):
        msg = "give the stream either as INPUT or with --stream"
        raise StreamgaugeError(msg)
    return str(source if stream is None else stream)


def _find_drifts(values: object, rows: tuple[int, ...], n_rows: int) -> "tuple[Drift, ...]":
    """Return the true drifts given on the command line, or else those the stream knows."""
    from streamgauge._foreign import is_stream  # noqa: PLC0415
    from streamgauge.records import Drift  # noqa: PLC0415
    from streamgauge.streams import drifts_of  # noqa: PLC0415

    if rows:
        return tuple(Drift(row) for row in sorted(rows))
    return drifts_of(values, n_rows) if is_stream(values) else ()


def _summarise(score: "AlarmScore") -> dict[str, object]:
    """Return the score of a baseline without the rows of its false alarms, which say nothing about the data."""
    return {fact: value for fact, value in score.as_dict().items() if fact != "false_alarms"}


def _show(result: dict[str, _Alarms], scores: "dict[str, AlarmScore]") -> None:
    from streamgauge.drift.watch import format_alarms  # noqa: PLC0415
    from streamgauge.reports.alarms import tabulate_scores  # noqa: PLC0415
    from streamgauge.reports.model import Document, Section  # noqa: PLC0415
    from streamgauge.reports.terminal import to_renderable  # noqa: PLC0415

    for name, (alarms, warnings, _) in result.items():
        click.echo(f"{name}: {format_alarms(alarms, warnings)}")
    if next(iter(scores.values())).n_drifts:
        make_console().print(to_renderable(Document("", "", (Section("", (tabulate_scores(scores),)),))))
