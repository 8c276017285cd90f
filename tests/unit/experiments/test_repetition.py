"""A saved run again: the same bits, or what differs, or why it cannot be repeated."""

import json
import os
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamgauge as sg
from streamgauge import drift, labelling, schemes
from streamgauge._engine.collector import Progress
from streamgauge.backends import Threads
from streamgauge.errors import StreamgaugeError
from streamgauge.evaluation import Evaluation
from streamgauge.experiments import Experiment, SampleSource, Source
from streamgauge.experiments import run as run_experiment
from streamgauge.forgetting import EWMA, Tumbling
from streamgauge.learners import AdaptiveRandomForest, OzaBag
from streamgauge.measures import Hoeffding, MinMaxAccuracy
from streamgauge.streams import Balance, File, Sudden, sample, write
from streamgauge.streams import open_test as open_sample
from tests.support.commands import invoke
from tests.support.sealed_files import edit_manifest

PAIR = {"tree": sg.HoeffdingTree(grace_period=50), "bayes": sg.NaiveBayes()}
DRIFTING = Sudden(sg.SEA(), sg.SEA(concept=3), position=700)

RUNS: dict[str, Any] = {
    "one learner": (sg.SEA(n_rows=500), sg.NaiveBayes(), {}),
    "limited": (sg.RandomRBF(seed=3), PAIR, {"n_rows": 900, "every": 250}),
    "bootstrap": (DRIFTING, PAIR, {"n_rows": 1500, "scheme": sg.Bootstrap(5), "seed": 7}),
    "split": (sg.SEA(n_rows=800), PAIR, {"scheme": sg.Split(4)}),
    "cross-validation": (sg.SEA(n_rows=800), PAIR, {"scheme": sg.CrossValidation(4, test="held_out")}),
    "holdout": (sg.SEA(), PAIR, {"n_rows": 1100, "scheme": schemes.Holdout(every=250)}),
    "chunks": (sg.SEA(n_rows=1000), PAIR, {"scheme": schemes.Chunks(100)}),
    "pretrained": (sg.SEA(n_rows=400), PAIR, {"scheme": schemes.Pretrained(sg.SEA(n_rows=100, seed=8))}),
    "train, then test": (sg.SEA(n_rows=600), PAIR, {"scheme": schemes.TrainThenTest(200)}),
    "late": (sg.SEA(n_rows=700), PAIR, {"labelling": labelling.Delayed(60), "score": "last"}),
    "late, all rows": (sg.SEA(n_rows=700), PAIR, {"labelling": labelling.Delayed(60), "score_unlabelled_start": True}),
    "few labels": (sg.SEA(n_rows=700), PAIR, {"labelling": labelling.Fraction(0.3), "score": "labelled"}),
    "forgettings": (
        DRIFTING,
        PAIR,
        {"n_rows": 1500, "forgetting": [sg.Landmark(), sg.Window(100), sg.Fading(0.99), EWMA(0.05), Tumbling(200)]},
    ),
    "adwin": (DRIFTING, PAIR, {"n_rows": 1500, "forgetting": sg.AdwinWindow(), "measures": ["accuracy", "kappa_m"]}),
    "detectors": (DRIFTING, PAIR, {"n_rows": 1500, "detectors": [drift.DDM(drift=2.0), drift.PageHinkley()]}),
    "measures": (
        sg.SEA(n_rows=600),
        PAIR,
        {"measures": ["kappa", "recall[1]", "roc_auc_ovr_macro", Hoeffding(0.01), MinMaxAccuracy(0.4, 0.9)]},
    ),
    "ensembles": (
        sg.SEA(n_rows=600),
        [AdaptiveRandomForest(n_members=3, seed=4), OzaBag(sg.HoeffdingTree(grace_period=50), 3)],
        {},
    ),
    "no live test": (sg.SEA(n_rows=500), PAIR, {"live_test": None, "resources": True}),
    "other backend": (sg.SEA(n_rows=500), PAIR, {"backend": Threads(2), "batch_size": 64}),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_saved_run_is_repeated_to_the_bit(name, tmp_path):
    stream, learners, options = RUNS[name]
    results = sg.evaluate(stream, learners, **options)
    outcome = sg.rerun(sg.save(results, tmp_path))
    assert outcome.same, outcome
    assert outcome.differences == ()
    np.testing.assert_array_equal(outcome.results.values, results.values)
    assert outcome.results.n_rows == results.n_rows


@pytest.mark.parametrize("suffix", ["arff", "csv", "parquet"])
def test_a_run_on_a_file_is_repeated_from_another_folder(tmp_path, monkeypatch, suffix):
    write(sg.SEA(n_rows=500), tmp_path / f"rows.{suffix}")
    monkeypatch.chdir(tmp_path)
    folder = sg.save(sg.evaluate(sg.File(f"rows.{suffix}"), PAIR), tmp_path / "saved")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert sg.rerun(folder).same


def test_a_changed_file_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    write(sg.SEA(n_rows=500), path)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    folder = sg.save(sg.evaluate(sg.File(path), PAIR, every=100), tmp_path / "saved")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:301], *lines[302:]]))
    outcome = sg.rerun(folder)
    assert not outcome.same
    text = str(outcome)
    assert "the rows of the stream: digest" in text
    assert f"{path}: {sum(map(len, lines)):,} bytes then" in text
    assert f"{path}: written 2001-09-09T01:46:40+00:00 then" in text


