"""Output of a reproduction: a page, its picture, its data and a manifest in one folder."""

import csv
import io
import json
import platform
from collections.abc import Iterable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from papers.findings import Claim, Entry, Finding, Reproduction, Scale, Table
from streamgauge import _native
from streamgauge._format.text import describe_platform
from streamgauge.streams.output_files import replace_atomically

__all__ = ["build_page", "write", "write_index"]

REPEAT = "$ streamgauge reproduce {name} --scale {scale}"


def write(
    reproduction: Reproduction, scale: Scale, finding: Finding, folder: Path, facts: dict[str, Any]
) -> list[Path]:
    """Write page, picture, data and manifest of a finding into a folder; return the files.

    The picture needs Matplotlib. Without it there is no picture, and the manifest says so.
    """
    files = []
    picture = folder / f"{reproduction.name}.png" if finding.draw and find_spec("matplotlib") else None
    if picture is not None:
        _draw(finding, picture)
        files.append(picture)
    for suffix, text in (
        ("md", build_page(reproduction, scale, finding, picture)),
        ("csv", _build_csv(finding.data or finding.tables[0])),
        ("json", json.dumps(_build_manifest(reproduction, scale, finding, picture, facts), indent=2) + "\n"),
    ):
        path = folder / f"{reproduction.name}.{suffix}"
        with replace_atomically(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
        files.append(path)
    return files


def build_page(reproduction: Reproduction, scale: Scale, finding: Finding, picture: Path | None) -> str:
    """Return the page of a finding in Markdown.

    Examples
    --------
    >>> from papers.findings import Experiment
    >>> sums = Reproduction("sums", "A. Author, 1900", "Sums", Experiment("sums", lambda scale: []), lambda done: None)
    >>> print(build_page(sums, "quick", Finding("1 run", (Table("All", ("a",), ((1,),)),)), None).splitlines()[0])
    # Sums
    """
    parts = [f"# {reproduction.title}", f"{reproduction.source}. Ours, at {scale} scale: {finding.basis}."]
    if picture is not None:
        parts.append(f"![{reproduction.title}]({picture.name})")
    if finding.claims:
        parts.append("\n".join(f"- {claim.describe(scale)}" for claim in finding.claims))
    for table in finding.tables:
        parts += [f"## {table.title}", table.markdown]
    if finding.notes:
        parts += ["## Where and why it differs", "\n".join(f"- {note}" for note in finding.notes)]
    parts.append(f"```\n{REPEAT.format(name=reproduction.name, scale=scale)}\n```")
    return "\n\n".join(parts) + "\n"


def write_index(folder: Path, names: Iterable[str]) -> Path:
    """Write the index of a folder: its pages, their basis, how many of their claims were seen, and which were not.

    Parameters
    ----------
    folder
        The folder with the pages.
    names
        The names of all reproductions, in order; those missing in the folder are left out.
    """
    rows, unseen, scales = [], [], set()
    for name in names:
        path = folder / f"{name}.json"
        if path.is_file():
            facts = json.loads(path.read_text(encoding="utf-8"))
            claims = [Claim(claim["text"], claim["holds"]) for claim in facts["claims"]]
            n_seen = sum(claim.holds for claim in claims)
            rows.append((f"[{name}]({name}.md)", facts["title"], f"{n_seen} of {len(claims)}", facts["basis"]))
            unseen += [
                f"- [{name}]({name}.md): {claim.describe(facts['scale'])}" for claim in claims if not claim.holds
            ]
            scales.add(facts["scale"])
    scale = " and ".join(sorted(scales))
    table = Table("all", ("name", "title", f"claims seen at {scale} scale", "basis"), tuple(rows))
    parts = [f"# Reproductions at {scale} scale", table.markdown, *(["\n".join(unseen)] if unseen else [])]
    index = folder / "README.md"
    with replace_atomically(index) as temporary:
        temporary.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return index


def _draw(finding: Finding, path: Path) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415  (optional; Figure opens no window)

    figure = Figure(figsize=finding.size, layout="constrained")
    if finding.draw is not None:
        finding.draw(figure)
    with replace_atomically(path) as temporary:
        figure.savefig(temporary, dpi=90, format="png", metadata={"Software": None})


def _build_csv(table: Table) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([_round(entry) for entry in row] for row in table.rows)
    return file.getvalue()


def _round(entry: Entry) -> Entry:
    """Round to ten digits, so that files do not differ between machines."""
    return float(f"{entry:.10g}") if isinstance(entry, float) else entry


def _build_manifest(
    reproduction: Reproduction, scale: Scale, finding: Finding, picture: Path | None, facts: dict[str, Any]
) -> dict[str, Any]:
    packages = ("streamgauge", "numpy", "scipy")
    return {
        "name": reproduction.name,
        "title": reproduction.title,
        "source": reproduction.source,
        "scale": scale,
        "basis": finding.basis,
        **facts,
        "claims": [{"text": claim.text, "holds": claim.holds} for claim in finding.claims],
        "notes": list(finding.notes),
        "picture": None if picture is None else picture.name,
        "versions": {"python": platform.python_version(), **{package: version(package) for package in packages}},
        "machine": {"platform": describe_platform(), "instruction_set": _native.instruction_set()},
    }
