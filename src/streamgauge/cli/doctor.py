"""`streamgauge doctor`: check the installation and list the optional extras."""

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

import click

from streamgauge._format.text import describe_platform
from streamgauge.cli.output import RUN_FAILED, add_output_options, make_console, print_json

__all__ = ["EXTRAS", "command"]

EXTRAS = {
    "kafka": "live streams from Kafka",
    "lightgbm": "LightGBM models",
    "moa": "learners of MOA and WEKA; these also need Java and moa.jar (STREAMGAUGE_MOA_JAR)",
    "pandas": "results as pandas DataFrames",
    "plots": "figures as PNG, SVG and PDF",
    "polars": "results as polars DataFrames",
    "ray": "runs on a Ray cluster",
    "redis": "live streams from Redis",
    "river": "learners of River",
    "scikit-learn": "learners of scikit-learn",
    "serve": "the dashboard",
    "stream-learn": "learners of stream-learn",
    "torch": "PyTorch models",
    "vowpal-wabbit": "learners of Vowpal Wabbit",
}
"""What each extra adds."""

VARIABLES = ("STREAMGAUGE_DATA", "STREAMGAUGE_CACHE", "STREAMGAUGE_MOA_JAR", "STREAMGAUGE_DEBUG", "NO_COLOR")


@click.command("doctor")
@add_output_options
def command(*, as_json: bool) -> int:
    """Check the installation, and list which optional extras are installed and what each adds.

    The exit status is 1 if a package that streamgauge requires is missing or does not work.

    \b
    Examples:
      streamgauge doctor
      streamgauge doctor --json
    """
    findings = _examine()
    if as_json:
        print_json(findings)
    else:
        _show(findings)
    return RUN_FAILED if findings["problems"] else 0


def _examine() -> dict[str, Any]:
    required, extras = _read_requirements()
    packages = {name: _find_version(name) for name in required}
    problems = [_find_problem(name, packages[name], wanted) for name, wanted in required.items()]
    extra_facts = {
        extra: {
            "adds": EXTRAS.get(extra, "what needs " + ", ".join(names)),
            "packages": {name: _find_version(name) for name in names},
            "installed": not any(_find_problem(name, _find_version(name), wanted) for name, wanted in names.items()),
        }
        for extra, names in sorted(extras.items())
    }
    if "moa" in extra_facts:
        extra_facts["moa"]["lacks"] = _find_moa_problem() if extra_facts["moa"]["installed"] else ""
    instruction_set, kernel_problems = _try_kernels()
    return {
        "streamgauge": version("streamgauge"),
        "python": platform.python_version(),
        "platform": describe_platform(),
        "cores": os.cpu_count(),
        "instruction_set": instruction_set,
        "packages": packages,
        "extras": extra_facts,
        "environment": {name: os.environ.get(name) for name in VARIABLES},
        "datasets": _locate_datasets(),
        "problems": [*filter(None, problems), *kernel_problems],
    }


def _read_requirements() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the version bounds of the required packages, and those of the packages of each extra."""
    required: dict[str, str] = {}
    extras: dict[str, dict[str, str]] = {}
    for text in requires("streamgauge") or ():
        package = re.match(r"([\w.-]+)\s*([^;]*)", text)
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", text)
        if package is not None:
            (required if extra is None else extras.setdefault(extra[1], {}))[package[1]] = package[2].strip()
    return required, extras


def _find_problem(package: str, installed: str | None, wanted: str) -> str:
    """Return what is wrong with a package and how to fix it; empty if nothing is.

    Examples
    --------
    >>> _find_problem("scipy", "1.16.1", ">=1.14,<2")
    ''
    >>> _find_problem("scipy", "1.9.3", ">=1.14,<2")
    "scipy 1.9.3 is installed, but >=1.14,<2 is required: pip install 'scipy>=1.14,<2'"
    """
    if installed is None:
        return f"{package} is missing: pip install {package}"
    bounds = re.findall(r"(>=|<)\s*([\d.]+)", wanted)
    if all((_parse_version(installed) >= _parse_version(bound)) == (sign == ">=") for sign, bound in bounds):
        return ""
    return f"{package} {installed} is installed, but {wanted} is required: pip install '{package}{wanted}'"


def _parse_version(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", re.split(r"[^\d.]", text)[0])))


def _find_moa_problem() -> str:
    """Return what MOA still needs besides Python packages: its jar, or Java."""
    from streamgauge._optional import library  # noqa: PLC0415
    from streamgauge.errors import StreamgaugeError  # noqa: PLC0415
    from streamgauge.learners.adapters.moa import find_class_path  # noqa: PLC0415

    try:
        jpype = library("jpype", "moa")
        find_class_path()
    except StreamgaugeError as error:
        return str(error)
    try:
        jpype.getDefaultJVMPath()
    except jpype.JVMNotFoundException:
        return "Java 11 or newer was not found"
    return ""


def _find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _try_kernels() -> tuple[str | None, list[str]]:
    """Run the native kernels; return the instruction set they use, and what is wrong with them."""
    try:
        from streamgauge import SEA, NaiveBayes, evaluate  # noqa: PLC0415
        from streamgauge._native import instruction_set  # noqa: PLC0415

        evaluate(SEA(n_rows=100), NaiveBayes())
    except Exception as error:  # any failure at all is a finding of this command
        return None, [f"the native kernels do not work: {type(error).__name__}: {error}; reinstall streamgauge"]
    return instruction_set(), []


def _locate_datasets() -> dict[str, str | None]:
    """Return the path of each data set; None if it would have to be downloaded."""
    from streamgauge.errors import StreamgaugeError  # noqa: PLC0415
    from streamgauge.streams import DATASETS, load  # noqa: PLC0415

    paths: dict[str, str | None] = {}
    for name in DATASETS:
        try:
            paths[name] = str(load(name, offline=True).path)
        except StreamgaugeError:
            paths[name] = None
    return paths


def _show(findings: dict[str, Any]) -> None:
    from rich.table import Table  # noqa: PLC0415

    click.echo(f"streamgauge {findings['streamgauge']}, Python {findings['python']}, {findings['platform']}")
    click.echo(f"{findings['cores']} cores, kernels for {findings['instruction_set']}")
    click.echo(", ".join(f"{name} {number or 'MISSING'}" for name, number in findings["packages"].items()) + "\n")
    table = Table("extra", "installed", "what it adds", box=None, pad_edge=False, header_style="bold")
    for extra, facts in findings["extras"].items():
        table.add_row(extra, "yes" if facts["installed"] else "no", facts["adds"])
    make_console().print(table)
    for extra, facts in findings["extras"].items():
        if not facts["installed"]:
            click.echo(f"pip install 'streamgauge[{extra}]' adds {facts['adds']}")
        elif facts.get("lacks"):
            click.echo(f"{extra} is incomplete: {facts['lacks']}")
    local = [name for name, path in findings["datasets"].items() if path is not None]
    click.echo(f"\nlocal data sets: {', '.join(local) or 'none'}; 'streamgauge list datasets' lists all")
    for name, value in findings["environment"].items():
        if value is not None:
            click.echo(f"{name}={value}")
    for problem in findings["problems"]:
        click.echo(f"problem: {problem}")
    click.echo("problems were found" if findings["problems"] else "no problems found")
