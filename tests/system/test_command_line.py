"""The command line: names and options, tables, JSON, and mistakes reported in one line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import streamgauge as sg
from streamgauge.measures import find_measures
from streamgauge.names import FAMILIES, make
from streamgauge.streams import Planes
from tests.support.commands import BIN

RUN = ["--stream", "SEA", "--rows", "2000", "--learner", "NaiveBayes", "--learner", "MajorityClass"]


def streamgauge(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "streamgauge"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_evaluate_prints_a_table():
    done = streamgauge("evaluate", *RUN)
    assert done.returncode == 0, done.stderr
    assert "NaiveBayes" in done.stdout
    assert "MajorityClass" in done.stdout
    assert "\x1b" not in done.stdout  # no colours in a pipe


def test_evaluate_writes_results_and_report(tmp_path):
    done = streamgauge("evaluate", *RUN, "--out", str(tmp_path / "run"), "--scheme", "Bootstrap(3)")
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "run").iterdir()}
    tables = {"blocks", "confusions", "differences", "labels", "readings", "resources"}
    assert names == {*(f"{table}.parquet" for table in tables), "manifest.json", "report.html", "journal"}
    again = streamgauge("compare", str(tmp_path / "run"), "--test", "wilcoxon", "--json")
    assert again.returncode == 0, again.stderr
    (comparison,) = json.loads(again.stdout)["comparisons"]
    assert comparison["p_value"] == 0.25  # three folds can give no less: 2 / 2 ** 3


def test_compare_says_its_verdict_in_a_sentence():
    done = streamgauge("compare", *RUN, "--scheme", "Bootstrap(10)")
    assert done.returncode == 0, done.stderr
    assert "NaiveBayes is better than MajorityClass" in " ".join(done.stdout.split())


def test_json_is_json():
    done = streamgauge("evaluate", *RUN, "--measure", "kappa_m", "--forgetting", "Window(100)", "--json")
    found = json.loads(done.stdout)
    assert found["complete"] is True
    assert {row["learner"] for row in found["final"]} == {"NaiveBayes", "MajorityClass"}


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_everything_listed_can_be_made(family):
    listed = json.loads(streamgauge("list", family, "--json").stdout)
    names = {row["name"] for row in listed}
    if family == "measures":
        assert set(FAMILIES[family]()) < names
        streams = {"classification": sg.SEA(), "regression": Planes()}
        assert {row["task"] for row in listed} == set(streams)
        for row in (row for row in listed if not row["needs"]):
            text = row["name"].replace("CLASS", "1").replace("BETA", "2")
            assert find_measures(text, streams[row["task"]])
        return
    assert names == set(FAMILIES[family]())
    for row in (row for row in listed if not row["needs"]):
        values = {name: tuple(v) if isinstance(v, list) else v for name, v in row["options"].items()}
        shown = {name: v["object"] if isinstance(v, dict) else repr(v) for name, v in values.items()}
        options = ", ".join(f"{name}={text}" for name, text in shown.items())
        make(family, f"{row['name']}({options})", FAMILIES[family]())


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["--learner", "HoefdingTree"], "did you mean HoeffdingTree?"),
        (["--learner", "HoeffdingTree(grace=5)"], "did you mean grace_period?"),
        (["--learner", "HoeffdingTree(grace_period=0)"], "grace_period"),
        (["--learner", "HoeffdingTree("], "cannot read the learner"),
        (["--learner", "__import__('os').system('true')"], "cannot read the learner"),
        (["--learner", "HoeffdingTree(grace_period=open('x'))"], "there is no learner 'open'"),
        (["--scheme", "Bootstrap(1)"], "k = 1"),
        (["--forgetting", "Window(0)"], "width"),
        (["--forgetting", "Fading(1.5)"], "factor"),
        (["--forgetting", "Fading(0)"], "factor"),
        (["--measure", "kapa"], "did you mean kappa?"),
        (["--stream", "SEE"], "did you mean SEA?"),
        (["--threads", "0"], "threads"),
        (["--rows", "many"], "many"),
        (["--rows", "-5"], "--rows"),
        (["--nonsense"], "nonsense"),
    ],
)
def test_a_mistake_is_reported_in_one_line_with_status_2(arguments, culprit):
    done = streamgauge("evaluate", *RUN, *arguments)
    assert done.returncode == 2
    assert culprit in done.stderr
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("Error")]) == 1


def test_an_endless_stream_needs_a_number_of_rows():
    done = streamgauge("evaluate", "--stream", "SEA", "--learner", "NaiveBayes")
    assert done.returncode == 2
    assert "never ends: set the number of rows with --rows" in done.stderr


def test_a_stream_may_be_a_file(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,kind\n" + "1.5,2,yes\n2.5,1,no\n" * 50)
    for text in (str(tmp_path / "rows.csv"), f"File({str(tmp_path / 'rows.csv')!r}, target='kind')"):
        done = streamgauge("evaluate", "--stream", text, "--learner", "NoChange", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["final"][0]["value"] == 0.0
    done = streamgauge("evaluate", "--stream", str(tmp_path / "none.csv"), "--learner", "NoChange")
    assert done.returncode == 2
    assert "none.csv" in done.stderr


def test_schemes_labellings_and_records_are_asked_for_by_name(tmp_path):
    out = tmp_path / "run"
    done = streamgauge(
        *("evaluate", *RUN, "--json", "--out", str(out), "--every", "500", "--table", str(tmp_path / "t.csv")),
        *(
            "--scheme",
            "Pretrained(SEA(n_rows=200), scheme=Bootstrap(2))",
            "--labelling",
            "Delayed(50, of=Fraction(0.5))",
        ),
        *("--score", "last", "--time-budget", "10", "--record", "votes", "--record", "misclassified"),
        *("--record", "confusion"),
    )
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["description"]["labelling"] == "Delayed(rows=50, of=Fraction(share=0.5))"
    assert output["description"]["score"] == "last"
    assert output["feedback"]["n_owed"] > 0
    assert output["resources"]["n_late"] == [[0, 0], [0, 0]]
    names = {path.name for path in out.iterdir()}
    assert names >= {"predictions.parquet", "misclassified", "confusion.csv", "confusion.mat", "resources.parquet"}
    assert len(list((out / "misclassified").iterdir())) == 4
    assert (tmp_path / "t.csv").read_text().startswith('"row","learner"')


def test_labellings_are_listed():
    done = streamgauge("list", "labellings", "--json")
    assert {"AllLabels", "Delayed", "DelayedByColumn", "Fraction"} <= {row["name"] for row in json.loads(done.stdout)}


def test_records_need_a_folder():
    done = streamgauge("evaluate", *RUN, "--record", "votes")
    assert done.returncode == 2
    assert "--out" in done.stderr


def test_a_sampled_folder_is_evaluated_on_its_hidden_truth(tmp_path):
    rows = "".join(f"{i},{i % 2}\n" for i in range(400))
    (tmp_path / "all.csv").write_text("a,class\n" + rows)
    sample = ("sample", str(tmp_path / "all.csv"), "--training-positives", "10", "--labelled", "0.25")
    assert streamgauge(*sample, "--out", str(tmp_path / "s")).returncode == 0
    done = streamgauge("evaluate", "--stream", str(tmp_path / "s"), "--learner", "NaiveBayes", "--json")
    assert done.returncode == 0, done.stderr
    feedback = json.loads(done.stdout)["feedback"]
    assert feedback["n_hidden"] == 3 * feedback["n_revealed"]
    assert feedback["n_scored"] == [feedback["n_hidden"] + feedback["n_revealed"]]


def test_several_detectors_read_the_same_standard_input():
    numbers = "0\n" * 100 + "1\n" * 60
    command = [str(BIN), "detect", "-", "--detector", "PageHinkley(threshold=10)", "--detector", "Cusum(threshold=10)"]
    done = subprocess.run(command, input=numbers, capture_output=True, text=True, check=True, timeout=60)
    assert [line.rpartition(": ")[2][:12] for line in done.stdout.splitlines()] == ["drift at row"] * 2
