"""The ratios that the README and the page on other systems state are those of docs/performance, to a quarter."""

import re
from pathlib import Path

import pytest

from benchmarks.performance.figures import OURS, Figure, compute_ratio, load

ROOT = Path(__file__).parents[3]
PERFORMANCE = ROOT / "docs" / "performance"
TABLES = {
    "naive Bayes": ("naive_bayes", "NaiveBayes, "),
    "Hoeffding tree": ("hoeffding_tree", "HoeffdingTree, "),
    "leveraging bagging": ("leveraging_bagging", "LeveragingBagging, "),
    "adaptive random forest": ("adaptive_random_forest", "AdaptiveRandomForest, "),
    "ten folds": ("folds", "10-fold bootstrap"),
    "Hoeffding tree, 10 folds": ("folds", "10-fold bootstrap"),
    "drift detectors": ("detectors", ""),
    "measures": ("measures", ""),
    "reading an ARFF file": ("files", "ARFF"),
}
"""The table and the beginning of the subjects that a line of a page is about."""


def list_statements() -> list[tuple[str, str, str, tuple[float, ...]]]:
    """Return page, line, system and the lowest and highest ratio of each statement."""
    found = []
    page = (ROOT / "docs" / "other_systems.md").read_text().partition("## How long they take")[2]
    heads, *rows = re.findall(r"^\|(.+)\|$", page.partition("\nCPU time")[0], re.MULTILINE)
    for row in rows[1:]:
        name, *cells = (cell.strip() for cell in row.split("|"))
        for system, cell in zip((head.strip() for head in heads.split("|")[1:]), cells, strict=True):
            if cell:
                found.append(("other_systems.md", name, system, read_numbers(cell)))
    for name, cells in re.findall(r"^\| time of an? (.+?) \| 1 \| (.+?) \|$", readme(), re.MULTILINE):
        for system, cell in re.findall(r"(MOA|CapyMOA|River) ([\d.,]+ to [\d,.]+\d)", cells):
            found.append(("README.md", name, system, read_numbers(cell)))
    return found


def readme() -> str:
    return (ROOT / "README.md").read_text().replace("time of ten", "time of a ten")


def read_numbers(cell: str) -> tuple[float, ...]:
    return tuple(float(number.replace(",", "")) for number in cell.split(" to "))


def list_ratios(name: str, system: str) -> list[float]:
    table, start = next(TABLES[key] for key in sorted(TABLES, key=len, reverse=True) if name.startswith(key))
    figures = load(PERFORMANCE / f"{table}.csv")
    compared = [figure for figure in figures if figure.system == system and is_meant(figure, start)]
    return [ratio for figure in compared if (ratio := compute_ratio(figure, figures)) is not None]


def is_meant(figure: Figure, start: str) -> bool:
    return figure.subject.startswith(start) and not figure.subject.endswith("CPU time")


@pytest.mark.parametrize(("page", "name", "system", "stated"), list_statements())
def test_a_stated_ratio_is_measured(page, name, system, stated):
    ratios = list_ratios(name, system)
    low, high = stated[0], stated[-1]
    assert (low, high) == pytest.approx((min(ratios), max(ratios)), rel=0.25), f"{page}: {name}, {system}"


def test_the_ratios_of_both_pages_are_found():
    pages = [page for page, *_ in list_statements()]
    assert (pages.count("other_systems.md"), pages.count("README.md")) == (22, 8)


def test_accuracies_are_within_a_percentage_point():
    for table in ("naive_bayes", "hoeffding_tree", "leveraging_bagging", "adaptive_random_forest", "folds"):
        for figure in load(PERFORMANCE / f"{table}.csv"):
            if figure.system != OURS and figure.accuracy is not None and figure.our_accuracy is not None:
                assert abs(figure.accuracy - figure.our_accuracy) < 0.01, figure