def test_a_file_that_moved_can_be_named(tmp_path):
    path = tmp_path / "rows.csv"
    write(sg.SEA(n_rows=300), path)
    folder = sg.save(sg.evaluate(sg.File(path), sg.NaiveBayes()), tmp_path / "saved")
    path.rename(tmp_path / "moved.csv")
    with pytest.raises(StreamgaugeError, match="there is no file"):
        sg.rerun(folder)
    outcome = sg.rerun(folder, stream=str(tmp_path / "moved.csv"))
    assert outcome.same
    assert outcome.changes == (f"{path} then, {tmp_path / 'moved.csv'} now",)


def test_a_sample_is_repeated_with_its_hidden_labels(tmp_path):
    write(sg.SEA(n_rows=600), tmp_path / "all.csv")
    sample(tmp_path / "all.csv", tmp_path / "drawn", Balance(50), labelled=0.25)
    stream, hidden = open_sample(tmp_path / "drawn")
    folder = sg.save(sg.evaluate(stream, PAIR, labelling=hidden), tmp_path / "saved")
    assert sg.rerun(folder).same


def test_a_run_that_was_cut_short_is_repeated_to_the_same_row(tmp_path):
    evaluation = Evaluation(sg.SEA(), PAIR, n_rows=5000, scheme=sg.Bootstrap(3), batch_size=100)
    parts: list[Progress] = []
    parts.extend(evaluation.advance(lambda: len(parts) >= 7))
    results = evaluation.results(parts)
    assert (results.complete, results.n_rows) == (False, 700)
    outcome = sg.rerun(sg.save(results, tmp_path))
    assert outcome.same, outcome


def test_a_resumed_run_is_repeated(tmp_path):
    options = {"scheme": sg.Bootstrap(3), "checkpoint": tmp_path / "points", "checkpoint_every": 200, "every": 100}
    sg.evaluate(sg.SEA(), PAIR, n_rows=400, **options)
    results = sg.evaluate(sg.SEA(), PAIR, n_rows=1000, resume=True, **options)
    assert sg.rerun(sg.save(results, tmp_path / "saved")).same


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    write(sg.SEA(n_rows=600), folder / "all.csv")
    experiment = Experiment(
        "small",
        streams={"generated": Source("SEA(seed={seed})", rows=400), "file": Source(str(folder / "all.csv"))},
        samples=(SampleSource("drawn", str(folder / "all.csv"), training_positives=50, labelled=0.5),),
        learners={"tree": "HoeffdingTree(grace_period=50)", "bayes": "NaiveBayes"},
        schemes=("Bootstrap(3)",),
        measures=("accuracy", "Hoeffding(delta=0.01)"),
    )
    assert run_experiment(experiment, folder / "found", n_jobs=1).complete
    return folder / "found"


