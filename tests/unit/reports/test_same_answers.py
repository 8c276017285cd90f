"""Terminal, page, notebook, Markdown, LaTeX, JSON and dashboard of random runs state the same numbers and verdicts.

What each surface says is parsed from its text. Only JSON and the dashboard have numbers in full; those of the others
must be these, rounded.
"""

import json
import re
from dataclasses import dataclass
from io import StringIO
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import streamgauge as sg
from streamgauge.cli.run_options import to_json_facts
from streamgauge.reports import build_summary, page_html, report
from streamgauge.reports.study import run_recommended_tests
from streamgauge.results import Results
from streamgauge.serve.curve_sources import Cache
from streamgauge.serve.runs import Run
from tests.support.surfaces import Page, parse_latex, parse_markdown, parse_terminal

N_RUNS = 50

LEARNERS = ["HoeffdingTree", "NaiveBayes", "Perceptron", "NoChange", "MajorityClass"]
STREAMS = ["SEA", "RandomRBF", "Hyperplane", "Agrawal", "LED", "SEA(drift_every=200)", "SEA(noise=0.3)"]
SCHEMES = ["Prequential", "Bootstrap(5)", "Bootstrap(3)", "CrossValidation(5)", "CrossValidation(5, test='held_out')"]
SCHEMES += ["Split(5)", "Chunks(50)", "TrainThenTest(100)"]
LABELLINGS = ["AllLabels", "Delayed(40)", "Fraction(0.5)", "Delayed(5)"]
MEASURES = [
    "accuracy",
    "kappa",
    "kappa_m",
    "error",
    "log_loss",
    "brier",
    "balanced_accuracy",
    "g_mean",
    "roc_auc_ovr_macro",
    "f1_macro",
]
FORGETTINGS = [["Landmark"], ["Window(100)"], ["Fading(0.99)"], ["Landmark", "Window(50)"], ["EWMA(0.01)", "Landmark"]]


@dataclass(frozen=True)
class Answers:
    """A run and what each surface says of it."""

    results: Results
    json: dict[str, Any]
    dashboard: dict[str, Any]
    curves: Any
    tables: dict[str, list[list[str]]]
    page: Page
    notebook: Page
    markdown: Any
    latex: Any
    terminal: Any


def draw_call(index: int) -> dict[str, Any]:
    """Return the arguments of a small run, drawn at random."""
    random = np.random.default_rng(index)

    def draw(things: list[Any]) -> Any:
        return things[random.integers(len(things))]

    chosen = random.permutation(LEARNERS)[: random.integers(1, 5)].tolist()
    measures = random.permutation(MEASURES)[: random.integers(1, 4)].tolist()
    scheme, labelling = draw(SCHEMES), draw(LABELLINGS)
    return {
        "stream": draw(STREAMS),
        "learners": chosen,
        "n_rows": int(random.integers(250, 600)),
        "scheme": scheme,
        "labelling": "AllLabels" if scheme.startswith(("Chunks", "TrainThenTest")) else labelling,
        "measures": measures,
        "forgetting": draw(FORGETTINGS),
        "budgets": ["error<0.3"] if random.random() < 0.3 else [],
        "detectors": {"ddm": "DDM"} if random.random() < 0.2 else {},
        "resources": bool(random.random() < 0.3),
        "seed": index,
    }


@pytest.fixture(scope="module", params=range(N_RUNS))
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    results = sg.evaluate(**draw_call(request.param))
    folder = results.save(tmp_path_factory.mktemp("runs") / "run")
    comparisons = run_recommended_tests(results)
    console = Console(width=80 + 30 * (request.param % 4), record=True, file=StringIO())
    console.print(build_summary(results, comparisons))
    run = Run(folder, "run", Cache())
    records = run.read_curves()
    dashboard = json.loads(json.dumps(run.list_verdicts()))
    return Answers(
        results,
        json.loads(json.dumps(to_json_facts(results, comparisons, {}))),
        dashboard,
        {
            (measure, forgetting): records.layout.curve(records.records, measure, forgetting)[0][-1]
            for measure in results.measures
            for forgetting in results.forgettings
        },
        read_tables([*dashboard["overview"], *dashboard["details"]]),
        Page(page_html(results, comparisons)),
        Page(results._repr_html_()),
        parse_markdown(report(results, comparisons, format="md")),
        parse_latex(report(results, comparisons, format="latex")),
        parse_terminal(console.export_text()),
    )


