"""Hooks of mkdocs: add pages from outside this folder, and tidy Markdown and HTML."""

import re
from pathlib import Path
from typing import Any

__all__ = ["on_files", "on_page_content", "on_page_markdown"]

ROOT = Path(__file__).parents[1]
EXTERNAL_PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/results/dashboard.md": "measured/dashboard.md",
    "benchmarks/results/faults.md": "measured/faults.md",
    "benchmarks/results/endless.md": "measured/endless.md",
}
"""Pages of the repository outside docs, and their paths on the site."""

LINK = re.compile(r"\]\(\.\./([\w./-]+)\)")
TYPED = re.compile(r"(<b><code>[^<]*</code></b>)\s*\((?:(?!</li>|\u2013).)*\)\s*\u2013", re.DOTALL)
DIRECTIVE = re.compile(r" *# doctest: \+\w+$", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:  # noqa: ANN401 - types of mkdocs, which tests need not install
    """Add the external pages to those of the folder."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - installed only to build the site

    for path, target in EXTERNAL_PAGES.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Turn links to external pages into links within the site, and remove doctest directives.

    Examples
    --------
    >>> on_page_markdown("see [how](../benchmarks/results/faults.md) and [drift](drift.md)")
    'see [how](measured/faults.md) and [drift](drift.md)'
    """
    linked = LINK.sub(lambda match: f"]({EXTERNAL_PAGES.get(match[1], '../' + match[1])})", markdown)
    return DIRECTIVE.sub("", linked)


def on_page_content(html: str, **_: object) -> str:
    """Remove types and defaults from lists of parameters, because the signatures show them.

    Examples
    --------
    >>> on_page_content(f"<li><b><code>k</code></b> (<code>int</code>, default: 10) {chr(0x2013)} How many.</li>")
    '<li><b><code>k</code></b>: How many.</li>'
    """
    return TYPED.sub(r"\1:", html)
