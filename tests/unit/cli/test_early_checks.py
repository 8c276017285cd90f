"""Wrong options are refused before the first row, and a finished run is never lost."""

import json
import re
from dataclasses import dataclass, replace

import click
import pytest

import streamgauge as sg
from streamgauge import names
from streamgauge.cli import compare as compare_command
from streamgauge.cli.run_options import finish
from streamgauge.errors import StreamgaugeError
from streamgauge.evaluation import evaluate
from streamgauge.experiments import Experiment, Source
from streamgauge.protocols import StreamBase
from tests.support.commands import invoke

N_READ = [0]
"""The number of rows that were read of any `Counting`."""


@dataclass(frozen=True)
class Counting(StreamBase):
    """A stream that counts the rows that are read."""

    n: int = 2000

    @property
    def schema(self):
        return sg.SEA().schema

    @property
    def n_rows(self):
        return self.n

    @property
    def fingerprint(self):
        return "counting"

    def batches(self, size, start=0):
        for batch in sg.SEA(n_rows=self.n).batches(size, start):
            N_READ[0] += len(batch)
            yield batch


@pytest.fixture(autouse=True)
def counting(monkeypatch):
    """Make the stream known by name, and count from 0."""
    known = names.FAMILIES["streams"]
    monkeypatch.setitem(names.FAMILIES, "streams", lambda: {**known(), "Counting": Counting})
    N_READ[0] = 0


PAIR = ("--stream", "Counting", "--learner", "NaiveBayes", "--learner", "NoChange")
FOLDS = (*PAIR, "--scheme", "Bootstrap(5)")

