"""What `evaluate` and `compare` share: the options of a run, and how its results are shown."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

import click

from streamgauge._format.text import to_text
from streamgauge.cli.names import Choice, completing
from streamgauge.cli.out_folder import save_into
from streamgauge.cli.output import (
    POSITIVE,
    STOPPED,
    WORK_FAILED,
    console,
    detail,
    is_quiet,
    note,
    output_options,
    print_json,
)
from streamgauge.cli.watch import watch_option
from streamgauge.errors import CheckpointWarning, FailureWarning, StreamgaugeError
from streamgauge.names import FAMILIES, find_labelled_stream, make
from streamgauge.results import Results

__all__ = ["exit_status", "run", "run_options", "show"]

_OPTIONS = (
    click.option(
        "--stream",
        shell_complete=completing("streams"),
        help="The stream: 'RandomRBF(speed=0.001)', a file, or the name of a real one.",
    ),
    click.option(
        "--learner",
        shell_complete=completing("learners"),
        multiple=True,
        help="A learner, such as 'HoeffdingTree(grace_period=100)'; repeatable.",
    ),
    click.option("--rows", type=POSITIVE, help="How many rows to read; needed where the stream never ends."),
    click.option(
        "--scheme",
        shell_complete=completing("schemes"),
        default="Prequential",
        show_default=True,
        help="Which rows are tested and learnt.",
    ),
    click.option(
        "--labelling",
        shell_complete=completing("labellings"),
        default="AllLabels",
        show_default=True,
        help="When labels arrive.",
    ),
    click.option(
        "--score",
        type=Choice(["first", "last", "labelled"]),
        default="first",
        show_default=True,
        help="Which prediction of a row: the first, the last before its label, the first of rows whose label comes.",
    ),
    click.option(
        "--forgetting",
        shell_complete=completing("forgettings"),
        multiple=True,
        help="How the past fades; repeatable.  [default: Landmark, or the last test]",
    ),
    click.option(
        "--measure",
        shell_complete=completing("measures"),
        multiple=True,
        help="What to measure; repeatable.  [default: accuracy]",
    ),
    click.option(
        "--detector",
        shell_complete=completing("detectors"),
        multiple=True,
        help="A detector that watches the errors, such as DDM; repeatable.",
    ),
    click.option("--every", type=POSITIVE, help="Take a reading every so many rows.  [default: 200 readings]"),
    click.option("--time-limit", type=float, help="Stop after so many seconds."),
    click.option("--time-budget", type=float, help="A prediction that takes more seconds is an error."),
    click.option("--rope", type=float, default=0.01, show_default=True, help="Differences up to this do not matter."),
    click.option("--seed", type=int, default=1, show_default=True, help="Decides folds and learners' randomness."),
    click.option("--batch-size", type=POSITIVE, help="Rows per native call.  [default: 16 MB of them]"),
    click.option("--threads", type=POSITIVE, help="How many threads.  [default: one per core]"),
    click.option("--processes", type=POSITIVE, help="Run learners written in Python in so many processes."),
    click.option("--ray", help="Run on the Ray cluster at this address; 'local' starts one on this machine."),
    click.option("--resources/--no-resources", default=True, help="Measure what each learner costs.  [default: yes]"),
    click.option(
        "--record",
        multiple=True,
        type=Choice(["predictions", "votes", "misclassified", "confusion"]),
        help="Write this, too, into the folder of --out; repeatable.",
    ),
    click.option("--table", type=click.Path(path_type=Path), help="Write all readings to this .csv or .parquet file."),
    click.option("--checkpoint", type=click.Path(path_type=Path), help="Write checkpoints into this folder."),
    click.option(
        "--checkpoint-every", type=POSITIVE, help="A checkpoint every so many rows.  [default: every 30 seconds]"
    ),
    click.option("--resume", is_flag=True, help="Go on from the newest checkpoint, where there is one."),
    click.option("--trust-checkpoint", is_flag=True, help="Load pickled learners that were saved elsewhere."),
    watch_option,
    click.option("--out", type=click.Path(path_type=Path), help="Write readings and manifest into this folder."),
    click.option("--report", type=click.Path(path_type=Path), help="Write an HTML report to this file."),
)


def run_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a run."""
    command = output_options(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def run(options: dict[str, Any], journal: Path | None = None) -> Results:
    """Run what the options of the command line ask for; others can follow it in the folder of the journal."""
    from streamgauge.evaluation import evaluate  # noqa: PLC0415
    from streamgauge.significance import LiveTest  # noqa: PLC0415

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
    _require_distinct(options["learner"], learners)
    stream, hidden = find_labelled_stream(options["stream"])
    stream = _with_dead_letters(stream, options["out"])
    labelling = make("labelling", options["labelling"], FAMILIES["labellings"]())
    if hidden is not None and options["labelling"] != "AllLabels":
        msg = f"{options['stream']} says itself which labels are hidden; leave out --labelling"
        raise StreamgaugeError(msg)
    detail(f"{options['stream']}: {len(learners)} learners, {options['scheme']}")
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
        live_test=LiveTest(alpha=options.get("alpha", 0.05), rope=options["rope"]),
        resources=options["resources"],
        recorders=_recorders(options),
        seed=options["seed"],
        batch_size=options["batch_size"],
        backend=_backend(options),
        checkpoint=options["checkpoint"],
        checkpoint_every=options["checkpoint_every"],
        resume=options["resume"],
        trust_checkpoint=options["trust_checkpoint"],
        journal=journal,
        progress=False if is_quiet() else None,
    )