def read_tables(sections: list[dict[str, Any]]) -> dict[str, list[list[str]]]:
    """Return the tables among sections that the dashboard gets, by title."""
    return {
        block["title"]: [
            block["columns"],
            *([name, *(cell["text"] for cell in cells)] for name, cells in block["rows"]),
        ]
        for section in sections
        for block in section["blocks"]
        if block["kind"] == "grid"
    }


def list_texts(section: dict[str, Any]) -> list[str]:
    """Return the sentences and claims of a section that the dashboard gets."""
    blocks = section["blocks"]
    return [
        text
        for block in blocks
        for text in block.get("sentences", [claim["sentence"] for claim in block.get("claims", [])])
    ]


def is_rounded(text: str, value: float | None, unit: str) -> bool:
    """Return whether a text is a number as people read it: rates in percent."""
    if value is None or not np.isfinite(value):
        return text == "–"  # noqa: RUF001
    digits = text.replace(",", "")
    scale, tolerance = (100, 0.005001) if unit == "rate" else (1, max(abs(value), 1e-12) * 6e-4)
    return bool(re.fullmatch(r"[+-]?[\d.]+(e-?\d+)?", digits)) and abs(float(digits) - scale * value) <= tolerance


def strip_marks(cell: str) -> str:
    return re.sub(r"[*†°]|\(\d+[^)]*\)", "", cell).strip()


PHRASES = {
    "Landmark()": "over all rows",
    "Window(width=100)": "over the last 100 rows",
    "Window(width=50)": "over the last 50 rows",
    "Fading(factor=0.99)": "with fading factor 0.99",
    "EWMA(alpha=0.01)": "as an EWMA with alpha 0.01",
}


Cells = dict[tuple[str, str, str], str]
"""Texts by forgetting, measure and learner."""


def read_finals(answers: Answers) -> dict[str, Cells]:
    """Return the last values on each surface."""
    return {
        "markdown": read_blocks(answers, answers.markdown[0]),
        "latex": read_blocks(answers, answers.latex[0]),
        "terminal": read_blocks(answers, answers.terminal[0]),
        "page": read_blocks(answers, answers.page.tables),
        "dashboard": read_blocks(answers, answers.tables),
        "notebook": read_blocks(answers, answers.notebook.tables),
    }


def read_blocks(answers: Answers, tables: dict[str, list[list[str]]]) -> Cells:
    """Return the last values of a surface that has a table for each forgetting, or the ranked one where it has all."""
    cells: Cells = {}
    results = answers.results
    for forgetting in results.forgettings:
        pattern = rf"After [\d,]+ rows, {PHRASES[forgetting]}"
        found = [rows for title, rows in tables.items() if re.fullmatch(pattern, title)]
        if not found:
            assert len(results.measures) == len(results.forgettings) == results.n_folds == 1
            ranked = tables[f"Ranked by {results.measures[0]} {PHRASES[forgetting]}"]
            found = [[ranked[0], *([row[0], row[1].partition(" ")[0]] for row in ranked[1:])]]
        (table,) = found
        headings = table[0][1 : 1 + len(results.measures)]
        cells |= read_columns(answers, [PHRASES[forgetting]] * len(headings), headings, table[1:])
    return cells


def read_columns(answers: Answers, phrases: list[str], headings: list[str], rows: list[list[str]]) -> Cells:
    """Return the values of a table with a column for each measure and forgetting."""
    names = {PHRASES[forgetting]: forgetting for forgetting in answers.results.forgettings}
    return {
        (names[phrase], heading.partition(" ")[0], row[0]): strip_marks(value)
        for row in rows
        for phrase, heading, value in zip(phrases, headings, row[1:], strict=False)
    }


def test_last_values_are_the_same(answers: Answers) -> None:
    folds: dict[tuple[str, str, str], list[float]] = {}
    for reading in answers.json["final"]:
        key = (reading["forgetting"], reading["measure"], reading["learner"])
        folds.setdefault(key, []).append(np.nan if reading["value"] is None else reading["value"])
    surfaces = read_finals(answers)
    for surface, cells in surfaces.items():
        assert cells.keys() == folds.keys(), surface
        for (forgetting, measure, learner), values in folds.items():
            unit = answers.json["description"]["measures"][measure]["unit"]
            mean, _, spread = cells[forgetting, measure, learner].partition("±")
            defined = np.array([value for value in values if np.isfinite(value)])
            expected = float(defined.mean()) if len(defined) else np.nan
            assert is_rounded(mean.strip(), expected, unit), (surface, measure, learner, mean, expected)
            if len(defined) > 1:
                assert is_rounded(spread, float(defined.std(ddof=1)), unit), (surface, measure, learner, spread)
            else:
                assert not spread, (surface, measure, learner)
            curve = answers.curves[measure, forgetting][answers.results.learners.index(learner)]
            assert np.isclose(curve, expected, equal_nan=True), (measure, learner)


