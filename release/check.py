"""Checks a wheel and an sdist as their users will meet them: ``python -m release.check dist [--whole]``.

Everything happens in temporary folders, each step is printed, and the first that fails ends it with what it said. The
wheel must install and run the quick start of the README in an empty environment, with nothing on the path but that
environment: no compiler, no cargo. The sdist must hold all that is under version control, build, and pass its own
tests: all of them with ``--whole``, else all are collected and a sample is run.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["check_sdist", "check_wheel"]

PROJECT = Path(__file__).resolve().parents[1]
NEEDED = ("streamgauge/py.typed", "streamgauge/_native/_compiled.pyi", "streamgauge/reports/assets/uPlot.LICENSE")
OLDEST = "manylinux_2_28"
SAMPLE = (
    "oracle/test_evaluators.py",
    "system/test_examples.py",
    "unit/cli/test_commands.py",
    "unit/measures/test_measures.py",
    "unit/schemes/test_schemes.py",
)
EXAMPLES = """
import doctest, pathlib
text = pathlib.Path("README.md").read_text(encoding="utf-8")
part = text[text.index({start!r}) :]
part = part[: part.index({stop!r})] if {stop!r} else part
test = doctest.DocTestParser().get_doctest(part, {{}}, "README.md", None, None)
failed, tried = doctest.DocTestRunner().run(test)
raise SystemExit(f"{{failed}} of {{tried}} examples failed" if failed or tried < {at_least} else 0)
"""
QUICK_START = EXAMPLES.format(start="## A first comparison", stop="## Your own model", at_least=5)
WHOLE = EXAMPLES.format(start="# streamgauge", stop="", at_least=7)


class ReleaseError(Exception):
    """What is to be released is not fit for it."""


def check_wheel(wheel: Path, version: str, folder: Path) -> None:
    """Check what a wheel holds and is for, then install and use it where there is nothing else."""
    if f"-{version}-cp311-abi3-{OLDEST}" not in wheel.name:
        msg = f"{wheel.name} is not the wheel of {version} for every Python from 3.11 on and {OLDEST}"
        raise ReleaseError(msg)
    names = zipfile.ZipFile(wheel).namelist()
    strangers = [name for name in names if not name.startswith(("streamgauge/", "streamgauge-"))]
    missing = [name for name in NEEDED if name not in names]
    if strangers or missing:
        msg = f"{wheel.name} lacks {missing} and holds {strangers[:3]}, which are not the package's"
        raise ReleaseError(msg)
    _say(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 1e6:.1f} MB")
    _run("an empty environment", [sys.executable, "-m", "venv", str(folder / "empty")])
    binaries = folder / "empty" / "bin"
    alone = {"PATH": str(binaries), "HOME": str(folder), "LANG": "C.UTF-8", **_network()}
    python = str(binaries / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    _run("the wheel installs without a compiler", [*install, str(wheel)], folder, alone)
    (folder / "README.md").write_text((PROJECT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    _run("the quick start of the README runs", [python, "-c", QUICK_START], folder, alone)
    command = ["compare", "--stream", "SEA", "--rows", "5000", "--learner", "NaiveBayes", "--learner", "NoChange"]
    _run("so does the command line", [str(binaries / "streamgauge"), *command, "--out", "out"], folder, alone)
    _run("and its report is there", [python, "-c", "open('out/report.html').read()"], folder, alone)
    _run("an extra installs", [*install, f"{wheel}[scikit-learn]"], folder, alone)
    _run("and with it all examples of the README run", [python, "-c", WHOLE], folder, alone)


def check_sdist(sdist: Path, version: str, folder: Path, *, whole: bool) -> None:
    """Check what an sdist holds, then build and test it as someone who has nothing else."""
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    root = folder / f"streamgauge-{version}"
    missing = [name for name in _under_version_control() if not (root / name).exists()]
    if missing:
        msg = f"{sdist.name} lacks {len(missing)} files, {missing[0]} among them"
        raise ReleaseError(msg)
    _say(f"{sdist.name}: {sum(path.is_file() for path in root.rglob('*'))} files, {sdist.stat().st_size / 1e6:.1f} MB")
    with_us = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "MAKEFLAGS")}
    if whole:
        _run("make test-all passes in it", ["make", "test-all"], root, with_us)
        return
    _run("make setup builds it", ["make", "setup"], root, with_us)
    pytest = [str(root / ".venv" / "bin" / "pytest"), "--quiet"]
    _run("all tests are collected", [*pytest, "--collect-only"], root, with_us)
    _run(f"a sample passes: {', '.join(SAMPLE)}", [*pytest, *(f"tests/{name}" for name in SAMPLE)], root, with_us)


def _under_version_control() -> list[str]:
    """Name the files of the project; none where it is not under version control, as in an unpacked sdist."""
    if not (PROJECT / ".git").exists():
        return []
    return subprocess.check_output(["git", "ls-files"], cwd=PROJECT, text=True).splitlines()


def _network() -> dict[str, str]:
    """Give what tells pip where to find packages here."""
    return {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy") or "PIP_" in name}


def _run(
    what: str, command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> None:
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"not so: {what}\n$ {' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        raise ReleaseError(msg)
    _say(f"{what} ({time.perf_counter() - started:.0f} s)")


def _say(what: str) -> None:
    print(what, flush=True)


def _the_one(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        msg = f"there must be one {pattern} in {folder}, and there are {len(found)}: run make wheel sdist"
        raise ReleaseError(msg)
    return found[0].resolve()


def main() -> None:
    """Check what a folder holds."""
    parser = argparse.ArgumentParser(prog="python -m release.check", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the wheel and the sdist are")
    parser.add_argument("--whole", action="store_true", help="run all tests of the sdist")
    parser.add_argument("--only", choices=["wheel", "sdist"], help="check one of the two")
    asked = parser.parse_args()
    version = tomllib.loads((PROJECT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    try:
        with TemporaryDirectory(prefix="streamgauge-wheel-") as folder:
            if asked.only != "sdist":
                check_wheel(_the_one(asked.folder, f"*-{version}-*.whl"), version, Path(folder))
        with TemporaryDirectory(prefix="streamgauge-sdist-") as folder:
            if asked.only != "wheel":
                sdist = _the_one(asked.folder, f"*-{version}.tar.gz")
                check_sdist(sdist, version, Path(folder), whole=asked.whole)
    except ReleaseError as error:
        sys.exit(str(error))
    _say(f"the {asked.only or 'wheel and the sdist'} of streamgauge {version} passed")


if __name__ == "__main__":
    main()
