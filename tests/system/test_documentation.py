"""Every command of the README and the pages runs; every page is reached and has its picture; the site builds."""

import doctest
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import streamgauge as sg
from docs.site_hooks import on_page_markdown
from streamgauge import streams
from streamgauge.cli.main import cli
from streamgauge.cli.serve import command as serve

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SHOWN = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "how_to").glob("*.md"))]
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([\w./-]+\.(?:md|png|html|ipynb))?(?:#([\w-]+))?\)")
MOST_ROWS = 2_000

LEFT_OUT = {
    "git clone": "without it there would be no tests",
    "make setup": "without it no test would run",
    "source .venv/bin/activate": "without it no test would run",
    "pip install": "it would change the environment of all tests",
    "eval": "it is for the shell of a person; the commands beside it print the same for other shells",
    "python examples/payments.py": "tests/system/test_examples.py runs it",
    "ray start": "it starts a cluster: tests/test_ray.py does, on this machine",
    "streamgauge evaluate --ray": "it needs a cluster: tests/test_ray.py runs on one",
    'streamgauge evaluate --stream "Kafka(': "it needs a broker: tests/test_live_brokers.py runs with one",
    "streamgauge evaluate ...": "the dots stand for what is yours",
    "streamgauge compare ...": "the dots stand for what is yours",
}
"""Commands of the pages that no test runs, by how they begin, and why."""


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in FENCED.findall(page.read_text()) if kind == language]


def lines(page: Path) -> list[str]:
    """Return what a reader of a page types."""
    typed = "\n".join(blocks(page, "console")).replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+", " ", line.removeprefix("$ ")) for line in typed if line.startswith("$ ")]


def commands(page: Path) -> Iterator[list[str]]:
    """Return the arguments of each call of streamgauge on a page, made short, without where its output goes."""
    for line in lines(page):
        if not line.startswith(tuple(LEFT_OUT)):
            words = shlex.split(re.sub(r" >>? \S+$", "", line.partition(" # ")[0].rstrip()))
            assert words[0] == "streamgauge", f"{line}: run it here, or say in LEFT_OUT why not"
            yield [word if before != "--rows" else str(min(int(word), MOST_ROWS)) for before, word in pairwise(words)]


def expanded(word: str) -> list[str]:
    """Do what a shell does with a star."""
    return [word] if not word.endswith("/*") else sorted(str(path) for path in Path(word[:-2]).iterdir())


def files_for(page: Path, folder: Path) -> None:
    """Write the files and results that pages speak of, and the experiments they show, made small."""
    rare = streams.Imbalanced(sg.SEA(), shares=(0.7, 0.3))
    for name, n_rows in (("skin.arff", MOST_ROWS), ("MiniBoone.arff", 2 * MOST_ROWS)):
        streams.write(rare, folder / name, n_rows=n_rows)
    prices = ["@relation e", "@attribute nswprice numeric", "@attribute class {UP,DOWN}", "@data"]
    prices += [f"{i % 7},{'UP' if i % 7 > 3 else 'DOWN'}" for i in range(MOST_ROWS)]
    (folder / "electricity.arff").write_text("\n".join(prices))
    houses = [f"{20 + i % 90},{i % 7},{1_000 * (20 + i % 90) + 37 * (i % 11)}" for i in range(MOST_ROWS)]
    (folder / "houses.csv").write_text("\n".join(["size,rooms,price", *houses]))
    (folder / "errors.txt").write_text("\n".join("01"[i % 3 == 0] for i in range(500)))
    rows = [f"{i % 50},{i % 24},{'yes' if i % 50 > 40 else 'no'}" for i in range(MOST_ROWS)]
    (folder / "payments.csv").write_text("\n".join(["amount,hour,fraud", *rows]))
    sent = [f"{np.datetime64('2024-01-01T00:00') + 60 * i},{row}" for i, row in enumerate(rows)]
    (folder / "transfers.csv").write_text("\n".join(["sent,amount,hour,fraud", *sent]))
    if page.stem == "your_own_file":
        runpy.run_path(str(ROOT / "examples" / "payments.py"))["write_payments"](folder / "card_payments.csv", 8_000)
    (folder / "rows.csv").write_text("\n".join(["amount,hour,label", *rows]))
    (folder / "my_models.py").write_text("import streamgauge as sg\nfast_tree = sg.HoeffdingTree(grace_period=50)\n")
    for text in blocks(page, "python"):
        if module := re.match(r"# (\w+\.py)\n", text):
            (folder / module[1]).write_text(text)
    for text in chain(blocks(DOCS / "experiments.md", "toml"), blocks(page, "toml")):
        name = text.split("\n", 1)[0].removeprefix("# ")
        (folder / name).write_text(
            re.sub(r"rows = \w+", "rows = 300", text)
            .replace("[1, 2, 3]", "[1]")
            .replace("Bootstrap(10)", "Bootstrap(2)")
        )


