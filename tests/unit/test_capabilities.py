"""The table of capabilities names tests that exist and lines that run, and these few have no other test."""

import ast
import json
import re
import shlex
import tracemalloc
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix, fbeta_score
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge import drift, learners, streams
from streamgauge.cli.main import cli
from streamgauge.compat import strlearn
from streamgauge.measures import Chernoff, Hoeffding, balanced_accuracy, g_mean, harmonic_mean
from streamgauge.protocols import Scheme
from streamgauge.records import Step, Tally
from streamgauge.reports import report
from streamgauge.significance import mcnemar, wilcoxon
from tests.support.commands import invoke

TESTS = Path(__file__).parents[1]
TABLE = TESTS / "CAPABILITIES.md"
CODE = re.compile(r"`([^`]+)`")
OPEN = "not yet:"
"""What follows it is text; its code does not run yet."""

ELSEWHERE = (
    "Moa(",
    "Processes(",
    "--processes",
    "--ray",
    "--watch",
    "load(",
    "streamgauge reproduce",
    "streamgauge serve",
    "streamgauge run --ready",
)
"""Marks of lines that start a process, a server or a Java machine, need a data set or take long: they only parse."""


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    line: int
    document: str
    capability: str
    how: str
    test: str

    @property
    def lines(self) -> list[str]:
        return CODE.findall(self.how.partition(OPEN)[0])

    @property
    def nodes(self) -> list[str]:
        return CODE.findall(self.test)

    def __str__(self) -> str:
        return f"line {self.line}"


