"""What `evaluate` and `compare` share: the options of a run, and how its results are shown."""

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

import click

from streamgauge.cli.families import FAMILIES
from streamgauge.cli.specs import make
from streamgauge.errors import CheckpointWarning, FailureWarning, StreamgaugeError
from streamgauge.records import Results

__all__ = ["find_stream", "run", "run_options", "show"]

_OPTIONS = (
    click.option("--stream", help="The stream: 'RandomRBF(speed=0.001)', a file, or the name of a real one."),
    click.option("--learner", multiple=True, help="A learner, such as 'HoeffdingTree(grace_period=100)'; repeatable."),
    click.option("--rows", type=int, help="How many rows to read; needed where the stream never ends."),
    click.option("--scheme", default="Prequential", show_default=True, help="Which rows are tested and learnt."),
    click.option("--labelling", default="AllLabels", show_default=True, help="When labels arrive."),
    click.option(
        "--score",
        type=click.Choice(["first", "last", "labelled"]),
        default="first",
        show_default=True,
        help="Which prediction of a row: the first, the last before its label, the first of rows whose label comes.",
    ),
    click.option(
        "--forgetting", multiple=True, help="How the past fades; repeatable.  [default: Landmark, or the last test]"
    ),
    click.option("--measure", multiple=True, help="What to measure; repeatable.  [default: accuracy]"),
    click.option("--detector", multiple=True, help="A detector that watches the errors, such as DDM; repeatable."),
    click.option("--every", type=int, help="Take a reading every so many rows.  [default: 200 readings]"),
    click.option("--time-limit", type=float, help="Stop after so many seconds."),
    click.option("--time-budget", type=float, help="A prediction that takes more seconds is an error."),
    click.option("--seed", type=int, default=1, show_default=True, help="Decides folds and learners' randomness."),
    click.option("--batch-size", type=int, default=32_768, show_default=True, help="Rows per native call."),
    click.option("--threads", type=int, help="How many threads.  [default: one per core]"),
    click.option("--resources/--no-resources", default=True, help="Measure what each learner costs.  [default: yes]"),
    click.option(
        "--record",
        multiple=True,
        type=click.Choice(["predictions", "votes", "misclassified", "confusion"]),
        help="Write this, too, into the folder of --out; repeatable.",
    ),
    click.option("--table", type=click.Path(path_type=Path), help="Write all readings to this .csv or .parquet file."),
    click.option("--checkpoint", type=click.Path(path_type=Path), help="Write checkpoints into this folder."),
    click.option("--checkpoint-every", type=int, help="A checkpoint every so many rows.  [default: every 30 seconds]"),
    click.option("--resume", is_flag=True, help="Go on from the newest checkpoint, where there is one."),
    click.option("--trust-checkpoint", is_flag=True, help="Load pickled learners that were saved elsewhere."),
    click.option("--quiet", is_flag=True, help="Show no progress bar."),
    click.option("--json", "as_json", is_flag=True, help="Print the results as JSON."),
    click.option("--out", type=click.Path(path_type=Path), help="Write readings and manifest into this folder."),
    click.option("--report", type=click.Path(path_type=Path), help="Write an HTML report to this file."),
)


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a run."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def run(options: dict[str, Any]) -> Results:
    """Run what the options of the command line ask for."""
    from streamgauge.backends import Threads  # noqa: PLC0415
    from streamgauge.evaluate import evaluate  # noqa: PLC0415

    if not options["stream"]:
        msg = "which stream? Give --stream, such as --stream SEA; 'streamgauge list streams' names them all"
        raise StreamgaugeError(msg)
    if not options["learner"]:
        msg = (
            "which learner? Give --learner, such as --learner HoeffdingTree; 'streamgauge list learners' names them all"
        )
        raise StreamgaugeError(msg)
    known, detectors = FAMILIES["learners"](), FAMILIES["detectors"]()
    learners = {text: make("learner", text, known, within=detectors) for text in options["learner"]}
    stream, hidden = _stream(options["stream"])
    stream = _with_dead_letters(stream, options["out"])
    labelling = make("labelling", options["labelling"], FAMILIES["labellings"]())
    if hidden is not None and options["labelling"] != "AllLabels":
        msg = f"{options['stream']} says itself which labels are hidden; leave out --labelling"
        raise StreamgaugeError(msg)
    warnings.simplefilter("ignore", FailureWarning)  # the results say it, too
    warnings.simplefilter("always", CheckpointWarning)
    warnings.showwarning = _warn
    return evaluate(
        stream,
        learners,
        scheme=make("scheme", options["scheme"], {**FAMILIES["streams"](), **FAMILIES["schemes"]()}),
        labelling=labelling if hidden is None else hidden,
        score=options["score"],
        forgetting=[make("forgetting", text, FAMILIES["forgettings"]()) for text in options["forgetting"]] or None,
        measures=options["measure"] or ("accuracy",),
        detectors={text: make("detector", text, detectors) for text in options["detector"]},
        every=options["every"],
        n_rows=options["rows"],
        time_limit=options["time_limit"],
        time_budget=options["time_budget"],
        resources=options["resources"],
        recorders=_recorders(options),
        seed=options["seed"],
        batch_size=options["batch_size"],
        backend=Threads(options["threads"]),
        checkpoint=options["checkpoint"],
        checkpoint_every=options["checkpoint_every"],
        resume=options["resume"],
        trust_checkpoint=options["trust_checkpoint"],
        progress=False if options["quiet"] or options["as_json"] else None,
    )


