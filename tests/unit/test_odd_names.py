"""Names that mean something to terminals, pages and typesetters are text on every surface."""

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import streamgauge as sg
from tests.support.commands import invoke

NAMES = {
    "escape": "\x1b[31mred\x1b[0m",
    "bell and C1": "\x07\x9b31m",
    "right to left": "\u202eevil",
    "script": "</script><script>alert(1)</script>",
    "attribute": '" onmouseover="alert(1)',
    "markup of rich": "[bold]x[/bold]",
    "Markdown": "`|x|` [a](javascript:alert(1))",
    "LaTeX": "$x_1^2$ & \\input{/etc/passwd}%",
    "line end": "a\nb",
    "zero": "a\0b",
}


class Page(HTMLParser):
    """The scripts and the names of attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts, self.attributes = "", set[str]()
        self._is_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_script = tag == "script" and ("type", "application/json") not in attrs
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.scripts += data if self._is_script else ""

    def handle_endtag(self, tag: str) -> None:
        self._is_script = self._is_script and tag != "script"


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_odd_names_are_text_on_every_surface(name: str, tmp_path: Path) -> None:
    x = np.random.default_rng(1).random((1_000, 2))
    stream = sg.ArrayStream(x, np.where(x[:, 0] > 0.5, name, "no"), name=name)
    learners = {name: sg.NaiveBayes(), "other": sg.MajorityClass()}
    results = sg.evaluate(stream, learners, every=200, journal=tmp_path, measures=["accuracy", "kappa"])
    results.save(tmp_path)
    assert sg.load(tmp_path).learners == (name, "other")
    shown = {
        "text": str(results),
        "notebook": results._repr_html_(),
        "compare": invoke("compare", str(tmp_path))[0],
    }
    for suffix in ("html", "md", "tex"):
        results.report(tmp_path / f"report.{suffix}")
        shown[suffix] = (tmp_path / f"report.{suffix}").read_text()
    for surface, text in shown.items():
        odd = {character for character in text if not character.isprintable() and character not in "\n\t"}
        assert odd <= ({"\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"}), surface
    for surface in ("notebook", "html"):
        page = Page()
        page.feed(shown[surface])
        assert "alert(1)" not in page.scripts
        assert not {name for name in page.attributes if name.startswith("on")}
    assert "<script>alert" not in shown["md"]
    typeset = [line for line in shown["tex"].splitlines() if not line.startswith("%")]
    assert not any("\\input{" in line for line in typeset)
    assert "[bold]" in shown["compare"] or "[bold]" not in name
