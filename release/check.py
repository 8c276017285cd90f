"""Check of a wheel and an sdist as users will install them: ``python -m release.check dist [--whole]``.

Everything happens in temporary folders and each step is printed. The first step that fails ends the check with its
output. The wheel must install and run the quick start of the README in an empty environment, without a compiler or
cargo. The sdist must contain all files under version control, build, and pass its own tests: all of them with
``--whole``, otherwise all are collected and a sample is run.
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
PLATFORM = "manylinux_2_28"
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
    """The wheel or the sdist is not fit for release."""


def check_wheel(wheel: Path, version: str, folder: Path) -> None:
    """Check the name and the files of a wheel, then install and run it in an empty environment."""
    if f"-{version}-cp311-abi3-{PLATFORM}" not in wheel.name:
        msg = f"{wheel.name} is not the wheel of {version} for every Python from 3.11 on and {PLATFORM}"
        raise ReleaseError(msg)
    names = zipfile.ZipFile(wheel).namelist()
    foreign = [name for name in names if not name.startswith(("streamgauge/", "streamgauge-"))]
    missing = [name for name in NEEDED if name not in names]
    if foreign or missing:
        msg = f"{wheel.name} lacks {missing} and contains {foreign[:3]}, which are not part of the package"
        raise ReleaseError(msg)
    _report(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 1e6:.1f} MB")
    _run("create an empty environment", [sys.executable, "-m", "venv", str(folder / "empty")])
    binaries = folder / "empty" / "bin"
    environment = {"PATH": str(binaries), "HOME": str(folder), "LANG": "C.UTF-8", **_get_network_settings()}
    python = str(binaries / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    _run("install the wheel without a compiler", [*install, str(wheel)], folder, environment)
    (folder / "README.md").write_text((PROJECT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    _run("run the quick start of the README", [python, "-c", QUICK_START], folder, environment)
    command = ["compare", "--stream", "SEA", "--rows", "5000", "--learner", "NaiveBayes", "--learner", "NoChange"]
    _run("run the command line", [str(binaries / "streamgauge"), *command, "--out", "out"], folder, environment)
    _run("read its report", [python, "-c", "open('out/report.html').read()"], folder, environment)
    _run("install an extra", [*install, f"{wheel}[scikit-learn]"], folder, environment)
    _run("run all examples of the README with it", [python, "-c", WHOLE], folder, environment)


def check_sdist(sdist: Path, version: str, folder: Path, *, whole: bool) -> None:
    """Check the files of an sdist, then build and test it."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    root = folder / f"streamgauge-{version}"
    missing = [name for name in _list_tracked_files() if not (root / name).exists()]
    if missing:
        msg = f"{sdist.name} lacks {len(missing)} files, for example {missing[0]}"
        raise ReleaseError(msg)
    n_files = sum(path.is_file() for path in root.rglob("*"))
    _report(f"{sdist.name}: {n_files} files, {sdist.stat().st_size / 1e6:.1f} MB")
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "MAKEFLAGS")}
    if whole:
        _run("make test-all", ["make", "test-all"], root, environment)
        return
    _run("make setup", ["make", "setup"], root, environment)
    pytest = [str(root / ".venv" / "bin" / "pytest"), "--quiet"]
    _run("collect all tests", [*pytest, "--collect-only"], root, environment)
    _run(f"run a sample: {', '.join(SAMPLE)}", [*pytest, *(f"tests/{name}" for name in SAMPLE)], root, environment)


def _list_tracked_files() -> list[str]:
    """Return the files under version control; none in an unpacked sdist."""
    if not (PROJECT / ".git").exists():
        return []
    return subprocess.check_output(["git", "ls-files"], cwd=PROJECT, text=True).splitlines()


def _get_network_settings() -> dict[str, str]:
    """Return the environment variables by which pip finds packages."""
    return {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy") or "PIP_" in name}


def _run(
    step: str, command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> None:
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"failed: {step}\n$ {' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        raise ReleaseError(msg)
    _report(f"{step}: done ({time.perf_counter() - started:.0f} s)")


def _report(line: str) -> None:
    print(line, flush=True)


def _find_file(folder: Path, pattern: str) -> Path:
    paths = list(folder.glob(pattern))
    if len(paths) != 1:
        msg = f"expected one {pattern} in {folder}, found {len(paths)}: run make wheel sdist"
        raise ReleaseError(msg)
    return paths[0].resolve()


def main() -> None:
    """Check the wheel and the sdist of a folder."""
    parser = argparse.ArgumentParser(prog="python -m release.check", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with the wheel and the sdist")
    parser.add_argument("--whole", action="store_true", help="run all tests of the sdist")
    parser.add_argument("--only", choices=["wheel", "sdist"], help="check one of the two")
    arguments = parser.parse_args()
    version = tomllib.loads((PROJECT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    try:
        with TemporaryDirectory(prefix="streamgauge-wheel-") as folder:
            if arguments.only != "sdist":
                check_wheel(_find_file(arguments.folder, f"*-{version}-*.whl"), version, Path(folder))
        with TemporaryDirectory(prefix="streamgauge-sdist-") as folder:
            if arguments.only != "wheel":
                sdist = _find_file(arguments.folder, f"*-{version}.tar.gz")
                check_sdist(sdist, version, Path(folder), whole=arguments.whole)
    except ReleaseError as error:
        sys.exit(str(error))
    _report(f"the {arguments.only or 'wheel and the sdist'} of streamgauge {version} passed")


if __name__ == "__main__":
    main()
