"""The log of a run: all events as lines of JSON, as they happen."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge import drift
from streamgauge.errors import FailureWarning
from streamgauge.evaluation import Evaluation
from streamgauge.records import Reading
from streamgauge.results.log import LogWriter
from streamgauge.streams import Sudden
from tests.support.commands import invoke
from tests.support.verdict_examples import BROKEN, OPEN, SURE_LOSS

DRIFTING = Sudden(sg.SEA(), sg.SEA(concept=3), position=1500)
PAIR = {"tree": sg.HoeffdingTree(grace_period=50), "majority": sg.MajorityClass()}
OPTIONS: dict[str, Any] = {"n_rows": 3000, "every": 500, "detectors": drift.DDM(), "scheme": sg.Bootstrap(3)}


def read_log(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_reading_alarm_and_verdict_is_a_line(tmp_path):
    results = sg.evaluate(DRIFTING, PAIR, **OPTIONS, log=tmp_path / "run.jsonl")
    events = read_log(tmp_path / "run.jsonl")
    assert (events[0]["event"], events[0]["seed"]) == ("start", 1)
    assert events[-1] == {"event": "end", "row": 3000, "ended_by": "end of the rows"}
    readings = [event for event in events if event["event"] == "reading"]
    assert [event["value"] for event in readings] == results.values.reshape(-1).tolist()
    alarms = [(event["row"], event["learner"], event["fold"]) for event in events if event["event"] == "alarm"]
    assert alarms == [(alarm.row, alarm.learner, alarm.fold) for alarm in results.alarms]
    assert alarms
    (verdict,) = [event for event in events if event["event"] == "verdict"]
    assert verdict == {
        "event": "verdict",
        "row": results.verdicts[0].row,
        "first": "tree",
        "second": "majority",
        "measure": "accuracy",
        "outcome": "first",
        "holds": True,
    }


def test_a_verdict_on_one_model_is_a_line_where_it_is_reached_and_where_it_ends():
    lines: list[dict[str, Any]] = []
    log = LogWriter(lambda line: lines.append(json.loads(line)))
    readings = [Reading(row, "tree", 0, "accuracy", "Landmark()", 0.5) for row in (10, 20, 9000)]
    log.write_batch(readings, (), (replace(BROKEN, earlier=OPEN.earlier), SURE_LOSS), (), {10: 1.0, 20: 2.0, 9000: 9.0})
    about = {"learner": "tree", "requirement": "error<0.05", "measure": "error"}
    assert [line for line in lines if line["event"] != "reading"] == [
        {"event": "model_verdict", "row": 10, "time": 1.0, **about, "outcome": "kept", "holds": True},
        {"event": "model_verdict", "row": 20, "time": 2.0, **about, "outcome": "kept", "holds": False},
        {"event": "model_verdict", "row": 9000, "time": 9.0, **about, "outcome": "broken", "holds": True},
    ]


@pytest.mark.parametrize("batch_size", [70, 500])
def test_lines_are_in_the_order_of_rows_whatever_the_size_of_a_batch(tmp_path, batch_size):
    sg.evaluate(DRIFTING, PAIR, **OPTIONS, log=tmp_path / "whole.jsonl")
    sg.evaluate(DRIFTING, PAIR, **OPTIONS, log=tmp_path / "parts.jsonl", batch_size=batch_size)
    rows = [event["row"] for event in read_log(tmp_path / "whole.jsonl")[1:]]
    assert rows == sorted(rows)
    assert (tmp_path / "parts.jsonl").read_text() == (tmp_path / "whole.jsonl").read_text()


def test_lines_are_there_while_the_run_continues(tmp_path):
    seen = []

    def look(reading):
        seen.append((reading.row, len(read_log(tmp_path / "run.jsonl"))))

    evaluation = Evaluation(sg.SEA(n_rows=300), sg.NaiveBayes(), every=100, batch_size=100)
    evaluation.run(log=tmp_path / "run.jsonl", on_reading=look)
    assert seen == [(100, 1), (200, 2), (300, 3)]


class Breaks:
    """A learner that fails at its 150th row."""

    def __init__(self):
        self.n = 0

    def predict(self, x):
        return np.zeros(len(x), dtype=int)

    def learn(self, _x, y):
        self.n += len(y)
        if self.n >= 150:
            msg = "too hot"
            raise ValueError(msg)


def test_a_failure_is_a_line_and_its_readings_are_null(tmp_path):
    with pytest.warns(FailureWarning):
        sg.evaluate(sg.SEA(n_rows=300), {"mine": Breaks(), "bayes": sg.NaiveBayes()}, every=100, log=tmp_path / "log")
    events = read_log(tmp_path / "log")
    (failure,) = [event for event in events if event["event"] == "failure"]
    assert (failure["learner"], failure["error"]) == ("mine", "ValueError: too hot")
    assert [event["value"] for event in events if event.get("learner") == "mine" and event["event"] == "reading"][
        1:
    ] == [None, None]


def test_a_resumed_run_writes_the_whole_log(tmp_path):
    plan: dict[str, Any] = {"n_rows": 2000, "every": 100, "budgets": ["error<0.6", "error<0.05"]}
    options = {**plan, "checkpoint": tmp_path / "points", "checkpoint_every": 1000}
    stopped = Evaluation(sg.SEA(), PAIR, **options)
    reached = [part.n_rows for part in stopped.advance(lambda: True)][-1]
    assert reached < 2000
    sg.evaluate(sg.SEA(), PAIR, resume=True, log=tmp_path / "run.jsonl", **options)
    sg.evaluate(sg.SEA(), PAIR, **plan, log=tmp_path / "whole.jsonl")
    assert (tmp_path / "run.jsonl").read_text() == (tmp_path / "whole.jsonl").read_text()
    rows = {event["event"]: event["row"] for event in reversed(read_log(tmp_path / "run.jsonl")[1:])}
    assert rows["verdict"] <= reached  # the first of each kind was reached before the run stopped
    assert rows["model_verdict"] <= reached


def test_the_command_line_writes_a_log(tmp_path):
    path = tmp_path / "logs" / "run.jsonl"
    *_, status = invoke("evaluate", "--stream", "SEA", "--rows", "1000", "--learner", "NaiveBayes", "--log", str(path))
    assert status == 0
    assert len(read_log(path)) == 202