def find_stream(text: str) -> Any:  # noqa: ANN401
    """Find a stream: a file by its path, a real or a ready-made one by its name, or one with options."""
    return _stream(text)[0]


def _stream(text: str) -> tuple[Any, Any]:
    """Find a stream and, where it says itself which labels are hidden, its labelling.

    A folder that `sample` wrote is its test set, with the labelling that hides what was hidden.
    """
    from streamgauge.streams import DATASETS, File, load, open_test  # noqa: PLC0415

    if (Path(text) / "recipe.json").is_file():
        return open_test(text)
    if Path(text).exists() or text == "-" or (Path(text).suffix and "(" not in text):
        return File(text), None
    if text in DATASETS:
        return load(text), None
    return make("stream", text, FAMILIES["streams"]()), None


def _with_dead_letters(stream: Any, folder: Path | None) -> Any:  # noqa: ANN401
    """Have a live stream write events that it sets aside into the folder of the results, unless it says where to."""
    from streamgauge.streams.live import LiveStream  # noqa: PLC0415

    if folder is None or not isinstance(stream, LiveStream) or stream.dead_letters is not None:
        return stream
    return replace(stream, dead_letters=folder / "dead_letters.jsonl")


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Tell a warning in one line."""
    kind = "Warning" if issubclass(category, CheckpointWarning) else category.__name__
    click.echo(f"{kind}: {message}", err=True)


def _recorders(options: dict[str, Any]) -> list[Any]:
    from streamgauge.recording import ConfusionMatrices, Misclassified, Predictions  # noqa: PLC0415

    wanted, folder = set(options["record"]), options["out"]
    if wanted and folder is None:
        msg = f"--record {options['record'][0]} needs a folder to write into: give --out"
        raise StreamgaugeError(msg)
    recorders: list[Any] = []
    if wanted & {"predictions", "votes"}:
        recorders.append(Predictions(folder / "predictions.parquet", votes="votes" in wanted))
    if "misclassified" in wanted:
        recorders.append(Misclassified(folder / "misclassified"))
    if "confusion" in wanted:
        recorders += [ConfusionMatrices(folder / "confusion.csv"), ConfusionMatrices(folder / "confusion.mat")]
    return recorders


def show(results: Results, comparisons: Sequence[Any], options: dict[str, Any]) -> None:
    """Print the results, or their JSON, and write what was asked for."""
    from streamgauge.results import readings_table, save, write_table  # noqa: PLC0415

    if options["out"]:
        save(results, options["out"])
    if options["table"]:
        write_table(readings_table(results), options["table"])
    report = options["report"] or (options["out"] / "report.html" if options["out"] else None)
    if report:
        from streamgauge.reports import write_page  # noqa: PLC0415

        write_page(results, report, comparisons)
    if options["as_json"]:
        click.echo(json.dumps(_as_json(results, comparisons), indent=2))
        return
    from rich.console import Console  # noqa: PLC0415

    from streamgauge.reports import summary  # noqa: PLC0415

    Console().print(summary(results, comparisons))
    live = results.description.get("live")
    if isinstance(live, dict) and live:
        click.echo("events: " + ", ".join(f"{what} {n:,}" for what, n in live.items() if n is not None))
    if options["out"]:
        click.echo(f"results: {options['out']}")
    if report:
        click.echo(f"report: {report}")


def _as_json(results: Results, comparisons: Sequence[Any]) -> dict[str, Any]:
    from streamgauge.results import manifest  # noqa: PLC0415

    final = [
        {"learner": r.learner, "fold": r.fold, "measure": r.measure, "forgetting": r.forgetting, "value": r.value}
        for r in results.readings
        if r.row == results.n_rows
    ]
    return {
        **manifest(results),
        "final": [{**row, "value": None if row["value"] != row["value"] else row["value"]} for row in final],
        "comparisons": [
            {**asdict(comparison), "better": comparison.better, "sentence": comparison.sentence}
            for comparison in comparisons
        ],
    }
