"""Every command of the README, the quick start and the how-to pages runs; every page is reached; the site builds."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

import streamgauge as sg
from streamgauge import streams
from streamgauge.cli.main import cli
from streamgauge.cli.serve import command as serve

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SHOWN = [ROOT / "README.md", DOCS / "quick_start.md", *sorted((DOCS / "how_to").glob("*.md"))]
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([\w./-]+\.(?:md|png|html))?(?:#([\w-]+))?\)")
MOST_ROWS = 2_000


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in FENCED.findall(page.read_text()) if kind == language]


def commands(page: Path) -> Iterator[list[str]]:
    """Give the arguments of each call of streamgauge on a page, made short."""
    for block in blocks(page, "console"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:1] == ["streamgauge"]:
                yield [
                    word if before != "--rows" else str(min(int(word), MOST_ROWS)) for before, word in pairwise(words)
                ]


def files_for(page: Path, folder: Path) -> None:
    """Write the files that pages speak of, and the experiments they show, made small."""
    rare = streams.Imbalanced(sg.SEA(), shares=(0.7, 0.3))
    for name in ("skin.arff", "MiniBoone.arff"):
        streams.write(rare, folder / name, n_rows=MOST_ROWS)
    rows = [f"{i % 50},{i % 24},{'yes' if i % 50 > 40 else 'no'}" for i in range(MOST_ROWS)]
    (folder / "payments.csv").write_text("\n".join(["amount,hour,fraud", *rows]))
    for text in blocks(page, "toml"):
        name = text.split("\n", 1)[0].removeprefix("# ")
        (folder / name).write_text(
            text.replace("rows = 50_000", "rows = 300")
            .replace("[1, 2, 3]", "[1]")
            .replace("Bootstrap(10)", "Bootstrap(2)")
        )


@pytest.mark.parametrize("page", [page for page in SHOWN if any(commands(page))], ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files_for(page, tmp_path)
    for arguments in commands(page):
        if arguments[0] == "serve":  # it would not end: its options are read, no more
            serve.make_context("serve", arguments[1:])
            continue
        outcome = CliRunner().invoke(cli, arguments)
        assert outcome.exit_code == 0, f"streamgauge {shlex.join(arguments)}\n{outcome.output}"


def test_what_a_newcomer_does_first_is_shown_by_commands():
    assert [next(iter(call)) for call in commands(ROOT / "README.md")] == [
        "doctor", "compare", "describe", "compare", "report", "plot", "serve"
    ]  # fmt: skip


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_somewhere(page):
    for path, anchor in LINK.findall(page.read_text()):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


def test_every_page_stands_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    apart = {page for page in pages if page.startswith(("reproduction/quick/", "pictures/"))}
    assert {page for page in pages - apart if page not in navigation} == set()


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not installed: `make docs` does it")
def test_the_site_builds_without_a_warning_and_asks_nothing_of_a_network(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert outcome.returncode == 0, outcome.stderr
    assert "Bootstrap" in (tmp_path / "reference" / "schemes.html").read_text()
    for page in tmp_path.rglob("*.html"):
        assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"?https?:", page.read_text()) == [], page
