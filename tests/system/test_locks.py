"""Locks and temporary files of processes that are killed, and of several at once."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

from streamgauge.store import Store
from tests.support.commands import invoke

RUN = ("evaluate", "--stream", "SEA", "--rows", "300", "--learner", "NaiveBayes", "--quiet", "--record", "predictions")


def list_names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_the_lock_of_a_killed_process_is_taken_over_and_its_temporary_files_are_removed(tmp_path: Path) -> None:
    script = """
        import os, signal, sys
        from pathlib import Path
        from streamgauge.records.locks import lock_folder
        from streamgauge.streams.output_files import replace_atomically
        folder = Path(sys.argv[1])
        with lock_folder(folder, "files"), replace_atomically(folder / "predictions.csv") as temporary:
            temporary.write_text("cut o")
            (folder / ".results.tmp").mkdir()
            os.kill(os.getpid(), signal.SIGKILL)
    """
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(tmp_path)], check=False)
    assert process.returncode == -signal.SIGKILL
    assert list_names(tmp_path) == {".files.lock", ".results.tmp", f".predictions.csv.{find_pid(tmp_path)}.tmp"}
    assert invoke(*RUN, "--out", str(tmp_path))[2] == 0
    assert not [name for name in list_names(tmp_path) if name.startswith(".")]


def find_pid(folder: Path) -> str:
    return next(path.name.split(".")[-2] for path in folder.glob(".predictions.*"))


def test_a_store_is_created_once_by_many_processes(tmp_path: Path) -> None:
    code = "import sys; from streamgauge.store import Store; Store(sys.argv[1], new=True)"
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / ".catalogue.sqlite.tmp-wal").write_text("of a process that was killed")
    command = [sys.executable, "-c", code, str(tmp_path / "store")]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    assert list_names(tmp_path / "store") == {"catalogue.sqlite"}
    assert Store(tmp_path / "store").runs() == []