def test_the_headline_is_the_same(answers: Answers) -> None:
    expected = answers.json["headline"]
    assert answers.page.headline == expected
    assert answers.markdown[1].get("Answer", []) == expected
    assert answers.latex[1].get("Answer", []) == expected
    assert " ".join(expected) == answers.terminal[2]
    said = [
        sentence for part in answers.dashboard["overview"] if part["kind"] == "answer" for sentence in list_texts(part)
    ]
    assert said == expected


def test_ranks_leads_and_p_values_are_the_same(answers: Answers) -> None:
    titles = [title for title in answers.markdown[0] if title.startswith("Ranked by ")]
    assert titles or not answers.json["comparisons"]
    for title in titles:
        (_, *rows), *others = (
            [[strip_marks(cell) for cell in row] for row in tables[title]]
            for tables in (
                answers.markdown[0],
                answers.latex[0],
                answers.page.tables,
                answers.terminal[0],
                answers.tables,
            )
        )
        assert all(table[1:] == rows for table in others)
        check_ranked_values(answers, title, rows)
        marked = {row[0] for row in answers.markdown[0][title] if "°" in row[1]}
        for test in answers.json["comparisons"]:
            if rows[0][0] in (test["first"], test["second"]):
                check_lead(test, rows, marked)


def check_ranked_values(answers: Answers, title: str, rows: list[list[str]]) -> None:
    measure, _, phrase = title.removeprefix("Ranked by ").partition(" ")
    for forgetting in answers.results.forgettings:
        if PHRASES[forgetting] == phrase and measure in answers.results.measures:
            for name, value, *_ in rows:
                mean = answers.results.final(name, measure, forgetting).mean
                assert is_rounded(value.partition(" ")[0], mean, answers.results.unit(measure))


def check_lead(test: dict[str, Any], rows: list[list[str]], marked: set[str]) -> None:
    """Check the row of a learner against its test beside the best one."""
    best = rows[0][0]
    other = test["second"] if test["first"] == best else test["first"]
    (_, _, lead, p) = next(row for row in rows if row[0] == other)
    turn = 1 if (test["first"] == best) == test["greater_is_better"] else -1
    ahead, ends = lead.removesuffix("]").split(" [")
    numbers = [test["difference"], *test["interval"][::turn]]
    for text, number in zip([ahead, *ends.split(", ")], numbers, strict=True):
        assert is_rounded(text, turn * number, test["unit"])
    assert_p_value(p, test["p_value"] if test["adjusted"] is None else test["adjusted"])
    assert (other in marked) == (test["better"] != best)


def assert_p_value(text: str, p: float) -> None:
    assert p < 0.0001 if text == "<0.0001" else abs(float(text) - p) <= 0.00005001


def read_claim(sentence: str) -> tuple[frozenset[str], str | None] | None:
    """Return the pair of a sentence on a comparison, and which learner is better."""
    if match := re.match(r"(\S+) is better than ([^\s,]+)", sentence):
        return frozenset(match.group(1, 2)), match[1]
    if match := re.match(r"No difference.* can be claimed between (\S+) and ([^\s;,]+)", sentence):
        return frozenset(match.group(1, 2)), None
    return None


def list_items(items: dict[str, list[str]]) -> list[str]:
    return [item for texts in items.values() for item in texts]


