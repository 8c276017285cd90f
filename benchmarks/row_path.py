"""Count the Python files of the package that a row of ``streamgauge compare`` passes.

Run with ``python -m benchmarks row_path``; ``python -m benchmarks.row_path --list`` names the files.
"""

import contextlib
import io
import sys
import threading
from pathlib import Path
from types import FrameType

import streamgauge
from streamgauge.cli.main import main as streamgauge_command

PACKAGE = str(Path(streamgauge.__file__).parent)


def run_command(arguments: list[str]) -> None:
    """Run the command line with these arguments."""
    sys.argv[1:] = arguments
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        streamgauge_command()


def passed_files(arguments: list[str]) -> list[str]:
    """Return the files of the package in which a function is called while a command runs; imports do not count."""
    run_command(arguments)  # imports all modules
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(PACKAGE):
            files.add(name[len(PACKAGE) + 1 :])

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run_command(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(files)


def main(*, listed: bool = False) -> None:
    """Print how many files there are."""
    options = ["--stream", "SEA", "--rows", "5000", "--learner", "HoeffdingTree", "--learner", "NaiveBayes"]
    found = passed_files(["compare", *options, "--scheme", "Bootstrap(10)"])
    if listed:
        print("\n".join(found))
    print(f"a row of `streamgauge compare` passes {len(found)} of our Python files")


if __name__ == "__main__":
    main(listed="--list" in sys.argv)