def _require_distinct(texts: Sequence[str], learners: dict[str, Any]) -> None:
    """Raise where a learner is given twice, also in other words."""
    specs = [to_text(learners[text]) for text in texts]
    repeated = next((text for text, spec in zip(texts, specs, strict=True) if specs.count(spec) > 1), None)
    if repeated is not None:
        msg = f"two learners are the same: {repeated}; leave one out, or give it other options or another seed"
        raise StreamgaugeError(msg)


def _backend(options: dict[str, Any]) -> Any:  # noqa: ANN401
    from streamgauge.backends import Auto, Ray, Threads  # noqa: PLC0415

    if options["ray"] is not None:
        clash = next((name for name in ("threads", "processes") if options[name] is not None), None)
        if clash:
            msg = f"--ray says where the cells run, and so does --{clash}: leave one of them out"
            raise StreamgaugeError(msg)
        return Ray(options["ray"])
    if options["threads"] is not None and options["processes"] is None:
        return Threads(options["threads"])
    return Auto(options["threads"], options["processes"])


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
    from streamgauge.results import ConfusionMatrices, Misclassified, Predictions  # noqa: PLC0415

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


def show(results: Results, comparisons: Sequence[Any], options: dict[str, Any]) -> int:
    """Print the results, or their JSON, and write what was asked for; give the exit status."""
    from streamgauge.results import readings_table, write_table  # noqa: PLC0415

    if options["out"]:
        save_into(options["out"], results, options["earlier"])
    if options["table"]:
        write_table(readings_table(results), options["table"])
    report = options["report"] or (options["out"] / "report.html" if options["out"] else None)
    if report:
        from streamgauge.reports import write_page  # noqa: PLC0415

        write_page(results, report, comparisons)
    if options["as_json"]:
        print_json(_as_json(results, comparisons))
        return exit_status(results)
    from streamgauge.reports import summary  # noqa: PLC0415

    console().print(summary(results, comparisons))
    live = results.description.get("live")
    if isinstance(live, dict) and live:
        note("events: " + ", ".join(f"{what} {n:,}" for what, n in live.items() if n is not None))
    if options["out"]:
        note(f"results: {options['out']}")
    if report:
        note(f"report: {report}")
    return exit_status(results)


def exit_status(results: Results) -> int:
    """Say with which status a command ends that has these results."""
    if results.description.get("ended_by") == "interrupt":
        return STOPPED
    return WORK_FAILED if results.failures else 0


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
