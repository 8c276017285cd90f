"""Live streams on the command line, and after a kill."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.streams.live import GrowingFile
from tests.support.live_examples import SCHEMA, as_json, labels_as_json, rows
from tests.system.test_command_line import streamgauge

LEARNERS = [sg.NaiveBayes(), sg.MajorityClass()]


def joined(events: list[bytes]) -> bytes:
    return b"".join(event + b"\n" for event in events)


def test_the_command_line_reads_live_streams_and_tells_what_was_set_aside(tmp_path: Path) -> None:
    x, y = rows(200)
    path, schema = tmp_path / "rows.jsonl", tmp_path / "schema.json"
    path.write_bytes(b"{broken\n" + joined(as_json(x, y)))
    schema.write_text('{"attributes": {"price": null, "day": ["mo", "tu"]}, "classes": ["up", "down"]}')
    out = tmp_path / "out"
    stream = f"GrowingFile({str(path)!r}, schema={str(schema)!r})"
    options = ["--stream", stream, "--learner", "NaiveBayes", "--rows", "200", "--out", str(out), "--json"]
    done = streamgauge("evaluate", *options)
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["n_rows"] == 200
    assert output["description"]["live"]["malformed"] == 1
    letter = json.loads((out / "dead_letters.jsonl").read_text())
    assert letter["reason"] == "malformed"
    assert letter["value"] == "{broken"


class Killed(Exception):  # noqa: N818
    """Stands for the end of a process."""


def test_a_live_run_that_is_killed_continues_from_its_checkpoint(tmp_path: Path) -> None:
    x, y = rows(1000)
    keys = [f"k{i}" for i in range(len(y))]
    events, labels = as_json(x, None, keys), labels_as_json(y, keys)
    events[250:250] = [b"{", events[3]]
    for name, content in (("rows", events), ("labels", labels[::-1])):
        (tmp_path / name).write_bytes(joined(content))

    def run(name: str, **options: Any) -> sg.Results:
        stream = GrowingFile(
            tmp_path / "rows",
            labels=str(tmp_path / "labels"),
            key="id",
            schema=SCHEMA,
            max_wait=0.05,
            dead_letters=tmp_path / f"{name}.jsonl",
        )
        return sg.evaluate(stream, LEARNERS, every=50, n_rows=1000, batch_size=70, **options)

    def die(reading: Any) -> None:
        if reading.row >= 600:
            raise Killed

    whole = run("whole")
    checkpoint: dict[str, Any] = {"checkpoint": tmp_path / "kept", "checkpoint_every": 100, "resume": True}
    with pytest.raises(Killed):
        run("cut", on_reading=die, **checkpoint)
    cut = run("cut", **checkpoint)
    np.testing.assert_array_equal(cut.values, whole.values)
    assert cut.rows.tolist() == whole.rows.tolist()
    assert cut.description["live"] == whole.description["live"]
    assert (tmp_path / "cut.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
