"""The number of Python files of the package that a row passes on its way to a verdict.

Run with ``python -m benchmarks row_path``; ``python -m benchmarks.row_path --list`` lists the files. A file counts if
one of its functions is called; imports do not count. Three paths are counted: a comparison in Python, the same on the
command line, and with results saved and a report written.
"""

import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import streamgauge as sg
from streamgauge.cli.main import main as run_command_line

PACKAGE = str(Path(sg.__file__).parent)
OPTIONS = ["--stream", "SEA", "--rows", "5000", "--learner", "HoeffdingTree", "--learner", "NaiveBayes"]


def compare_in_python() -> None:
    """Evaluate and compare two learners on 5,000 rows, as a script does."""
    learners = [sg.HoeffdingTree(), sg.NaiveBayes()]
    results = sg.evaluate(sg.SEA(n_rows=5000), learners, scheme=sg.Bootstrap(10), resources=True)
    str(sg.compare(results))


def compare_on_command_line(*arguments: str) -> None:
    """Run ``streamgauge compare`` on 5,000 rows."""
    sys.argv[1:] = ["compare", *OPTIONS, "--scheme", "Bootstrap(10)", *arguments]
    quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with quiet[0], quiet[1], contextlib.suppress(SystemExit):
        run_command_line()


def compare_and_save() -> None:
    """Run ``streamgauge compare --out``."""
    with tempfile.TemporaryDirectory() as folder:
        compare_on_command_line("--out", f"{folder}/run")


def list_passed_files(work: Callable[[], None]) -> list[str]:
    """Return the files of the package in which a function is called while a work runs."""
    work()  # imports all modules
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(PACKAGE):
            files.add(name[len(PACKAGE) + 1 :])

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(files)


def main(*, listed: bool = False) -> None:
    """Print the number of files of each path."""
    works = {
        "sg.compare(sg.evaluate(...))": compare_in_python,
        "streamgauge compare": compare_on_command_line,
        "streamgauge compare --out": compare_and_save,
    }
    for title, work in works.items():
        files = list_passed_files(work)
        print(f"{title:32}{len(files):4} files")
        if listed:
            print("\n".join(f"    {name}" for name in files))


if __name__ == "__main__":
    main(listed="--list" in sys.argv)