def test_comparisons_are_the_same(answers: Answers) -> None:
    expected = {frozenset((c["first"], c["second"])): c["better"] for c in answers.json["comparisons"]}
    said = {
        "page": list_items(answers.page.items),
        "markdown": list_items(answers.markdown[1]),
        "latex": list_items(answers.latex[1]),
        "dashboard": [text for section in answers.dashboard["details"] for text in list_texts(section)],
        "terminal": answers.terminal[1],
    }
    for surface, sentences in said.items():
        ended = [sentence for sentence in sentences if "known since" not in sentence]
        claims = dict(claim for sentence in ended if (claim := read_claim(sentence)))
        if surface == "terminal":  # it names the most important pairs
            assert claims.items() <= expected.items()
            assert len(claims) == min(len(expected), 3)
        else:
            assert claims == expected, surface
    for tables in (answers.markdown[0], answers.latex[0]):
        for row in tables.get("Pairwise tests", [])[1:]:
            first, second = re.match(r"(\S+) minus (\S+),", row[0]).groups()  # type: ignore[union-attr]
            (test,) = (c for c in answers.json["comparisons"] if {c["first"], c["second"]} == {first, second})
            turn = 1 if test["first"] == first else -1
            assert is_rounded(row[2].partition(" ")[0], turn * test["difference"], test["unit"])
            assert_p_value(row[4], test["p_value"] if test["adjusted"] is None else test["adjusted"])


def read_verdict(sentence: str) -> tuple[frozenset[str], str] | None:
    """Return the pair of a sentence on a live verdict, and what holds now."""
    if match := re.match(r"(\S+) is better than (\S+) in \S+, known since", sentence):
        return frozenset(match.group(1, 2)), match[1]
    if match := re.match(r"(\S+) and ([^\s<]+?):? (?:are )?(equivalent|undecided)", sentence):
        return frozenset(match.group(1, 2)), match[3]
    return None


def read_verdicts(items: list[str], facts: dict[frozenset[str], str]) -> dict[frozenset[str], str]:
    """Return what a list of live verdicts says of each pair; pairs that wait for rows are counted, not named."""
    said = dict(verdict for item in items if (verdict := read_verdict(item)))
    counts = [int(match[1]) for item in items if (match := re.match(r"(?:All )?(\d+) pairs: undecided yet in", item))]
    rest = facts.keys() - said.keys()
    assert not counts or sum(counts) == len(rest)
    return said | (dict.fromkeys(rest, "undecided") if counts else {})


def test_live_verdicts_are_the_same(answers: Answers) -> None:
    results = answers.results
    for verdicts in (answers.json["verdicts"], answers.dashboard["verdicts"]):
        facts = {frozenset((v["first"], v["second"])): v.get(v["outcome"], v["outcome"]) for v in verdicts}
        assert facts.keys() == {frozenset(pair) for pair in combinations(results.learners, 2)} or not facts
    listed = [item for title, items in answers.page.items.items() if "anytime-valid" in title for item in items]
    assert read_verdicts(listed, facts) == facts
    for items in (answers.markdown[1], answers.latex[1]):
        said = [item for title, texts in items.items() if "anytime-valid" in title for item in texts]
        assert read_verdicts(said, facts) == facts
    printed = dict(verdict for item in answers.terminal[1] if (verdict := read_verdict(item)))
    assert printed.items() <= facts.items()
    decided = {pair for pair, outcome in facts.items() if outcome != "undecided"}
    assert decided <= printed.keys()


def test_verdicts_on_one_model_are_the_same(answers: Answers) -> None:
    expected = {v["learner"]: v["outcome"] for v in answers.json["model_verdicts"]}
    assert {v["learner"]: v["outcome"] for v in answers.dashboard["model_verdicts"]} == expected
    words = {"keeps": "kept", "breaks": "broken", "and": "undecided"}

    def read(sentences: list[str]) -> dict[str, str]:
        matches = (re.match(r"(\S+) (keeps|breaks|and) error<0\.3", sentence) for sentence in sentences)
        return {match[1]: words[match[2]] for match in matches if match}

    assert read(answers.terminal[1]) == expected
    for items in (answers.page.items, answers.markdown[1], answers.latex[1]):
        assert read(items.get("Live verdicts on one model", [])) == expected


def test_the_random_runs_cover_what_they_are_drawn_from() -> None:
    calls = [draw_call(index) for index in range(N_RUNS)]
    assert {len(call["learners"]) for call in calls} == {1, 2, 3, 4}
    assert {call["scheme"] for call in calls} == set(SCHEMES)
    assert {call["labelling"] for call in calls} == set(LABELLINGS)
    assert {measure for call in calls for measure in call["measures"]} == set(MEASURES)
    assert [forgetting for forgetting in FORGETTINGS if forgetting not in [call["forgetting"] for call in calls]] == []
