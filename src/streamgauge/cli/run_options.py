"""The options that `evaluate` and `compare` share, the run itself, and its output."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.input_options import add_file_options, take_file_options
from streamgauge.cli.names import Choice, complete_names
from streamgauge.cli.out_folder import check_output_files, lock_out, save_into
from streamgauge.cli.output import (
    POSITIVE,
    ROWS,
    RUN_FAILED,
    STOPPED,
    add_options,
    add_output_options,
    is_quiet,
    is_verbose,
    make_console,
    print_detail,
    print_json,
    print_note,
    print_warnings_briefly,
)
from streamgauge.cli.watch import watch_option
from streamgauge.errors import StreamgaugeError
from streamgauge.names import FAMILIES, find_labelled_stream, make, make_learners
from streamgauge.results import Results
from streamgauge.results.saved_errors import PREDICTION_FORMATS

if TYPE_CHECKING:
    from streamgauge.evaluation import Evaluation
    from streamgauge.significance import Comparison

    Tested = tuple[Sequence[Comparison], Sequence[str]]

__all__ = ["add_run_options", "finish", "get_exit_status", "prepare", "run", "to_json_facts"]


def _make_name_option(option: str, family: str, **settings: Any) -> Callable[..., Any]:  # noqa: ANN401
    """Return an option whose value a shell completes from the names of a family; a repeatable one has two names."""
    names = [option, *([f"{option}s", option.strip("-")] if option in PLURAL else [])]
    return click.option(*names, shell_complete=complete_names(family), **settings)


PLURAL = ("--learner", "--measure", "--detector")
"""Options that are repeated where Python takes a list, so that they answer to its name, too."""


_OPTIONS = (
    _make_name_option(
        "--stream", "streams", help="Generator such as 'RandomRBF(speed=0.001)', file, or name of a data set."
    ),
    _make_name_option(
        "--learner",
        "learners",
        multiple=True,
        help="Learner, such as 'HoeffdingTree(grace_period=100)', or module:name for a model in Python; repeatable.",
    ),
    click.option(*ROWS, type=POSITIVE, help="Number of rows to read; required for endless streams."),
    _make_name_option(
        "--scheme",
        "schemes",
        default="Prequential",
        show_default=True,
        help="How rows are used for testing and learning, such as 'Bootstrap(10)' for ten folds.",
    ),
    _make_name_option(
        "--labelling",
        "labellings",
        default="AllLabels",
        show_default=True,
        help="When labels arrive, such as 'Delayed(1000)' for 1,000 rows later.",
    ),
    click.option(
        "--score",
        type=Choice(["first", "last", "labelled"]),
        default="first",
        show_default=True,
        help="Prediction to score: the first of each row, the last before its label, or the first of labelled rows.",
    ),
    click.option(
        "--score-unlabelled-start",
        is_flag=True,
        help="Score also the rows tested before the first late label could be learnt.",
    ),
    _make_name_option(
        "--forgetting",
        "forgettings",
        multiple=True,
        help="Rows that each reading covers, such as 'Window(1000)' or 'Fading(0.99)'; repeatable."
        "  [default: all rows; with Holdout, the last test]",
    ),
    _make_name_option(
        "--measure",
        "measures",
        multiple=True,
        help="Measure, such as kappa_m, 'recall[up]' or 'Hoeffding(delta=0.01)', or all; repeatable."
        "  [default: accuracy; mae of a numeric target]",
    ),
    _make_name_option(
        "--detector",
        "detectors",
        multiple=True,
        help="Drift detector that watches the errors, such as DDM; repeatable.",
    ),
    click.option("--every", type=POSITIVE, help="Take a reading every N rows.  [default: 200 readings]"),
    click.option("--time-limit", type=float, help="Stop after this many seconds."),
    click.option("--time-budget", type=float, help="Seconds allowed per prediction; slower ones count as errors."),
    click.option("--call-limit", type=float, help="Seconds allowed per call of a learner; a slower one fails."),
    _make_name_option(
        "--live-measure",
        "measures",
        multiple=True,
        help="Measure in which learners are compared during the run; repeatable.  [default: accuracy if measured]",
    ),
    click.option(
        "--rope",
        multiple=True,
        help="Margin (region of practical equivalence): differences up to this size count as equal, in the unit of the"
        " measure; a number, or NAME=NUMBER for each live measure.  [default: 0.01, of a"
        " cost a hundredth of its range]",
    ),
    click.option(
        "--budget",
        "--budgets",
        "budgets",
        multiple=True,
        help="What each learner must keep, such as 'error<0.05', 'recall[fraud]>0.5', 'error<reference(5000)+0.01' or"
        " 'beats majority'; repeatable.",
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Seed of the folds and the learners."),
    click.option("--batch-size", type=POSITIVE, help="Rows per batch.  [default: about 16 MB of rows]"),
    click.option("--threads", type=POSITIVE, help="Number of threads.  [default: one per core]"),
    click.option("--processes", type=POSITIVE, help="Number of processes for learners written in Python."),
    click.option("--ray", help="Run on the Ray cluster at this address; 'local' starts one on this machine."),
    click.option(
        "--resources/--no-resources", default=True, help="Measure time and memory of each learner.  [default: yes]"
    ),
    click.option(
        "--record",
        multiple=True,
        type=Choice(["predictions", "votes", "misclassified", "confusion"]),
        help="Also write this to the folder of --out; repeatable.",
    ),
    click.option(
        "--record-format",
        type=Choice(PREDICTION_FORMATS),
        help="Format of the recorded predictions, votes and misclassified rows.  [default: parquet for predictions, "
        "that of the input for rows]",
    ),
    click.option(
        "--log",
        type=click.Path(path_type=Path),
        help="Write every reading, alarm and verdict to this file as it happens, one line of JSON each.",
    ),
    click.option("--confusion", is_flag=True, help="Also print the confusion matrix of each learner."),
    click.option("--table", type=click.Path(path_type=Path), help="Write all readings to this .csv or .parquet file."),
    click.option(
        "--checkpoint", type=click.Path(path_type=Path), metavar="DIR", help="Write checkpoints to this folder."
    ),
    click.option(
        "--checkpoint-every", type=POSITIVE, help="Write a checkpoint every N rows.  [default: every 30 seconds]"
    ),
    click.option("--resume", is_flag=True, help="Resume from the latest checkpoint, if there is one."),
    click.option(
        "--trust-checkpoint",
        is_flag=True,
        help="Load pickled learners from a checkpoint written elsewhere; this can run any code.",
    ),
    watch_option,
    click.option("--out", type=click.Path(path_type=Path), help="Write readings, manifest and report to this folder."),
    click.option("--report", type=click.Path(path_type=Path), help="Write the HTML report to this file."),
)


def add_run_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a run to a command."""
    return add_options(add_file_options(add_output_options(command)), _OPTIONS)