def read_rows() -> Iterator[Row]:
    document = ""
    for number, line in enumerate(TABLE.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            document = line[3:]
        elif line.startswith("|") and not line.startswith(("| capability", "|---")):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            assert len(cells) == 3, f"line {number} has {len(cells)} cells, not 3"
            yield Row(number, document, *cells)


def read_block(language: str) -> str:
    (block,) = re.findall(rf"```{language}\n(.*?)```", TABLE.read_text(encoding="utf-8"), re.DOTALL)
    return str(block)


ROWS = list(read_rows())
LINES = [(row, line) for row in ROWS for line in row.lines]


def names_of(path: Path) -> set[str]:
    """Return the functions of a test file, and Class::method."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
    return found


def parse_command(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    with click.Context(cli) as context:
        command = cli.get_command(context, name)  # an unknown command raises
        assert command is not None
        command.make_context(name, arguments, parent=context)


def test_the_table_has_rows_of_five_documents() -> None:
    documents = [row.document for row in ROWS]
    assert len(set(documents)) == 5
    assert min(map(documents.count, documents)) > 20
    assert len({(row.document, row.capability) for row in ROWS}) == len(ROWS)


def test_every_row_has_a_line_and_a_test_or_says_what_is_missing() -> None:
    for row in ROWS:
        assert row.lines or OPEN in row.how, f"line {row.line}: {row.capability} has no line that runs"
        assert row.nodes or OPEN in row.how, f"line {row.line}: {row.capability} has no test"


def test_every_named_test_exists() -> None:
    known: dict[str, set[str]] = {}
    missing = []
    for row in ROWS:
        for node in row.nodes:
            name, _, function = node.partition("::")
            if name not in known:
                known[name] = names_of(TESTS / name) if (TESTS / name).is_file() else set()
            if function not in known[name]:
                missing.append(f"line {row.line}: {node}")
    assert missing == []


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, object]]]:
    """Do what the head of the table does before its lines, in a folder of its own."""
    folder, names = tmp_path_factory.mktemp("capabilities"), dict[str, object]()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        mpl.use("agg")
        exec(compile(read_block("python"), str(TABLE), "exec"), names)
        for line in read_block("console").replace("\\\n", " ").splitlines():
            invoke(*shlex.split(line.removeprefix("$ streamgauge")), "--quiet")
        yield folder, names


@pytest.mark.parametrize(("row", "line"), LINES, ids=lambda value: str(value) if isinstance(value, Row) else "")
def test_every_line_runs(
    row: Row, line: str, prepared: tuple[Path, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, names = prepared
    monkeypatch.chdir(folder)
    elsewhere = any(mark in line for mark in ELSEWHERE)
    if line.startswith("streamgauge "):
        parse_command(line)
        if not elsewhere:
            _, _, status = invoke(*shlex.split(line)[1:])
            assert not status, row.capability
    else:
        code = compile(line, f"{TABLE}:{row.line}", "exec")
        if not elsewhere:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # a line may do what a warning advises against
                exec(code, dict(names))


# Capabilities that no other test covers


@given(st.lists(st.integers(1, 500), min_size=4, max_size=4))
def test_the_means_of_two_classes_are_a_geometric_progression(cells: list[int]) -> None:
    (tp, fn), (fp, tn) = np.reshape(cells, (2, 2)).tolist()
    tally = Tally(np.array([[tp, fn], [fp, tn]], dtype=float), np.zeros(2), 0.0, 0.0, sum(cells))
    h, g, a = harmonic_mean(tally), g_mean(tally), balanced_accuracy(tally)
    assert h <= g * (1 + 1e-12) <= a * (1 + 2e-12)
    assert h * a == pytest.approx(g * g)
    assert h == pytest.approx(1 / (1 + (fn / tp + fp / tn) / 2))  # F1 with the true negatives, section 5.2


@pytest.mark.parametrize(
    ("scheme", "share"), [(sg.CrossValidation(10), 0.9), (sg.Split(10), 0.1), (sg.Bootstrap(10), 1 - np.exp(-1))]
)
def test_a_fold_learns_the_share_of_the_rows_that_the_paper_says(scheme: Scheme, share: float) -> None:
    batch = streams.take(sg.SEA(), 20_000)
    for fold in range(10):
        weight = scheme.step(batch, fold, 3).weight
        assert weight is not None
        assert np.mean(weight > 0) == pytest.approx(share, abs=0.015)


def test_mcnemar_rejects_above_the_critical_value_of_the_papers() -> None:
    for a in range(1, 80):
        outcome = mcnemar(a, 40, variant="chi_square", alpha=0.01)
        assert outcome.significant == ((a - 40) ** 2 / (a + 40) > 6.635)
        assert abs(outcome.statistic) == pytest.approx((a - 40) ** 2 / (a + 40))


def test_a_comparison_by_mcnemar_warns_that_over_enough_rows_any_two_differ() -> None:
    run = sg.evaluate(sg.SEA(n_rows=300), [sg.NaiveBayes(), sg.NoChange()])
    assert any("over enough rows any two differ" in warning for warning in sg.compare(run, test="mcnemar").warnings)


def test_the_level_decides_what_is_significant(tmp_path: Path) -> None:
    folds = [0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03]  # p = 0.0098
    assert wilcoxon(folds, alpha=0.01).significant
    assert not wilcoxon(folds, alpha=0.005).significant
    run = sg.evaluate(sg.SEA(n_rows=500), [sg.NaiveBayes(), sg.NoChange()], scheme=sg.Bootstrap(6))
    folder = str(sg.save(run, tmp_path / "run"))
    lenient, strict = (
        json.loads(invoke("compare", folder, "--test", "wilcoxon", "--alpha", level, "--json")[0])["comparisons"][0]
        for level in ("0.05", "0.01")
    )
    assert lenient["p_value"] == strict["p_value"] == 2 / 2**6
    assert (lenient["better"], strict["better"]) == ("NaiveBayes", None)


def test_a_chance_classifier_has_a_kappa_of_0() -> None:
    stream = streams.Imbalanced(sg.SEA(), shares=(0.8, 0.2))
    batch = streams.take(stream, 20_000)
    predicted, _ = learners.RandomGuess().build(stream.schema, 1).interleave(Step(batch), with_votes=False)
    found = sg.evaluate(stream, learners.RandomGuess(), measures="kappa", n_rows=20_000, every=20_000)
    kappa = found.final("RandomGuess", "kappa").mean
    assert abs(kappa) < 0.03
    assert abs(cohen_kappa_score(batch.y[1:], predicted[1:])) < 0.03


def test_accuracy_hides_a_rare_class_and_the_g_mean_does_not() -> None:
    stream = streams.Imbalanced(sg.SEA(), shares=(0.98, 0.02))
    found = sg.evaluate(stream, sg.MajorityClass(), measures=["accuracy", "g_mean"], n_rows=5_000)
    assert found.final("MajorityClass", "accuracy").mean > 0.97
    assert found.final("MajorityClass", "g_mean").mean == 0.0


def test_a_reading_can_be_taken_after_every_row() -> None:
    stream = sg.SEA(n_rows=300)
    found = sg.evaluate(stream, sg.NaiveBayes(), every=1)
    batch = streams.take(stream, 300)
    predicted, _ = sg.NaiveBayes().build(stream.schema, 1).interleave(Step(batch), with_votes=False)
    so_far = np.cumsum(predicted == batch.y) / np.arange(1, 301)
    np.testing.assert_allclose(found.curve("NaiveBayes", "accuracy")[:, 0], so_far, rtol=1e-12)


@pytest.mark.parametrize("delta", [0.2, 0.01])
def test_a_bound_follows_its_delta(delta: float) -> None:
    names = ["error", Hoeffding(delta=delta), Chernoff(delta=delta)]
    found = sg.evaluate(sg.SEA(n_rows=400), sg.NaiveBayes(), measures=names, every=400)
    error, hoeffding, chernoff = found.values[-1, 0, 0, 0]
    assert hoeffding == pytest.approx(np.sqrt(np.log(2 / delta) / 800))
    assert chernoff == pytest.approx(np.sqrt(3 * error * np.log(2 / delta) / 400))


def test_adwin_keeps_its_rates_of_false_and_missed_changes() -> None:
    rng = np.random.default_rng(1)
    delta, n = 0.05, 1000
    m = 1 / (1 / n + 1 / n)  # Theorem 3 with two halves of n values
    cut = np.sqrt(np.log(4 * 2 * n / delta) / (2 * m))
    n_false = n_missed = 0
    for _ in range(100):
        n_false += len(drift.detect(rng.random(2 * n) < 0.3, drift.Adwin(delta=delta)).alarms)
        changed = np.concatenate((rng.random(n) < 0.3, rng.random(n) < 0.3 + 2 * cut))
        n_missed += not (drift.detect(changed, drift.Adwin(delta=delta)).alarms >= n).any()
    assert n_false <= delta * 100 * 2 * n / 32  # looks at every 32nd value
    assert n_missed <= delta * 100


def test_a_hellinger_tree_finds_a_rare_class() -> None:
    rng = np.random.default_rng(3)
    y = (rng.random(60_000) < 0.005).astype(np.int32)
    x = np.column_stack((rng.random(60_000), rng.random(60_000) + 0.8 * y))  # the second shows three in four of them
    trees = {
        name: learners.HoeffdingTree(split_criterion=name, leaf_prediction="majority")
        for name in ("info_gain", "hellinger")
    }
    found = sg.evaluate((x, y), trees, measures="recall[1]", every=60_000)
    recall = {name: found.final(name, "recall[1]").mean for name in found.learners}
    assert recall["hellinger"] >= recall["info_gain"]
    assert recall["hellinger"] > 0.4


def test_a_report_has_the_cost_of_each_learner() -> None:
    run = sg.evaluate(sg.SEA(n_rows=500), [sg.HoeffdingTree(), sg.NaiveBayes()], resources=True)
    assert run.resources is not None
    lines = report(run, format="md").split("## Cost")[1].splitlines()
    head, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| "))
    shown = {row[0]: dict(zip(head, row, strict=True)) for row in rows[:2]}
    for m, name in enumerate(run.learners):
        assert float(shown[name]["RAM-hours"]) == pytest.approx(run.resources.ram_hours[-1, m, 0], rel=0.1)
        assert float(shown[name]["CPU s"]) == pytest.approx(run.resources.cpu_seconds[-1, m, 0], rel=0.1)
        assert float(shown[name]["model kB"]) == pytest.approx(run.resources.n_bytes[-1, m, 0] / 1000, rel=0.1)


def test_sampling_takes_memory_for_its_counts_only(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,class\n" + "".join(f"{i}.25,{int(i % 10 == 0)}\n" for i in range(200_000)))
    tracemalloc.start()
    try:
        drawn = streams.sample(path, tmp_path / "drawn", streams.Balance(100, 1.0, 0.05), labelled=0.1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert drawn.plan.n_test > 150_000
    assert peak < path.stat().st_size


def test_evaluators_of_stream_learn_take_one_or_several_metrics_and_classifiers() -> None:
    stream = sg.SEA(n_rows=600)
    metrics = (strlearn.recall, strlearn.precision)
    for kind, options, n in ((strlearn.TestThenTrain, {}, 5), (strlearn.Prequential, {"interval": 50}, 10)):
        scores = {}
        for several in (False, True):
            evaluator = kind(metrics if several else strlearn.recall)
            models = (GaussianNB(), GaussianNB(var_smoothing=0.5)) if several else GaussianNB()
            evaluator.process(stream, models, chunk_size=100, **options)
            scores[several] = evaluator.scores
        assert (scores[False].shape, scores[True].shape) == ((1, n, 1), (2, n, 2))
        np.testing.assert_array_equal(scores[False][0, :, 0], scores[True][0, :, 0])
        assert (scores[True][0] != scores[True][1]).any()


LABELS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=4, max_size=40)


@given(LABELS)
def test_the_cells_of_stream_learns_matrix_are_those_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    true, predicted = np.array(pairs).T
    cells = confusion_matrix(true, predicted, labels=[0, 1]).ravel().tolist()
    assert list(strlearn.binary_confusion_matrix(true, predicted)) == cells


@given(LABELS, st.sampled_from([0.5, 1.0, 2.0]))
def test_f_beta_of_stream_learn_is_that_of_scikit_learn(pairs: list[tuple[int, int]], beta: float) -> None:
    true, predicted = np.array([*pairs, (1, 1)]).T  # a hit, so that it is defined
    assert strlearn.fbeta_score(true, predicted, beta) == pytest.approx(fbeta_score(true, predicted, beta=beta))
