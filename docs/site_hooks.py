"""Hooks of mkdocs: add the notebooks and pages from outside this folder, and tidy Markdown and HTML."""

import json
import re
from pathlib import Path
from typing import Any

__all__ = ["on_files", "on_page_content", "on_page_markdown", "on_post_build", "to_markdown"]

ROOT = Path(__file__).parents[1]
EXTERNAL_PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/results/dashboard.md": "measured/dashboard.md",
    "benchmarks/results/faults.md": "measured/faults.md",
    "benchmarks/results/endless.md": "measured/endless.md",
}
"""Pages of the repository outside docs, and their paths on the site."""

NOTEBOOK = re.compile(r"\]\(([\w./-]+)\.ipynb\)")
LINK = re.compile(r"\]\(\.\./([\w./-]+)\)")
ROOT_LINK = re.compile(r"\]\(docs/([\w./-]+)\)")
STYLED = re.compile(r'<style.*?</style>| border="1" class="dataframe"', re.DOTALL)
"""How pandas styles a table; without it, it looks like the other tables of the site."""
TYPED = re.compile(r"(<b><code>[^<]*</code></b>)\s*\((?:(?!</li>|\u2013).)*\)\s*\u2013", re.DOTALL)
DIRECTIVE = re.compile(r" *# doctest: \+\w+$", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:  # noqa: ANN401 - types of mkdocs, which tests need not install
    """Add the external pages to those of the folder, and a page for each notebook, which stays beside it."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - installed only to build the site

    for path, target in EXTERNAL_PAGES.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / path)))
    for notebook in sorted((ROOT / "docs").rglob("*.ipynb")):
        path = notebook.relative_to(ROOT / "docs").with_suffix(".md").as_posix()
        content = to_markdown(json.loads(notebook.read_text(encoding="utf-8")), notebook.name)
        files.append(File.generated(config, path, content=content))
    return files


def to_markdown(notebook: dict[str, Any], name: str) -> str:
    """Return a notebook as a page: its code, what it printed and displayed, and a link to the file.

    Examples
    --------
    >>> cell = {"cell_type": "code", "source": ["1 + 1"], "outputs": [{"data": {"text/plain": ["2"]}}]}
    >>> print(to_markdown({"cells": [{"cell_type": "markdown", "source": ["# Sum"]}, cell]}, "sum.ipynb"))
    # Sum
    <BLANKLINE>
    <p><a href="sum.ipynb" download>Download this notebook</a></p>
    <BLANKLINE>
    ```python
    1 + 1
    ```
    <BLANKLINE>
    ```{.text .output}
    2
    ```
    """
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
        else:
            parts += [f"```python\n{text}\n```", *map(_render_output, cell["outputs"])]
    title, _, rest = "\n\n".join(parts).partition("\n")
    return f'{title}\n\n<p><a href="{name}" download>Download this notebook</a></p>\n{rest}'


def _render_output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        return f'<p><img alt="Chart drawn by the code above" src="data:image/png;base64,{data["image/png"]}"></p>'
    if "text/html" in data:
        lines = STYLED.sub("", "".join(data["text/html"])).splitlines()
        return f"<div>{''.join(map(str.strip, lines))}</div>"
    text = "".join(output.get("text") or data["text/plain"])
    return f"```{{.text .output}}\n{text.rstrip()}\n```"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Turn links to notebooks and external pages into links within the site, and remove doctest directives.

    Examples
    --------
    >>> on_page_markdown("see [how](../benchmarks/results/faults.md) and [drift](drift.md)")
    'see [how](measured/faults.md) and [drift](drift.md)'
    """
    linked = LINK.sub(lambda match: f"]({EXTERNAL_PAGES.get(match[1], '../' + match[1])})", markdown)
    linked = ROOT_LINK.sub(r"](\1)", linked)
    return DIRECTIVE.sub("", NOTEBOOK.sub(r"](\1.md)", linked))


def on_page_content(html: str, **_: object) -> str:
    """Remove types and defaults from lists of parameters, because the signatures show them.

    Examples
    --------
    >>> on_page_content(f"<li><b><code>k</code></b> (<code>int</code>, default: 10) {chr(0x2013)} How many.</li>")
    '<li><b><code>k</code></b>: How many.</li>'
    """
    return TYPED.sub(r"\1:", html)


def on_post_build(config: Any, **_: object) -> None:  # noqa: ANN401 - a type of mkdocs
    """Make the index for language models link to the pages of the site."""
    path = Path(config["site_dir"]) / "llms.txt"
    linked = on_page_markdown(path.read_text(encoding="utf-8"))
    path.write_text(re.sub(r"\.md\)", ".html)", linked.replace("/README.md)", "/index.md)")), encoding="utf-8")
