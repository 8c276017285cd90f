"""`streamgauge doctor`: what is installed, and what each missing extra would add."""

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

import click

from streamgauge.cli.output import WORK_FAILED, console, output_options, print_json

__all__ = ["EXTRAS", "command"]

EXTRAS = {
    "kafka": "live streams from Kafka",
    "moa": "learners of MOA and WEKA; these also need Java and moa.jar (STREAMGAUGE_MOA_JAR)",
    "pandas": "results as DataFrames of pandas",
    "plots": "figures as PNG, SVG and PDF",
    "polars": "results as DataFrames of polars",
    "ray": "runs on a Ray cluster",
    "redis": "live streams from Redis",
    "river": "learners of River",
    "scikit-learn": "learners of scikit-learn",
    "serve": "the dashboard",
    "stream-learn": "learners of stream-learn",
    "torch": "models of PyTorch",
    "vowpal-wabbit": "learners of Vowpal Wabbit",
}
"""Per extra what it adds."""

VARIABLES = ("STREAMGAUGE_DATA", "STREAMGAUGE_CACHE", "STREAMGAUGE_MOA_JAR", "STREAMGAUGE_DEBUG", "NO_COLOR")


@click.command("doctor")
@output_options
def command(*, as_json: bool) -> int:
    """Say what is installed, what each missing extra would add, and whether all is well.

    Ends with status 1 where something is wrong with what streamgauge itself needs.

    \b
    Examples:
      streamgauge doctor
      streamgauge doctor --json
    """
    found = _findings()
    if as_json:
        print_json(found)
    else:
        _show(found)
    return WORK_FAILED if found["problems"] else 0


def _findings() -> dict[str, Any]:
    needed, extras = _requirements()
    packages = {name: _version(name) for name in needed}
    problems = [_problem(name, packages[name], wanted) for name, wanted in needed.items()]
    told = {
        extra: {
            "adds": EXTRAS.get(extra, "what needs " + ", ".join(names)),
            "packages": {name: _version(name) for name in names},
            "installed": not any(_problem(name, _version(name), wanted) for name, wanted in names.items()),
        }
        for extra, names in sorted(extras.items())
    }
    if "moa" in told:
        told["moa"]["lacks"] = _lacking_for_moa() if told["moa"]["installed"] else ""
    native, problem = _native()
    return {
        "streamgauge": version("streamgauge"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "instruction_set": native,
        "packages": packages,
        "extras": told,
        "environment": {name: os.environ.get(name) for name in VARIABLES},
        "datasets": _datasets(),
        "problems": [*filter(None, problems), *problem],
    }


def _requirements() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Give the packages that streamgauge needs, with their versions, and those of each extra, as it was installed."""
    needed: dict[str, str] = {}
    extras: dict[str, dict[str, str]] = {}
    for text in requires("streamgauge") or ():
        package = re.match(r"([\w.-]+)\s*([^;]*)", text)
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", text)
        if package is not None:
            (needed if extra is None else extras.setdefault(extra[1], {}))[package[1]] = package[2].strip()
    return needed, extras


def _problem(package: str, found: str | None, wanted: str) -> str:
    """Say what is wrong with a package, and what mends it; nothing where all is well.

    Examples
    --------
    >>> _problem("scipy", "1.16.1", ">=1.14,<2")
    ''
    >>> _problem("scipy", "1.9.3", ">=1.14,<2")
    "scipy 1.9.3 is installed, and >=1.14,<2 is needed: pip install 'scipy>=1.14,<2'"
    """
    if found is None:
        return f"{package} is missing: pip install {package}"
    bounds = re.findall(r"(>=|<)\s*([\d.]+)", wanted)
    if all((_numbers(found) >= _numbers(bound)) == (sign == ">=") for sign, bound in bounds):
        return ""
    return f"{package} {found} is installed, and {wanted} is needed: pip install '{package}{wanted}'"


def _numbers(number: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", re.split(r"[^\d.]", number)[0])))


def _lacking_for_moa() -> str:
    """Say what MOA lacks beside packages of Python: its jar, or Java."""
    from streamgauge._optional import library  # noqa: PLC0415
    from streamgauge.errors import StreamgaugeError  # noqa: PLC0415
    from streamgauge.learners.adapters.moa import class_path  # noqa: PLC0415

    try:
        jpype = library("jpype", "moa")
        class_path()
    except StreamgaugeError as error:
        return str(error)
    try:
        jpype.getDefaultJVMPath()
    except jpype.JVMNotFoundException:
        return "Java 11 or newer was not found"
    return ""


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _native() -> tuple[str | None, list[str]]:
    """Try the kernels: which instructions they use, and what is wrong with them."""
    try:
        from streamgauge import SEA, NaiveBayes, evaluate  # noqa: PLC0415
        from streamgauge._native import instruction_set  # noqa: PLC0415

        evaluate(SEA(n_rows=100), NaiveBayes())
    except Exception as error:  # whatever it is, this command is there to tell it
        return None, [f"the kernels do not work: {type(error).__name__}: {error}; install streamgauge anew"]
    return instruction_set(), []


def _datasets() -> dict[str, str | None]:
    """Say where each real stream is found; None where it would have to be fetched."""
    from streamgauge.errors import StreamgaugeError  # noqa: PLC0415
    from streamgauge.streams import DATASETS, load  # noqa: PLC0415

    found: dict[str, str | None] = {}
    for name in DATASETS:
        try:
            found[name] = str(load(name, offline=True).path)
        except StreamgaugeError:
            found[name] = None
    return found


def _show(found: dict[str, Any]) -> None:
    from rich.table import Table  # noqa: PLC0415

    click.echo(f"streamgauge {found['streamgauge']}, Python {found['python']}, {found['platform']}")
    click.echo(f"{found['cores']} cores, kernels for {found['instruction_set']}")
    click.echo(", ".join(f"{name} {number or 'MISSING'}" for name, number in found["packages"].items()) + "\n")
    table = Table("extra", "installed", "what it adds", box=None, pad_edge=False, header_style="bold")
    for extra, facts in found["extras"].items():
        table.add_row(extra, "yes" if facts["installed"] else "no", facts["adds"])
    console().print(table)
    for extra, facts in found["extras"].items():
        if not facts["installed"]:
            click.echo(f"pip install 'streamgauge[{extra}]' adds {facts['adds']}")
        elif facts.get("lacks"):
            click.echo(f"{extra} lacks something: {facts['lacks']}")
    here = [name for name, path in found["datasets"].items() if path is not None]
    click.echo(f"\nreal streams here: {', '.join(here) or 'none'}; 'streamgauge list datasets' names all")
    for name, value in found["environment"].items():
        if value is not None:
            click.echo(f"{name}={value}")
    for problem in found["problems"]:
        click.echo(f"problem: {problem}")
    click.echo("all is well" if not found["problems"] else "not all is well")