def prepare(options: dict[str, Any]) -> "Evaluation":
    """Build the evaluation that the options describe, whose parts are all checked; it reads no row."""
    from streamgauge.evaluation import Evaluation  # noqa: PLC0415
    from streamgauge.significance import LiveTest  # noqa: PLC0415

    if not options["stream"]:
        msg = "--stream is missing, such as --stream SEA; 'streamgauge list streams' lists all"
        raise StreamgaugeError(msg)
    if not options["learner"]:
        msg = "--learner is missing, such as --learner HoeffdingTree; 'streamgauge list learners' lists all"
        raise StreamgaugeError(msg)
    learners = make_learners(options["learner"])
    stream, hidden = find_labelled_stream(options["stream"], **take_file_options(options))
    stream = _add_dead_letters(stream, options["out"])
    labelling = make("labelling", options["labelling"], FAMILIES["labellings"]())
    if hidden is not None and options["labelling"] != "AllLabels":
        msg = f"{options['stream']} is a sample that sets which labels are hidden; remove --labelling"
        raise StreamgaugeError(msg)
    return Evaluation(
        stream,
        learners,
        scheme=make("scheme", options["scheme"], {**FAMILIES["streams"](), **FAMILIES["schemes"]()}),
        labelling=labelling if hidden is None else hidden,
        score=options["score"],
        score_unlabelled_start=options["score_unlabelled_start"],
        forgetting=[make("forgetting", text, FAMILIES["forgettings"]()) for text in options["forgetting"]] or None,
        measures=options["measure"] or None,
        detectors={text: make("detector", text, FAMILIES["detectors"]()) for text in options["detector"]},
        every=options["every"],
        n_rows=options["rows"],
        time_limit=options["time_limit"],
        time_budget=options["time_budget"],
        call_limit=options["call_limit"],
        live_test=LiveTest(
            measure=options["live_measure"] or None,
            alpha=options.get("alpha", 0.05),
            rope=_parse_ropes(options["rope"]),
        ),
        budgets=options["budgets"],
        resources=options["resources"],
        recorders=_make_recorders(options),
        seed=options["seed"],
        batch_size=options["batch_size"],
        backend=_make_backend(options),
        checkpoint=options["checkpoint"],
        checkpoint_every=options["checkpoint_every"],
        resume=options["resume"],
        trust_checkpoint=options["trust_checkpoint"],
    )