def test_the_runs_of_an_experiment_are_repeated_except_samples(store):
    outcomes: dict[str, Any] = {}
    for folder in sorted((store / "runs").iterdir()):
        name = cast("dict[str, str]", sg.load(folder).description["stream"])["name"]
        try:
            outcomes[name] = sg.rerun(folder).same
        except StreamgaugeError as error:
            outcomes[name] = str(error).partition("its rows were a sample")[2].partition(";")[2]
    assert outcomes == {
        "generated": True,
        "file": True,
        "drawn": " run the experiment again with 'streamgauge run FILE --again'",
    }


def test_a_store_is_refused_with_what_to_do(store):
    with pytest.raises(StreamgaugeError, match="store of many runs: repeat one of them"):
        invoke("rerun", str(store))


class Fails:
    """A learner that fails."""

    def predict(self, x):
        return np.zeros(len(x), dtype=int)

    def learn(self, x, y):
        pass


def flip_bit(folder, position=5):
    """Change the last bit of one reading."""
    table = pq.read_table(folder / "readings.parquet")
    values = table["value"].to_numpy().copy()
    values.view(np.int64)[position] ^= 1
    index = table.column_names.index("value")
    pq.write_table(table.set_column(index, "value", pa.array(values)), folder / "readings.parquet")
    edit_manifest(folder)
    return table.slice(position, 1).to_pylist()[0]


def test_one_bit_of_a_reading_is_reported(tmp_path):
    folder = sg.save(sg.evaluate(DRIFTING, PAIR, n_rows=1000, every=250, scheme=sg.Bootstrap(3)), tmp_path)
    changed = flip_bit(folder)
    outcome = sg.rerun(folder)
    assert not outcome.same
    (difference,) = outcome.differences
    where = f"accuracy of {changed['learner']} at row {changed['row']:,}, fold {changed['fold']}, Landmark(): "
    assert difference.startswith(where)
    assert f"{changed['value']!r} now (the only reading that differs)" in difference


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda m: m["pairs"][0]["only_first"].__setitem__(0, 1), "pairs[tree, bayes].only_first[0]: 1 then, "),
        (lambda m: m["verdicts"][0].update(difference=0.5), "verdicts[tree, bayes, accuracy].difference: 0.5 then, "),
        (lambda m: m["alarms"].pop(), "alarms: "),
        (lambda m: m["feedback"].update(n_revealed=3), "feedback.n_revealed: 3 then, 1500 now"),
    ],
    ids=["pairs", "verdicts", "alarms", "feedback"],
)
def test_a_changed_manifest_is_reported(tmp_path, change, expected):
    results = sg.evaluate(DRIFTING, PAIR, n_rows=1500, detectors=drift.DDM(warning=1.0, drift=1.5), every=500)
    assert results.alarms
    folder = sg.save(results, tmp_path)
    edit_manifest(folder, change)
    (difference,) = sg.rerun(folder).differences
    assert difference.startswith(expected)


def test_other_versions_and_machines_are_named(tmp_path):
    folder = sg.save(sg.evaluate(sg.SEA(n_rows=100), sg.NaiveBayes()), tmp_path)
    edit_manifest(folder, lambda m: (m["versions"].update(numpy="0.9"), m["machine"].update(platform="Multics")))
    outcome = sg.rerun(folder)
    assert outcome.same
    assert outcome.changes == (
        f"numpy: 0.9 then, {np.__version__} now",
        f"platform: Multics then, {sg.results.build_manifest(outcome.results)['machine']['platform']} now",
    )


def test_what_cannot_be_repeated_is_named(tmp_path):
    stream = sg.ArrayStream(np.arange(40.0).reshape(20, 2), np.arange(20) % 2)
    folder = sg.save(sg.evaluate(stream, {"mine": Fails(), "bayes": sg.NaiveBayes()}), tmp_path)
    with pytest.raises(StreamgaugeError, match=r"cannot be repeated from its manifest: stream: .*learner 'mine': "):
        sg.rerun(folder)


