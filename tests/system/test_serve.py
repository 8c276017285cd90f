"""The dashboard's server as a process, and the runs that it starts."""

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("httpx2", reason="the test client of starlette needs httpx2")

from starlette.testclient import TestClient

from streamgauge.serve import RunFolders
from streamgauge.serve.app import create_app

HOME = "http://127.0.0.1:8765"
ORIGIN = {"origin": HOME}


def test_a_page_starts_and_stops_a_run(tmp_path: Path) -> None:
    wanted = {"stream": "SEA", "learners": ["NaiveBayes"], "rows": 10**12, "every": 10_000, "name": "mine"}
    app = create_app(RunFolders(tmp_path))
    with TestClient(app, base_url=HOME) as page:
        assert page.post("/api/start", json={**wanted, "learners": ["NaivBayes"]}, headers=ORIGIN).status_code == 400
        answer = page.post("/api/start", json=wanted, headers=ORIGIN)
        assert answer.json() == {"id": "mine"}
        again = page.post("/api/start", json=wanted, headers=ORIGIN)
        assert "already a run" in again.text
        until(lambda: page.get("/api/run", params={"id": "mine"}).status_code == 200 and summary(page)["n_rows"] > 0)
        assert page.post("/api/stop", json={"id": "mine"}, headers=ORIGIN).status_code == 202
        until(lambda: summary(page)["state"] == "cut short")
        until((tmp_path / "mine" / "manifest.json").is_file)
        late = page.post("/api/stop", json={"id": "mine"}, headers=ORIGIN)
        assert "cannot be stopped" in late.text
        until(lambda: not app.state.launched_runs.running)
        assert app.state.launched_runs.list_failures() == {}


def summary(page: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = page.get("/api/run", params={"id": "mine"}).json()
    return found


def until(done: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def test_serve_says_its_address_and_ends_with_its_parent(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, os\n"
        "code = 'from streamgauge.cli.main import main; main()'\n"
        "command = [sys.executable, '-c', code, 'serve', sys.argv[1], '--port', '0', '--parent', str(os.getpid())]\n"
        "server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)\n"
        "print(server.pid, server.stdout.readline().split()[0], flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    pid, address = done.stdout.split()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
    until(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2])


def test_mistakes_of_serve_are_reported_in_one_line(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).parent / "streamgauge"), "serve", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is not a folder" in done.stderr
    assert len(done.stderr.splitlines()) == 1