def run(evaluation: "Evaluation", options: dict[str, Any], journal: Path | None = None) -> Results:
    """Run an evaluation to its end; it can be followed in the folder of the journal."""
    check_output_files(options, evaluation.stream)
    lock_out(options)
    print_detail(f"{options['stream']}: {len(evaluation.specs)} learners, {options['scheme']}")
    print_warnings_briefly()
    evaluation.journal = journal
    return evaluation.run(progress=False if is_quiet() else None, log=options["log"])


def _parse_ropes(texts: Sequence[str]) -> float | dict[str, float] | None:
    """Return the margins of the live measures: one for all, or by name."""
    ropes: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if name in ropes:
            msg = f"--rope {text}: {name or 'the margin'} is set twice"
            raise StreamgaugeError(msg)
        try:
            ropes[name] = float(number)
        except ValueError:
            msg = f"--rope {text}: write a number such as 0.02, or NAME=NUMBER such as kappa=0.05"
            raise StreamgaugeError(msg) from None
    if "" in ropes and len(texts) > 1:
        msg = "--rope: write one number for all live measures, or NAME=NUMBER for each"
        raise StreamgaugeError(msg)
    return ropes.get("") if "" in ropes else ropes or None


def _make_backend(options: dict[str, Any]) -> Any:  # noqa: ANN401
    from streamgauge.backends import Auto, Ray, Threads  # noqa: PLC0415

    if options["ray"] is not None:
        clash = next((name for name in ("threads", "processes") if options[name] is not None), None)
        if clash:
            msg = f"--ray and --{clash} exclude each other: both choose where the learners run"
            raise StreamgaugeError(msg)
        return Ray(options["ray"])
    if options["threads"] is not None and options["processes"] is None:
        return Threads(options["threads"])
    return Auto(options["threads"], options["processes"])


def _add_dead_letters(stream: Any, folder: Path | None) -> Any:  # noqa: ANN401
    """Make a live stream write rejected events into the results folder, unless it has a file for them."""
    from streamgauge.streams.live import LiveStream  # noqa: PLC0415

    if folder is None or not isinstance(stream, LiveStream) or stream.dead_letters is not None:
        return stream
    return replace(stream, dead_letters=folder / "dead_letters.jsonl")


def _make_recorders(options: dict[str, Any]) -> list[Any]:
    from streamgauge.results import ConfusionMatrices, Misclassified, Predictions  # noqa: PLC0415

    wanted, folder = set(options["record"]), options["out"]
    if wanted and folder is None:
        msg = f"--record {options['record'][0]} needs --out, the folder to write to"
        raise StreamgaugeError(msg)
    kind = options["record_format"]
    if kind is not None and not wanted & {"predictions", "votes", "misclassified"}:
        msg = f"--record-format {kind} needs --record predictions, votes or misclassified"
        raise StreamgaugeError(msg)
    recorders: list[Any] = []
    if wanted & {"predictions", "votes"}:
        recorders.append(Predictions(folder / f"predictions.{kind or 'parquet'}", votes="votes" in wanted))
    if "misclassified" in wanted:
        recorders.append(Misclassified(folder / "misclassified", kind))
    if "confusion" in wanted:
        recorders += [ConfusionMatrices(folder / "confusion.csv"), ConfusionMatrices(folder / "confusion.mat")]
    return recorders


def finish(results: Results, options: dict[str, Any], compare: Callable[[], "Tested"] = lambda: ((), ())) -> int:
    """Save the results, test them, print them and write the other files; return the exit status.

    The results are saved first, and whatever fails afterwards does not prevent the rest: a finished run is never lost.

    Parameters
    ----------
    results
        The results of a run.
    options
        The options of the command.
    compare
        Tests the learners; returns the comparisons, and why others cannot be made.
    """
    failures: list[str] = []
    if options["out"]:
        with _collect_failure(failures, "the results could not be saved"):
            save_into(options["out"], results, options["earlier"])
    saved = options["out"] if options["out"] and not failures else None
    comparisons: Sequence[Comparison] = ()
    with _collect_failure(failures, "the learners could not be tested"):
        comparisons, reasons = compare()
        failures += [f"not tested: {reason}" for reason in reasons]
    if options["as_json"]:
        print_json(to_json_facts(results, comparisons, options))
    else:
        from streamgauge.reports import build_summary  # noqa: PLC0415

        make_console().print(build_summary(results, comparisons))
        live = results.description.get("live")
        if isinstance(live, dict) and live:
            print_note("events: " + ", ".join(f"{what} {n:,}" for what, n in live.items() if n is not None))
        with _collect_failure(failures, "not everything could be printed"):
            _print_details(results, options)
    if saved:
        print_note(f"results: {saved}")
    _write_files(results, comparisons, options, failures)
    for failure in failures:
        click.echo(f"Error: {failure}", err=True)
    if failures and saved:
        hint = f"'streamgauge compare {saved}' tests them, 'streamgauge report {saved}' writes a report"
        click.echo(f"The results are saved in {saved}: {hint}.", err=True)
    return get_exit_status(results) or (RUN_FAILED if failures else 0)