def test_results_of_an_earlier_version_are_refused(tmp_path):
    folder = sg.save(sg.evaluate(sg.SEA(n_rows=100), sg.NaiveBayes()), tmp_path)
    edit_manifest(folder, lambda m: m["description"].pop("call"))
    with pytest.raises(StreamgaugeError, match="earlier version"):
        sg.rerun(folder)


RUN = ("--learner", "HoeffdingTree(grace_period=60)", "--learner", "NaiveBayes", "--measure", "Hoeffding(delta=0.01)")


def test_the_command_has_an_exit_status_for_each_outcome(tmp_path):
    folder = tmp_path / "saved"
    *_, status = invoke("compare", "--stream", "SEA", "--rows", "2000", "--scheme", "Bootstrap(5)", *RUN, "--out",
                        str(folder))  # fmt: skip
    assert status == 0
    out, _, status = invoke("rerun", str(folder))
    assert status == 0
    assert out.startswith("The same bits: 2,000 readings, 1 pair and 1 verdict of 2,000 rows.")
    flip_bit(folder)
    out, _, status = invoke("rerun", str(folder))
    assert status == 1
    assert "hoeffding(0.01) of HoeffdingTree(grace_period=60) at row 10, fold 5" not in out
    assert "(the only reading that differs)" in out
    out, _, status = invoke("rerun", str(folder), "--json")
    assert (status, json.loads(out)["same"], len(json.loads(out)["differences"])) == (1, False, 1)


def test_the_command_refuses_what_it_cannot_repeat(tmp_path):
    folder = sg.save(sg.evaluate(sg.SEA(n_rows=50), {"mine": Fails()}), tmp_path / "saved")
    with pytest.raises(StreamgaugeError, match="learner 'mine': Fails"):
        invoke("rerun", str(folder))
    with pytest.raises(StreamgaugeError, match="holds no results"):
        invoke("rerun", str(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", ["journal", "checkpoint", "trust_checkpoint", "recorders"])
def test_a_manifest_cannot_say_where_to_write_or_what_to_trust(name, tmp_path):
    folder = sg.save(sg.evaluate(sg.SEA(n_rows=100), PAIR), tmp_path / "saved")
    edit_manifest(folder, lambda m: m["description"]["call"].update({name: str(tmp_path / "victim")}))
    with pytest.raises(StreamgaugeError, match=f"no run writes into it: {name}"):
        sg.rerun(folder)
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize(("name", "value"), [("learners", None), ("scheme", 5), ("measures", []), ("seed", 10**30)])
def test_a_damaged_call_is_refused(name, value, tmp_path):
    folder = sg.save(sg.evaluate(sg.SEA(n_rows=100), PAIR), tmp_path / "saved")
    edit_manifest(folder, lambda m: m["description"]["call"].update({name: value}))
    with pytest.raises(StreamgaugeError):
        sg.rerun(folder)


def test_a_log_does_not_replace_the_file_that_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    write(sg.SEA(n_rows=100), path)
    before = path.read_bytes()
    with pytest.raises(StreamgaugeError, match="is a file that the run reads"):
        sg.evaluate(File(path), sg.NaiveBayes(), log=path)
    assert path.read_bytes() == before


def test_a_moved_file_is_read_with_the_options_of_the_run(tmp_path):
    rows = "".join(f"{'xy'[i % 2]};2024-01-{1 + i // 10:02};{i % 7};{i % 3}\n" for i in range(200))
    path = tmp_path / "rows.csv"
    path.write_text("c;t;a;b\n" + rows)
    stream = sg.File(path, target="c", time="t", nominal=("b",), delimiter=";")
    folder = sg.save(
        sg.evaluate(stream, sg.NaiveBayes(), labelling=sg.labelling.DelayedByTime("2 days")), tmp_path / "run"
    )
    path.rename(tmp_path / "moved.csv")
    assert sg.rerun(folder, stream=str(tmp_path / "moved.csv")).same
    assert not sg.rerun(folder, stream=str(tmp_path / "moved.csv"), reading={"drop": ("b",)}).same
