"""Events that are passed to a command."""

import json
import sys
from pathlib import Path

import pytest

from streamgauge.records import Alarm
from streamgauge.sinks import Command, delivery, describe_event

DRIFT = Alarm(1200, "tree", 0, "DDM", "drift")

SCRIPT = """
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
tries = folder / "tries"
tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
if len(tries.read_text()) < 3:
    sys.exit("not yet")
(folder / "event").write_text(sys.stdin.read())
"""


def test_a_command_gets_an_event_as_json_and_is_run_again_if_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE", 0.01)
    with Command([sys.executable, "-c", SCRIPT, str(tmp_path)], source="shop") as sink:
        sink(DRIFT)
    assert json.loads((tmp_path / "event").read_text()) == describe_event(DRIFT, "shop")
    assert (tmp_path / "tries").read_text() == "xxx"
    assert sink.counts.sent == 1
    assert sink.counts.last_error.endswith("not yet")


def test_a_command_that_is_missing_or_takes_too_long_fails_and_says_so() -> None:
    with Command("no-such-program-here", patience=0.01) as sink:
        sink(DRIFT)
    assert (sink.counts.failed, "no-such-program-here" in sink.counts.last_error) == (1, True)
    with Command([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.3, patience=0.01) as sink:
        sink(DRIFT)
    assert (sink.counts.failed, "timed out" in sink.counts.last_error) == (1, True)
