"""Runs of the command line that are killed and resumed."""

import json
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from streamgauge._engine.journal import JournalReader
from streamgauge.store import Claim, Condition, Store, WantedResults

RUN = ["evaluate", "--stream", "SEA(noise=0.1)", "--rows", "400000", "--learner", "HoeffdingTree", "--learner"]
RUN += ["NaiveBayes", "--scheme", "Bootstrap(3)", "--forgetting", "AdwinWindow", "--forgetting", "Window(1000)"]
RUN += ["--labelling", "Delayed(500)", "--every", "10000", "--no-resources", "--quiet", "--batch-size", "4096"]


def started(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from streamgauge.cli.main import main; main()", *RUN, *more]
    if folder.name != "none":
        command += ["--checkpoint", str(folder), "--checkpoint-every", "10000", "--resume"]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finished(folder: Path, out: Path) -> tuple[bytes, dict[str, object]]:
    process = started(folder, "--out", str(out))
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    manifest = json.loads((out / "manifest.json").read_text())
    manifest.pop("checksum")  # of the facts below, too
    manifest["description"].pop("seconds")
    manifest["description"].pop("call")  # it says that the run was resumed
    return (out / "readings.parquet").read_bytes(), manifest


def checkpoints(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.checkpoint"))


def wait_for(folder: Path, n_rows: int) -> None:
    """Wait for a checkpoint at a row or later."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if any(int(path.stem[5:]) >= n_rows for path in checkpoints(folder)):
            return
        time.sleep(0.005)
    pytest.fail("no checkpoint within two minutes")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, object]]:
    folder = tmp_path_factory.mktemp("whole")
    return finished(folder / "none", folder / "out")


def test_runs_killed_at_random_moments_end_with_the_same_bytes(
    tmp_path: Path, whole: tuple[bytes, dict[str, object]]
) -> None:
    draw = random.Random(20)
    for n_rows in (20_000, 120_000, 250_000):
        process = started(tmp_path / "run")
        wait_for(tmp_path / "run", n_rows)
        time.sleep(draw.random() / 50)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        process.communicate()
    assert finished(tmp_path / "run", tmp_path / "out") == whole


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_terminated_writes_a_last_checkpoint_and_ends_as_asked(
    tmp_path: Path, whole: tuple[bytes, dict[str, object]], number: signal.Signals
) -> None:
    process = started(tmp_path / "run")
    wait_for(tmp_path / "run", 30_000)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == -number, errors
    assert "Traceback" not in errors
    assert finished(tmp_path / "run", tmp_path / "out") == whole


WRITING = """
    import signal, sys, time
    from contextlib import contextmanager
    from pathlib import Path
    from streamgauge import SEA, NaiveBayes, evaluate
    from streamgauge.results import Predictions

    class Slow:
        needs_votes = False

        def __repr__(self):
            return "Slow()"

        @contextmanager
        def open(self, *context):
            print("writing", flush=True)
            yield lambda batch: time.sleep(float(sys.argv[2]))

    folder = Path(sys.argv[1])
    recorders = [Slow(), Predictions(folder / "predictions.csv")]
    options = {"batch_size": 10, "checkpoint": folder / "run", "resume": True}
    evaluate(SEA(n_rows=2_000), NaiveBayes(), recorders=recorders, **options)
"""


def test_a_run_is_terminated_while_its_recorders_write(tmp_path: Path) -> None:
    def start(folder: str, pause: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", textwrap.dedent(WRITING), str(tmp_path / folder), pause]
        return subprocess.Popen(command, text=True, stdout=subprocess.PIPE)

    process = start("one", "0.5")
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    asked = time.monotonic()
    process.terminate()
    assert process.wait(timeout=60) == -signal.SIGTERM
    assert time.monotonic() - asked < 10  # 200 batches would take 100 seconds
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["run"]
    process.communicate()
    for folder in ("one", "other"):
        process = start(folder, "0")
        process.communicate(timeout=60)
        assert process.returncode == 0
    names = [sorted(path.name for path in (tmp_path / folder).rglob("*")) for folder in ("one", "other")]
    assert names[0] == names[1]
    assert (tmp_path / "one" / "predictions.csv").read_bytes() == (tmp_path / "other" / "predictions.csv").read_bytes()


def test_mistakes_are_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    process = started(tmp_path / "file")
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert output == ""
    assert errors.startswith("Error: --checkpoint")
    assert "is a file; it must be a folder" in errors
    assert len(errors.splitlines()) == 1


def test_a_run_that_was_killed_is_dead(tmp_path: Path) -> None:
    script = """
        import os, sys
        from streamgauge import SEA, Evaluation, NaiveBayes
        for progress in Evaluation(SEA(), NaiveBayes(), every=1000, batch_size=1000, journal=sys.argv[1]).advance():
            if progress.n_rows == 5000:
                os._exit(9)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(tmp_path)], check=False)
    view = JournalReader(tmp_path)
    assert view.state == "died"
    assert view.layout.rows(view.records()[1]).tolist() == [1_000, 2_000, 3_000, 4_000, 5_000]


CONDITION = Condition("sea", "sea-1", "Bootstrap(k=2)", "AllLabels()")
REQUEST = WantedResults(("accuracy", "error"), ("Landmark()",))
LEARNERS = {"bayes": "NaiveBayes()", "last": "NoChange()"}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, new=True)


def claimed(store, condition=CONDITION, learners=LEARNERS, **options):
    claim = store.claim(condition, learners, REQUEST, **options)
    assert isinstance(claim, Claim)
    return claim


def test_the_claims_of_a_process_that_died_are_void(store):
    code = (
        "import os, sys\n"
        "from streamgauge.store import Condition, Store, WantedResults\n"
        "store = Store(sys.argv[1])\n"
        "asked = WantedResults(('accuracy', 'error'), ('Landmark()',))\n"
        "store.claim(Condition('sea', 'sea-1', 'Bootstrap(k=2)', 'AllLabels()'), {'last': 'NoChange()'}, asked)\n"
        "assert len(store.running()) == 1\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(store.folder)], check=True, timeout=60)
    assert list(claimed(store).learners) == list(LEARNERS)