def results_for(page: Path, folder: Path) -> None:
    """Save the runs that a page takes for granted."""
    taken = {path for line in lines(page) for path in re.findall(r"results/(sea|rbf|led|electricity)\b", line)}
    made = {path for line in lines(page) for path in re.findall(r"--out results/(\w+)", line)}
    for at, name in enumerate(sorted(taken - made)):
        learners, stream = [sg.HoeffdingTree(), sg.NaiveBayes()], sg.RandomRBF(seed=at, n_rows=500)
        sg.save(sg.evaluate(stream, learners, measures=["accuracy", "kappa_m"]), folder / "results" / name)


@pytest.mark.parametrize("page", [page for page in SHOWN if any(commands(page))], ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STREAMGAUGE_DATA", str(tmp_path))
    files_for(page, tmp_path)
    results_for(page, tmp_path)
    for arguments in commands(page):
        if arguments[0] == "serve":  # it would not end: its options are read, no more
            serve.make_context("serve", arguments[1:])
            continue
        words = [found for word in arguments for found in expanded(word)]
        outcome = CliRunner().invoke(cli, words)
        assert outcome.exit_code == 0, f"streamgauge {shlex.join(words)}\n{outcome.output}"


def test_what_is_left_out_stands_on_some_page():
    shown = [line for page in SHOWN for line in lines(page)]
    assert [start for start in LEFT_OUT if not any(line.startswith(start) for line in shown)] == []


def test_what_a_newcomer_does_first_is_shown_by_commands():
    assert [next(iter(call)) for call in commands(ROOT / "README.md")] == [
        "doctor", "compare", "describe", "compare", "run", "report", "serve"
    ]  # fmt: skip


def test_the_readme_shows_the_commands_of_a_newcomer_and_ends_with_five_links():
    text = (ROOT / "README.md").read_text()
    assert "`make demo`" in text
    assert "`make test`" in text
    assert len(re.findall(r"^- \[.+\]\(.+\)", text.partition("\n## Further\n")[2], re.MULTILINE)) == 5


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", *sorted(DOCS.rglob("*.md")), *sorted(DOCS.rglob("*.ipynb"))],
    ids=lambda page: page.stem,
)
def test_every_link_of_a_page_leads_somewhere(page):
    for path, anchor in LINK.findall(page.read_text()):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


def test_every_page_stands_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    found = chain(DOCS.rglob("*.md"), (path.with_suffix(".md") for path in DOCS.rglob("*.ipynb")))
    pages = {page.relative_to(DOCS).as_posix() for page in found}
    apart = {page for page in pages if page.startswith(("reproduction/quick/", "reproduction/paper/", "pictures/"))}
    assert {page for page in pages - apart if page not in navigation} == set()


def test_language_models_find_every_page_of_the_site():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    pages = re.findall(r"([\w./-]+\.md)$", navigation, re.MULTILINE)
    listed = re.findall(r"\]\(([\w./-]+)\)", on_page_markdown((DOCS / "llms.txt").read_text()))
    assert sorted(listed) == sorted(set(pages) - {"index.md"})


def test_language_models_get_the_title_of_each_page():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    titles = dict(map(reversed, re.findall(r"^ +- (.+): ([\w./-]+\.md)$", navigation, re.MULTILINE)))
    index = on_page_markdown((DOCS / "llms.txt").read_text())
    listed = re.findall(r"^- \[(.+?)\]\(([\w./-]+)\)", index, re.MULTILINE)
    assert {title: path for title, path in listed if titles.get(path, title) != title} == {}


def test_the_example_for_language_models_runs():
    outcome = doctest.testfile(str(DOCS / "llms.txt"), module_relative=False)
    assert outcome.attempted > 3
    assert outcome.failed == 0


@pytest.mark.parametrize("part", ["Concepts", "Learners"])
def test_every_page_of_a_concept_has_a_picture(part):
    navigation = (ROOT / "mkdocs.yml").read_text().partition(f"\n  - {part}:\n")[2]
    pages = re.findall(r"^      - .*?(\w+\.md)$", re.split(r"^  - ", navigation, flags=re.MULTILINE)[0], re.MULTILINE)
    apart = {"architecture.md"}  # it stands outside the folder, and begins with a diagram
    assert len(pages) > 4
    assert [page for page in pages if page not in apart and "](pictures/" not in (DOCS / page).read_text()] == []


def test_pictures_are_small():
    assert [path.name for path in (DOCS / "pictures").glob("*.png") if path.stat().st_size > 100 * 1024] == []


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not installed: `make docs` does it")
def test_the_site_builds_without_a_warning_and_asks_nothing_of_a_network(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert outcome.returncode == 0, outcome.stderr
    assert "Bootstrap" in (tmp_path / "reference" / "schemes.html").read_text()
    for page in tmp_path.rglob("*.html"):
        assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"?https?:", page.read_text()) == [], page
