"""What the site shows that does not stand in this folder: the architecture, the changes, measurements."""

import re
from pathlib import Path
from typing import Any

__all__ = ["on_files", "on_page_content", "on_page_markdown"]

ROOT = Path(__file__).parents[1]
BORROWED = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/results/dashboard.md": "measured/dashboard.md",
    "benchmarks/results/faults.md": "measured/faults.md",
    "benchmarks/results/endless.md": "measured/endless.md",
}
"""Pages of the repository, and where they stand on the site."""

LINK = re.compile(r"\]\(\.\./([\w./-]+)\)")
TYPED = re.compile(r"(<b><code>[^<]*</code></b>)\s*\((?:(?!</li>|\u2013).)*\)\s*\u2013", re.DOTALL)
DIRECTIVE = re.compile(r" *# doctest: \+\w+$", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:  # noqa: ANN401 - of mkdocs, which tests do without
    """Add the borrowed pages to those of the folder."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - only where a site is built

    for path, place in BORROWED.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Turn links to borrowed pages into links within the site, and leave out what only doctest wants to know.

    Examples
    --------
    >>> on_page_markdown("see [how](../benchmarks/results/faults.md) and [drift](drift.md)")
    'see [how](measured/faults.md) and [drift](drift.md)'
    """
    inside = LINK.sub(lambda found: f"]({BORROWED.get(found[1], '../' + found[1])})", markdown)
    return DIRECTIVE.sub("", inside)


def on_page_content(html: str, **_: object) -> str:
    """Leave types and defaults to the signatures: of parameters that are described together only the first's is shown.

    Examples
    --------
    >>> on_page_content(f"<li><b><code>k</code></b> (<code>int</code>, default: 10) {chr(0x2013)} How many.</li>")
    '<li><b><code>k</code></b>: How many.</li>'
    """
    return TYPED.sub(r"\1:", html)