WRONG = [
    (("compare", *PAIR, "--test", "nonsense"), "there is no test 'nonsense'"),
    (("compare", *FOLDS, "--test", "sign", "--test", "wilcoxn"), "did you mean wilcoxon"),
    (("compare", *PAIR, "--test", "wilcoxon"), "wilcoxon compares folds, and there is one"),
    (("compare", *PAIR, "--test", "sign_test"), "sign compares folds, and there is one"),
    (("compare", *PAIR, "--test", "corrected_t"), "corrected_t compares folds, and there is one"),
    (("compare", *PAIR, "--scheme", "Bootstrap(2)", "--test", "two_way"), "at least"),
    (("compare", *FOLDS, "--test", "5x2cv"), "five_by_two needs 5 repetitions of 2 folds"),
    (("compare", *FOLDS, "--measure", "kappa", "--q-statistic"), "the Q statistic needs a loss"),
    (("compare", *FOLDS, "--tested", "kapa"), "there is no measure 'kapa'; did you mean kappa?"),
    (("compare", *FOLDS, "--tested", "recall[up]"), "there is no class 'up'"),
    (("compare", *FOLDS, "--tested", "roc_auc_ovr_macro"), "roc_auc_ovr_macro"),
    (("compare", *FOLDS, "--tested", "kappa", "--test", "mcnemar"), "mcnemar compares the accuracy"),
    (("compare", *FOLDS, "--tested", "kappa", "--test", "wilcoxon"), "kappa"),
    (("compare", *PAIR, "--alpha", "2"), "alpha = 2.0"),
    (("compare", *PAIR, "--alpha", "nan"), "alpha = nan"),
    (("compare", *PAIR, "--rope", "-1"), "rope = -1.0"),
    (("compare", "--stream", "Counting", "--learner", "NaiveBayes"), "needs two learners"),
    (("evaluate", *PAIR, "--measure", "nonsense"), "there is no measure 'nonsense'"),
    (("evaluate", *PAIR, "--measure", "recall[up]"), "there is no class 'up'"),
    (("evaluate", *PAIR, "--measure", "Hoeffding(delta=2)"), "delta = 2"),
    (("evaluate", *PAIR, "--measure", "Hoeffding(dleta=0.1)"), "did you mean delta"),
    (("evaluate", *PAIR, "--learner", "HoefdingTree"), "did you mean HoeffdingTree"),
    (("evaluate", *PAIR, "--learner", "HoeffdingTree(grace_period=0)"), "grace_period = 0"),
    (("evaluate", *PAIR, "--learner", "NaiveBayes(seed=1)"), "two learners are the same"),
    (("evaluate", *PAIR, "--scheme", "Bootstrap(1)"), "k = 1"),
    (("evaluate", *PAIR, "--labelling", "Delayed(-1)"), "rows = -1"),
    (("evaluate", *PAIR, "--forgetting", "Window(0)"), "width = 0"),
    (("evaluate", *PAIR, "--detector", "DDM(driftt=2)"), "did you mean drift"),
    (("evaluate", *PAIR, "--table", "readings.xlsx"), "must end in .csv or .parquet"),
    (("evaluate", *PAIR, "--table", "FILE/readings.csv"), "--table FILE/readings.csv cannot be written: FILE"),
    (("evaluate", *PAIR, "--report", "FILE/report.html"), "cannot be written: FILE is a file"),
    (("evaluate", *PAIR, "--report", "FOLDER"), "--report FOLDER is a folder; it must be a file"),
    (("evaluate", *PAIR, "--log", "FILE/run.jsonl"), "--log FILE/run.jsonl cannot be written: FILE is a file"),
    (("evaluate", *PAIR, "--out", "FILE/out"), "--out FILE/out cannot be written: FILE is a file"),
    (("evaluate", *PAIR, "--out", "FILE"), "--out FILE is a file; it must be a folder"),
    (("evaluate", *PAIR, "--checkpoint", "FILE"), "--checkpoint FILE is a file"),
    (("evaluate", *PAIR, "--checkpoint-every", "100"), "needs checkpoint"),
    (("evaluate", *PAIR, "--resume"), "--resume needs --checkpoint DIR"),
    (("evaluate", *PAIR, "--record", "predictions"), "--record predictions needs --out"),
    (("evaluate", *PAIR, "--time-limit", "-1"), "time_limit = -1.0"),
    (("evaluate", *PAIR, "--time-budget", "nan"), "time_budget = nan"),
    (("evaluate", *PAIR, "--seed", "-1"), "seed = -1"),
    (("evaluate", *PAIR, "--ray", "local", "--threads", "2"), "exclude each other"),
    (("detect", "--stream", "Counting", "--column", "0", "--max-delay", "-3"), "-3 is not in the range"),
    (("detect", "--stream", "Counting", "--learner", "NaiveBayes", "--max-delay", "0"), "0 is not in the range"),
    (("detect", "--stream", "Counting", "--learner", "NaiveBayes", "--drift", "-3"), "-3 is not in the range"),
    (("detect", "--stream", "Counting", "--column", "0", "--drift", "5000"), "there is a drift at row 5000"),
    (("detect", "--stream", "Counting", "--learner", "NaiveBayes", "--drift", "5000"), "there is a drift at row 5000"),
    (("detect", "--stream", "Counting", "--column", "price"), "there is no column 'price'"),
    (("detect", "--stream", "Counting", "--learner", "NaiveBayes", "--detector", "DDM(2)(3)"), "cannot read"),
    (("sample", "FILE", "--out", "FILE"), "--out FILE is a file; it must be a folder"),
    (("sample", "FILE", "--out", "drawn", "--index", "FILE"), "--index FILE is a file; it must be a folder"),
    (("sample", "FILE", "--out", "drawn", "--labelled", "2"), "labelled = 2.0"),
    (("run", "--ready", "quick", "--out", "FILE"), "--out FILE is a file; it must be a folder"),
    (("run", "--ready", "quick", "--jobs", "0", "--out", "drawn"), "n_jobs = 0"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=lambda value: " ".join(value[-2:]) if value else "")
def test_a_wrong_option_is_refused_before_the_first_row(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").touch()
    (tmp_path / "FOLDER").mkdir()
    with pytest.raises((StreamgaugeError, click.BadParameter)) as error:
        invoke(*arguments)
    assert message in str(error.value)
    assert N_READ[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"FILE", "FOLDER"}


@pytest.mark.parametrize(
    "name", ["sign", "sign_test", "Sign test", "wilcoxon", "wilcoxon_signed_rank", "two_way", "two_way_t", "mcnemar"]
)
def test_both_names_of_a_test_are_accepted(name):
    out, _, status = invoke("compare", *FOLDS, "--test", name, "--json")
    assert status == 0
    (comparison,) = json.loads(out)["comparisons"]
    assert name.lower().replace(" ", "_").startswith(comparison["test"].removesuffix("_t"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": "nonsense"}, "there is no measure"),
        ({"measures": "recall[up]"}, "there is no class"),
        ({"score": "firs"}, "did you mean first"),
        ({"scheme": "Bootstrp"}, "there is no scheme"),
        ({"labelling": "Delayd(5)"}, "there is no labelling"),
        ({"forgetting": "Windw"}, "there is no forgetting"),
        ({"detectors": "DMM"}, "there is no detector"),
        ({"seed": -1}, "seed = -1"),
        ({"every": 0}, "every = 0"),
        ({"n_rows": 0}, "n_rows = 0"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"checkpoint_every": 10}, "needs checkpoint"),
        ({"resume": True}, "needs checkpoint"),
        ({"log": "/dev/null/log"}, "cannot write the log"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_evaluate_refuses_a_wrong_option_before_the_first_row(options, message):
    with pytest.raises(StreamgaugeError, match=message):
        evaluate(Counting(), [sg.NaiveBayes(), sg.NoChange()], **options)
    assert N_READ[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": ("accuracy", "nonsense")}, "there is no measure 'nonsense'"),
        ({"learners": {"tree": "HoefdingTree"}}, "did you mean HoeffdingTree"),
        ({"schemes": ("Bootstrap(5)", "Bootstrp")}, "there is no scheme 'Bootstrp'"),
        ({"labellings": ("Delayd(5)",)}, "did you mean Delayed"),
        ({"forgettings": ("Window(0)",)}, "width = 0"),
        ({"detectors": ("DMM",)}, "there is no detector"),
        ({"score": "firs"}, "did you mean first"),
        ({"time_budget": -1.0}, "time_budget"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_experiment_refuses_a_wrong_name_before_its_first_job(options, message):
    settings = {"streams": {"counting": Source(Counting())}, "learners": {"bayes": "NaiveBayes"}, **options}
    with pytest.raises(StreamgaugeError, match=message):
        Experiment("wrong", **settings)
    assert N_READ[0] == 0


def test_an_experiment_names_a_class_that_a_stream_lacks_before_its_first_job(tmp_path):
    (tmp_path / "wrong.toml").write_text(
        'streams = ["Counting"]\nlearners = ["NaiveBayes"]\nmeasures = ["accuracy", "recall[up]"]\n'
    )
    with pytest.raises(StreamgaugeError, match="Counting: there is no class 'up'; there are 0, 1"):
        invoke("run", str(tmp_path / "wrong.toml"), "--out", str(tmp_path / "found"))
    assert N_READ[0] == 0
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('measures = ["all", "kapa"]', "wrong.toml:3: there is no measure 'kapa'; did you mean kappa?"),
        ('schemes = ["Bootstrp(3)"]', "wrong.toml:3: there is no scheme 'Bootstrp'; did you mean Bootstrap?"),
        ('score = "firs"', "wrong.toml:3: "),
        ("time_budget = -1.0", "time_budget = -1.0"),
    ],
)
def test_the_file_of_an_experiment_is_checked_before_its_first_job(line, message, tmp_path):
    (tmp_path / "wrong.toml").write_text(f'streams = ["Counting"]\nlearners = ["NaiveBayes"]\n{line}\n')
    with pytest.raises(StreamgaugeError, match=re.escape(message)):
        invoke("run", str(tmp_path / "wrong.toml"), "--out", str(tmp_path / "found"))
    assert N_READ[0] == 0


def fail(*_, **__):
    msg = "the sky fell"
    raise StreamgaugeError(msg)


def test_results_are_saved_and_printed_even_if_a_test_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(compare_command, "compare_possible", fail)
    out, error, status = invoke("compare", *PAIR, "--out", str(tmp_path / "saved"))
    assert status == 1
    assert "NaiveBayes" in out
    assert "Error: the learners could not be tested: the sky fell" in error
    assert f"The results are saved in {tmp_path / 'saved'}: 'streamgauge compare {tmp_path / 'saved'}'" in error
    assert sg.load(tmp_path / "saved").n_rows == 2000
    assert (tmp_path / "saved" / "report.html").is_file()


def test_pairs_that_can_be_tested_are_tested(tmp_path):
    run = (*FOLDS, "--learner", "MajorityClass", "--measure", "precision[0]", "--tested", "precision[0]")
    out, error, status = invoke("compare", *run, "--out", str(tmp_path / "saved"))
    assert status == 1
    assert "NaiveBayes is better than NoChange" in out
    assert "Error: not tested: NaiveBayes and MajorityClass, NoChange and MajorityClass: " in error
    text, *_ = invoke("report", str(tmp_path / "saved"), "--measure", "precision[0]", "--format", "md")
    assert "NaiveBayes is better than NoChange" in text
    assert "NoChange and MajorityClass were not tested: precision\\[0\\] of MajorityClass is undefined" in text


def test_a_run_with_too_few_folds_for_a_test_is_reported_with_the_reason(tmp_path):
    *_, status = invoke("evaluate", *PAIR, "--scheme", "Bootstrap(2)", "--out", str(tmp_path / "saved"))
    assert status == 0
    text, *_ = invoke("report", str(tmp_path / "saved"), "--format", "md")
    assert "The differences were not tested for significance: two\\_way\\_t needs at least 5 folds" in text
    with pytest.raises(StreamgaugeError, match="two_way_t needs at least 5 folds"):
        invoke("compare", str(tmp_path / "saved"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("report", "--measure", "kapa"), "there is no measure 'kapa'; did you mean kappa?"),
        (("report", "--alpha", "3"), "alpha = 3.0"),
        (("report", "--post-hoc", "nemeny"), "did you mean nemenyi"),
        (("compare", "--tested", "kapa"), "there is no measure 'kapa'; did you mean kappa?"),
        (("compare", "--alpha", "3"), "alpha = 3.0"),
        (("compare", "--test", "wilcoxn"), "did you mean wilcoxon"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_wrong_options_for_saved_results_are_refused(options, message, tmp_path):
    invoke("evaluate", *FOLDS, "--out", str(tmp_path / "saved"))
    command, *others = options
    with pytest.raises(StreamgaugeError, match=re.escape(message)):
        invoke(command, str(tmp_path / "saved"), *others, "--out", str(tmp_path / "report.html"))
    assert not (tmp_path / "report.html").exists()


def test_results_are_saved_and_printed_even_if_the_report_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("streamgauge.reports.write_page", fail)
    out, error, status = invoke("evaluate", *PAIR, "--out", str(tmp_path / "saved"))
    assert status == 1
    assert "NaiveBayes" in out
    assert "Error: the report could not be written: the sky fell" in error
    assert sg.load(tmp_path / "saved").n_rows == 2000


def test_a_stopped_run_that_cannot_be_tested_counts_as_stopped(capsys):
    results = evaluate(sg.SEA(n_rows=100), [sg.NaiveBayes(), sg.NoChange()])
    stopped = replace(results, complete=False, description={**results.description, "ended_by": "interrupt"})
    options = {"out": None, "table": None, "report": None, "as_json": False}
    assert finish(stopped, options, fail) == 130
    assert "the sky fell" in capsys.readouterr().err
    assert finish(results, options, fail) == 1


def test_results_are_printed_even_if_they_cannot_be_saved(tmp_path, monkeypatch):
    monkeypatch.setattr("streamgauge.results.save", fail)
    out, error, status = invoke("evaluate", *PAIR, "--out", str(tmp_path / "saved"))
    assert status == 1
    assert "NaiveBayes" in out
    assert "Error: the results could not be saved: the sky fell" in error
    assert "The results are saved" not in error


def test_saved_results_are_tested_later(tmp_path):
    invoke("evaluate", *FOLDS, "--out", str(tmp_path / "saved"))
    N_READ[0] = 0
    out, *_ = invoke("compare", str(tmp_path / "saved"), "--test", "sign_test", "--json")
    assert json.loads(out)["comparisons"][0]["test"] == "sign"
    assert N_READ[0] == 0