def _print_details(results: Results, options: dict[str, Any]) -> None:
    """Print what was asked for beside the summary: confusion matrices, and the Q statistic of each pair."""
    from streamgauge.reports.confusion_text import format_confusion  # noqa: PLC0415
    from streamgauge.reports.q_statistic import format_q_values  # noqa: PLC0415

    if options.get("q_statistic"):
        click.echo(format_q_values(results))
    for forgetting in results.forgettings if options.get("confusion") else ():
        click.echo(f"\n{format_confusion(results, forgetting)}")


def _write_files(
    results: Results, comparisons: Sequence["Comparison"], options: dict[str, Any], failures: list[str]
) -> None:
    """Write the table and the report."""
    if options["table"]:
        from streamgauge.results import tabulate_readings, write_table  # noqa: PLC0415

        with _collect_failure(failures, "the table could not be written"):
            write_table(tabulate_readings(results), options["table"])
    report = options["report"] or (options["out"] / "report.html" if options["out"] else None)
    if report:
        from streamgauge.reports import write_page  # noqa: PLC0415

        with _collect_failure(failures, "the report could not be written"):
            write_page(results, report, comparisons)
            print_note(f"report: {report}")


@contextmanager
def _collect_failure(failures: list[str], what: str) -> Iterator[None]:
    """Note a failure of the block, so that the next step is taken; --verbose raises it."""
    try:
        yield
    except Exception as error:
        if is_verbose():
            raise
        failures.append(f"{what}: {error}")


def get_exit_status(results: Results) -> int:
    """Return the exit status of a command with these results."""
    if results.description.get("ended_by") == "interrupt":
        return STOPPED
    return RUN_FAILED if results.failures else 0


def to_json_facts(results: Results, comparisons: Sequence[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return what ``--json`` prints: the manifest, the last readings, comparisons, verdicts and the headline."""
    from streamgauge.reports.confusion_text import list_confusions  # noqa: PLC0415
    from streamgauge.reports.findings import describe_owed_labels, find_best_groups  # noqa: PLC0415
    from streamgauge.reports.headline import write_headline  # noqa: PLC0415
    from streamgauge.reports.q_statistic import list_q_values  # noqa: PLC0415
    from streamgauge.results import build_manifest  # noqa: PLC0415
    from streamgauge.significance.verdict_terms import describe_verdicts  # noqa: PLC0415

    final = [
        {
            "learner": reading.learner,
            "fold": reading.fold,
            "measure": reading.measure,
            "forgetting": reading.forgetting,
            "value": None if math.isnan(reading.value) else reading.value,
        }
        for reading in results.readings
        if reading.row == results.n_rows
    ]
    manifest, owed = build_manifest(results), list(describe_owed_labels(results))
    pairs, models = (
        describe_verdicts(verdicts, results.name_row) for verdicts in (results.verdicts, results.model_verdicts)
    )
    return {
        **manifest,
        # The facts of a manifest have no NaN, which JSON lacks.
        "verdicts": [{**words, **facts} for words, facts in zip(pairs.facts, manifest["verdicts"], strict=True)],
        "verdict_terms": [*pairs.terms, *(owed if pairs.terms else ())],
        "model_verdicts": [
            {**words, **facts} for words, facts in zip(models.facts, manifest["model_verdicts"], strict=True)
        ],
        "model_verdict_terms": [*models.terms, *(owed if models.terms else ())],
        "final": final,
        "comparisons": [
            {
                **asdict(comparison),
                "better": comparison.better,
                "question": comparison.question,
                "sentence": comparison.sentence,
            }
            for comparison in comparisons
        ],
        "headline": write_headline(results, comparisons),
        "best_groups": [{**asdict(group), "sentence": group.sentence} for group in find_best_groups(comparisons)],
        **({"confusion": list_confusions(results)} if options.get("confusion") else {}),
        **({"q_statistic": list_q_values(results)} if options.get("q_statistic") else {}),
    }
