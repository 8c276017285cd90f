"""Experiments: what a file says, what is wrong with it and where, and running what is missing."""

import time
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments import (
    READY,
    Experiment,
    SampleSource,
    Source,
    find_missing,
    get_ready_path,
    read,
    read_out_folder,
    run,
)
from streamgauge.experiments.toml_positions import find_lines
from streamgauge.schemes import Pretrained
from streamgauge.significance import LiveTest
from streamgauge.store import Filter, Store, store
from streamgauge.streams import Balance, File, open_test, sample

SMALL = """
name = "small"
rows = 1_000
seeds = [1, 2]
schemes = ["Bootstrap(2)"]
measures = ["accuracy", "kappa"]
learners = ["NaiveBayes", "NoChange"]

[streams]
sea = "SEA(seed={seed})"
boxes = "STAGGER"
"""


def written(folder: Path, text: str, name: str = "experiment.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def changed(tmp_path: Path, **edits: str) -> Experiment:
    text = SMALL
    for before, after in edits.items():
        line = next(line for line in SMALL.splitlines() if line.startswith(f"{before} = "))
        text = text.replace(line, after)
    return read(written(tmp_path, text))


def test_an_experiment_is_all_combinations(tmp_path):
    experiment = changed(tmp_path, schemes='schemes = ["Bootstrap(2)", "Prequential"]')
    jobs = list(experiment.list_jobs())
    assert len(jobs) == 2 * 2 * 2
    assert experiment.n_evaluations == 16
    assert len({job.make_condition().key for job in jobs}) == len(jobs)


@pytest.mark.parametrize("name", READY)
def test_every_ready_made_experiment_can_be_read(name):
    experiment = read(get_ready_path(name))
    assert experiment.name == name
    assert len(experiment.learners) >= 2


def test_the_ready_made_quick_benchmark_can_be_ranked(tmp_path):
    outcome = run(read(get_ready_path("quick"), rows=300), tmp_path, n_jobs=1)
    assert outcome.complete
    from streamgauge.significance import rank  # noqa: PLC0415

    assert len(rank(Store(tmp_path).results()).streams) == 6


def test_paths_start_at_the_folder_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.csv").write_text("a,b,kind\n" + "1.5,2,yes\n2.5,1,no\n" * 20)
    monkeypatch.chdir(tmp_path.parent)
    path = written(
        tmp_path,
        """
        out = "found"
        learners = ["NoChange"]
        [streams]
        path = "data/rows.csv"
        text = "File('data/rows.csv', target='kind')"
        table = { file = "data/rows.csv", drop = ["a"], rows = 10 }
        """,
    )
    assert read_out_folder(path) == tmp_path / "found"
    outcome = run(read(path), tmp_path / "found", n_jobs=1)
    assert outcome.n_finished == 3, outcome.failures
    rows = {row["stream"]: row["n_rows"] for row in Store(tmp_path / "found").finals()}
    assert rows == {"path": 40, "text": 40, "table": 10}


def test_notes_on_a_stream_are_shown_once_without_source_lines(tmp_path, capfd):
    written(tmp_path, "memo,a,kind\n" + "".join(f"text {i},{i},{'yn'[i % 2]}\n" for i in range(40)), "rows.csv")
    path = written(tmp_path, 'learners = ["NaiveBayes"]\nseeds = [1, 2]\nstreams = { own = { file = "rows.csv" } }\n')
    run(read(path), tmp_path / "found", n_jobs=1, progress=None)
    shown = capfd.readouterr().err
    assert shown.count("Note: own: column 'memo' is left out") == 1
    assert "StreamWarning" not in shown


def test_a_learner_and_a_stream_may_come_from_python(tmp_path):
    written(tmp_path, "import streamgauge as sg\n\n\ndef bayes():\n    return sg.NaiveBayes()\n", "own_models.py")
    written(tmp_path, "import streamgauge as sg\n\nrows = sg.SEA(n_rows=500)\n", "own_streams.py")
    path = written(
        tmp_path,
        """
        [learners]
        mine = { python = "own_models:bayes" }
        [streams]
        ours = { python = "own_streams:rows" }
        """,
    )
    outcome = run(read(path), tmp_path / "found", n_jobs=2)
    assert outcome.n_finished == 1, outcome.failures
    (found,) = Store(tmp_path / "found").results()
    assert (
        found.curve("mine", "accuracy")[-1] == sg.evaluate(sg.SEA(n_rows=500), sg.NaiveBayes()).values[-1, 0, :, 0, 0]
    )


VALUES = st.sampled_from(
    [
        "1",
        '"a # b"',
        "'a \\ b'",
        '"""\none\n\\"""two"""""',
        "'''\n[no]\n= '' # '''",
        "[1, 2]",
        '[\n  \'a\', # comment with ] and "\n  ["b", 3.5],\n]',
        "{ a = 1, b = [1, 2], 'c d' = { e = true } }",
        "1979-05-27 07:32:00",
        "-inf # trailing",
    ]
)


@given(
    st.lists(st.tuples(st.sampled_from(["plain", "'quoted = key'", "dotted.key"]), VALUES), max_size=6),
    st.integers(0, 3),
)
@settings(max_examples=60, deadline=None)
def test_the_line_of_every_key_is_known(pairs, n_blank):
    text, expected = "\n" * n_blank, {}
    for i, (key, value) in enumerate(pairs):
        text += "# a comment = [\n[[table]]\n"
        expected["table", i, key.strip("'").split(".")[0]] = text.count("\n") + 1
        text += f"{key} = {value}\n\n"
    found = find_lines(text)
    assert {place: found[place] for place in expected} == expected
    assert found == find_lines(text.replace("\n", "\r\n"))


def test_the_line_of_each_value_of_an_array_is_known():
    found = find_lines('a = [\n "x",\n\n "y", ["z",\n "w"]]\n[b.c]\nd = {e = [1,\n 2]}')
    assert [found["a", i] for i in range(3)] == [2, 4, 4]
    assert found["a", 2, 1] == 5
    assert (found["b", "c"], found["b", "c", "d", "e", 1]) == (6, 8)


FAULTS = [
    ('learners = ["HoefdingTree"]', "there is no learner 'HoefdingTree'; did you mean HoeffdingTree?"),
    ('learners = ["HoeffdingTree(grace=1)"]', "did you mean grace_period?"),
    ('learners = ["HoeffdingTree(grace_period=0)"]', "grace_period"),
    ("learners = [\n\n  3,\n]", "3 has no name", 2),
    ('learners = ["NoChange", "NoChange"]', "is listed twice"),
    ("learners = []", "there is no learner"),
    ('schemes = ["Bootstrp(2)"]', "did you mean Bootstrap?"),
    ('schemes = ["SEA"]', "it must be a scheme"),
    ('measures = ["accurac"]', "did you mean accuracy?"),
    ("seeds = [1, -2]", "-2 is not a whole number"),
    ("seeds = [1, 1]", "is listed twice"),
    ('rows = "many"', "it must be a whole number"),
    ("rows = 0", "at least 1"),
    ('name = "small"\nlearner = ["NoChange"]', "did you mean learners?", 1),
    ('name = "small"\nscore = "firs"', "did you mean first?", 1),
    ('name = "small"\nlabellings = ["Fractoin(0.5)"]', "did you mean Fraction?", 1),
    ('name = "small"\nforgettings = ["Windowed(100)"]', "did you mean Window?", 1),
    ('name = "small"\ndetectors = ["DDMM"]', "did you mean", 1),
    ('name = "small"\nlive_measures = ["kapa"]', "did you mean kappa?", 1),
    ('name = "small"\nbudgets = ["error is low"]', "it has no < or >", 1),
    ('name = "small"\nbudgets = ["error<0.05", "error<0.05"]', "is listed twice", 1),
    ('name = "small"\nresources = 1', "true or false", 1),
    ('name = "small"\nscore_unlabelled_start = "yes"', "true or false", 1),
    ('sea = "SAE(seed={seed})"', "did you mean SEA?"),
    ('sea = "electrcity"', "did you mean electricity?"),
    ('sea = "rows.csv"', "there is no file"),
    ('sea = { file = "rows.csv", headr = true }', "did you mean header?"),
    ('sea = { streams = "SEA" }', "did you mean stream?"),
    ('sea = { python = "no_such_module:thing" }', "cannot import no_such_module"),
    ('sea = { python = "streamgauge:SEAA" }', "did you mean SEA?"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault[0][:40])
def test_a_fault_is_reported_with_its_line(tmp_path, fault):
    line, reason, *below = fault
    place = next(i for i, old in enumerate(SMALL.splitlines()) if old.split(" = ")[0] == line.split(" = ")[0])
    lines = SMALL.splitlines()
    lines[place] = line
    path = written(tmp_path, "\n".join(lines))
    with pytest.raises(StreamgaugeError) as found:
        read(path)
    expected = 1 if "no learner" in reason and "did" not in reason else place + 1 + (below[0] if below else 0)
    assert str(found.value).startswith(f"{path}:{expected}: ")
    assert reason in str(found.value)
    assert len(str(found.value).splitlines()) == 1


def test_all_faults_are_reported_at_once(tmp_path):
    path = written(tmp_path, 'learners = ["Hoeffding"]\nrow = 1\nstreams = [\n"SEA",\n"SAE"]\n')
    with pytest.raises(StreamgaugeError) as found:
        read(path)
    lines = [line.removeprefix(f"{path}:").split(":")[0] for line in str(found.value).splitlines()]
    assert lines == ["1", "2", "4", "5"]  # SEA never ends, and there is no SAE


def test_what_is_not_toml_is_reported_with_its_line(tmp_path):
    with pytest.raises(StreamgaugeError, match=r"experiment.toml:2: this is not valid TOML"):
        read(written(tmp_path, 'name = "a"\nrows = = 3\n'))
    with pytest.raises(StreamgaugeError, match=r"cannot read .*none.toml: No such file"):
        read(tmp_path / "none.toml")


def test_an_endless_stream_needs_rows(tmp_path):
    with pytest.raises(StreamgaugeError, match=r"experiment.toml:1: SEA never ends"):
        read(written(tmp_path, 'streams = ["SEA"]\nlearners = ["NoChange"]'))


def test_rows_before_the_first_late_label_are_scored_if_the_file_says_so(tmp_path):
    late = {"measures": 'measures = ["accuracy"]\nlabellings = ["Delayed(400)"]', "seeds": "seeds = [1]"}
    # The label of row 0 comes 400 rows late, and no fold learns row 0, so rows 0 to 401 are left out.
    for option, n_scored in (("", 598), ("score_unlabelled_start = true\n", 1000)):
        folder = tmp_path / str(n_scored)
        experiment = changed(tmp_path, **late, rows=f"{option}rows = 1_000")
        run(experiment, folder, n_jobs=1)
        counts = [results.feedback.n_scored.tolist() for results in Store(folder).results() if results.feedback]
        assert counts == [[n_scored, n_scored]] * 2


def test_what_is_finished_is_not_run_again(tmp_path):
    experiment = changed(tmp_path)
    first = run(experiment, tmp_path / "found", n_jobs=1)
    assert (first.n_evaluations, first.n_finished, first.n_done) == (8, 8, 0)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "found" / "runs").rglob("*")}
    again = run(experiment, tmp_path / "found", n_jobs=1)
    assert (again.n_finished, again.n_done, again.complete) == (0, 8, True)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "found" / "runs").rglob("*")} == before
    assert find_missing(experiment, tmp_path / "found") == []
    assert run(experiment, tmp_path / "found", n_jobs=1, again=True).n_finished == 8


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_all_are_run_again_though_the_clock_was_set(tmp_path, monkeypatch, jump):
    experiment, clock = changed(tmp_path), time.time
    monkeypatch.setattr(time, "time", lambda: clock() + jump)
    monkeypatch.setattr(store, "datetime", moved(jump))
    assert run(experiment, tmp_path / "found", n_jobs=1).n_finished == 8
    monkeypatch.undo()
    assert run(experiment, tmp_path / "found", n_jobs=1, again=True).n_finished == 8
    assert run(experiment, tmp_path / "found", n_jobs=1).n_done == 8


def moved(seconds):
    """Return the class datetime with a clock that is a number of seconds ahead."""

    class Moved(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(seconds=seconds)

    return Moved


@pytest.mark.parametrize(
    ("edits", "n_run"),
    [
        ({"learners": 'learners = ["NaiveBayes", "NoChange", "MajorityClass"]'}, 4),
        ({"learners": 'learners = ["NaiveBayes", "MajorityClass(window=100)"]'}, 4),
        ({"learners": 'learners = ["NoChange"]'}, 0),
        ({"seeds": "seeds = [1, 2, 3]"}, 4),
        ({"measures": 'measures = ["kappa"]'}, 0),
        ({"measures": 'measures = ["kappa", "kappa_m"]'}, 8),
        ({"schemes": 'schemes = ["Bootstrap(k=2)"]'}, 0),  # the same, in other words
        ({"schemes": 'schemes = ["Bootstrap(3)", "Bootstrap(2)"]'}, 8),
        ({"sea": 'sea = "SEA(2, seed={seed})"'}, 4),
        ({"name": 'name = "other"'}, 0),
        ({"rows": "rows = 500"}, 8),
        ({"rows": 'rows = 1_000\nbudgets = ["error<0.4"]'}, 8),
        ({"rows": 'rows = 1_000\nlive_measures = ["kappa"]'}, 8),
    ],
)
def test_after_a_change_only_what_changed_is_run(tmp_path, edits, n_run):
    run(changed(tmp_path), tmp_path / "found", n_jobs=1)
    experiment = changed(tmp_path, **edits)
    assert sum(len(learners) for _, learners in find_missing(experiment, tmp_path / "found")) == n_run
    outcome = run(experiment, tmp_path / "found", n_jobs=1)
    assert (outcome.n_finished, outcome.complete) == (n_run, True)


def test_budgets_and_live_measures_of_a_file_are_those_of_its_runs(tmp_path):
    options = 'rows = 1_000\nbudgets = ["error<0.4", "beats majority"]\nlive_measures = ["kappa", "error"]'
    added = {"learners": 'learners = ["NaiveBayes", "NoChange", "MajorityClass"]'}
    run(changed(tmp_path, rows=options), tmp_path / "found", n_jobs=1)
    run(changed(tmp_path, rows=options, **added), tmp_path / "found", n_jobs=1)  # runs the third learner alone
    (results,) = Store(tmp_path / "found").results(Filter(stream=("sea",), seed=("1",)))
    judged = {(verdict.learner, verdict.requirement) for verdict in results.model_verdicts}
    assert judged == set(product(("NaiveBayes", "NoChange", "MajorityClass"), ("error<0.4", "beats majority")))
    alone = sg.evaluate(
        sg.SEA(seed=1, n_rows=1000),
        {"NaiveBayes": sg.NaiveBayes(), "NoChange": sg.NoChange()},
        scheme=sg.Bootstrap(2),
        measures=("accuracy", "kappa"),
        budgets=("error<0.4", "beats majority"),
        live_test=LiveTest(measure=("kappa", "error")),
    )
    for verdict in alone.model_verdicts:
        assert verdict in results.model_verdicts
    assert [(verdict.measure, verdict.outcome) for verdict in results.verdicts] == [
        (verdict.measure, verdict.outcome) for verdict in alone.verdicts
    ]


def test_a_budget_for_a_class_that_a_stream_does_not_have_is_refused(tmp_path):
    experiment = changed(tmp_path, rows='rows = 1_000\nbudgets = ["recall[fraud]>0.5"]')
    with pytest.raises(StreamgaugeError, match="fraud"):
        experiment.check_classes()


def test_a_file_that_changed_is_run_again(tmp_path):
    (tmp_path / "rows.csv").write_text("a,kind\n" + "1.5,yes\n2.5,no\n" * 20)
    path = written(tmp_path, 'learners = ["NoChange"]\nstreams = ["rows.csv"]')
    assert run(read(path), tmp_path / "found", n_jobs=1).n_finished == 1
    assert run(read(path), tmp_path / "found", n_jobs=1).n_finished == 0
    (tmp_path / "rows.csv").write_text("a,kind\n" + "1.5,yes\n2.5,no\n" * 21)
    assert run(read(path), tmp_path / "found", n_jobs=1).n_finished == 1


def test_learners_that_ran_at_different_times_are_put_together(tmp_path):
    three = 'learners = ["NaiveBayes", "NoChange", "MajorityClass"]'
    run(changed(tmp_path), tmp_path / "found", n_jobs=1)
    run(changed(tmp_path, learners=three), tmp_path / "found", n_jobs=1)
    run(changed(tmp_path, learners=three), tmp_path / "once", n_jobs=1)
    wanted = Filter(stream=("boxes",), seed=("1",))
    (apart,), (at_once,) = (list(Store(tmp_path / name).results(wanted)) for name in ("found", "once"))
    assert apart.learners == at_once.learners
    np.testing.assert_array_equal(apart.values, at_once.values)
    assert [{pair.first, pair.second} for pair in apart.pairs] == [{"NaiveBayes", "NoChange"}]
    again = run(changed(tmp_path, learners=three), tmp_path / "found", n_jobs=1, together=True)
    assert again.n_finished == 0  # nothing is missing
    run(changed(tmp_path, learners=three.replace("]", ', "Perceptron"]')), tmp_path / "found", n_jobs=1, together=True)
    (together,) = Store(tmp_path / "found").results(wanted)
    assert len(together.pairs) == 6


def test_a_learner_that_fails_is_reported_and_tried_again_while_the_others_go_on(tmp_path):
    written(
        tmp_path,
        "class Breaking:\n"
        "    def learn(self, x, y):\n        raise ValueError('too hot')\n"
        "    def predict(self, x):\n        return [0] * len(x)\n",
        "breaking_models.py",
    )
    text = '[learners]\nbroken = { python = "breaking_models:Breaking" }\nlast = "NoChange"\n'
    text += '[streams]\nsea = "SEA(n_rows=500)"'
    experiment = read(written(tmp_path, text))
    outcome = run(experiment, tmp_path / "found", n_jobs=1)
    assert (outcome.n_finished, outcome.n_failed, outcome.complete) == (1, 1, False)
    assert "too hot" in outcome.failures[0]
    store = Store(tmp_path / "found")
    assert {row["learner"] for row in store.finals()} == {"last"}
    assert [learners for _, learners in find_missing(experiment, tmp_path / "found")] == [["broken"]]
    again = run(experiment, tmp_path / "found", n_jobs=1)
    assert (again.n_done, again.n_failed) == (1, 1)
    assert [found.learners for found in store.results()] == [("last",)]


def test_a_stream_that_cannot_be_had_fails_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("STREAMGAUGE_DATA", str(tmp_path))
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
    streams = {"real": Source("gmsc"), "sea": Source("SEA(n_rows=100)")}
    outcome = run(Experiment("two", streams, {"last": "NoChange"}), tmp_path / "found", n_jobs=1)
    assert (outcome.n_finished, outcome.n_failed) == (1, 1)
    assert "gmsc" in outcome.failures[0]


@pytest.fixture
def rare(tmp_path):
    rng = np.random.default_rng(7)
    kind = rng.random(4000) < 0.2
    x = rng.normal(kind * 1.5, 1.0)
    lines = [
        f"{value:.4f},{'red' if value > 0 else 'blue'},{'yes' if one else 'no'}"
        for value, one in zip(x, kind, strict=True)
    ]
    return written(tmp_path, "x,colour,kind\n" + "\n".join(lines) + "\n", "rare.csv")


def test_a_grid_of_samples_is_every_balance_with_every_labelled_fraction(rare):
    text = """
        learners = ["NaiveBayes", "NoChange"]
        measures = ["accuracy", "g_mean"]
        [[samples]]
        file = "rare.csv"
        positive = "yes"
        training_positives = 100
        training_balance = 1.0
        test_balance = { from = 0.05, to = 0.2, factor = 2 }
        labelled = [0.1, 1.0]
    """
    experiment = read(written(rare.parent, text))
    assert experiment.n_evaluations == 3 * 2 * 2
    folder = rare.parent / "found"
    outcome = run(experiment, folder, n_jobs=1)
    assert outcome.complete, outcome.failures
    rows = Store(folder).finals(Filter(measure=("g_mean",), learner=("NaiveBayes",)))
    assert {(row["test_balance"], row["labelled"]) for row in rows} == {
        (balance, labelled) for balance in (0.05, 0.1, 0.2) for labelled in (0.1, 1.0)
    }
    drawn = sample(rare, rare.parent / "drawn", Balance(100, 1.0, 0.1, "yes"), labelled=0.1, seed=1, suffix="arff")
    stream, labelling = open_test(rare.parent / "drawn")
    scheme = Pretrained(File(str(drawn.training)), sg.Prequential())
    expected = sg.evaluate(stream, sg.NaiveBayes(), scheme=scheme, labelling=labelling, measures="g_mean")
    (row,) = [row for row in rows if (row["test_balance"], row["labelled"]) == (0.1, 0.1)]
    assert row["mean"] == expected.values[-1, 0, 0, 0, 0]
    assert run(experiment, folder, n_jobs=1).n_finished == 0


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("test_balance = [0.1, -1.0]", "test balance = -1.0"),
        ("labelled = 1.5", r"labelled = 1.5: it must be a number in \[0, 1\]"),
        ("test_balance = { from = 1, to = 0.1, step = 0.1 }", "a range needs from, a greater to"),
        ("test_balanc = 0.1", "did you mean test_balance?"),
        ('test_balance = "even"', "it must be a number"),
    ],
)
def test_a_fault_in_a_sample_is_reported_with_its_line(rare, line, reason):
    text = f'learners = ["NoChange"]\n[[samples]]\nfile = "rare.csv"\n{line}\n'
    with pytest.raises(StreamgaugeError, match=rf"experiment.toml:[24]: .*{reason}"):
        read(written(rare.parent, text))


def test_a_range_holds_its_ends():
    from streamgauge.experiments.toml_tables import Document  # noqa: PLC0415

    root = Document("a.toml", "a = {from = 0.1, to = 0.5, step = 0.1}\nb = {from = 0.001, to = 1, factor = 10}").root
    assert root.read_numbers("a") == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert root.read_numbers("b") == [0.001, 0.01, 0.1, 1.0]


def test_an_experiment_without_work_is_refused():
    with pytest.raises(StreamgaugeError, match="no stream"):
        Experiment("none", {}, {"last": "NoChange"})
    with pytest.raises(StreamgaugeError, match="no learner"):
        Experiment("none", {}, {}, samples=(SampleSource("a", "a.csv"),))


def test_checkpoints_of_a_process_that_was_killed_after_its_run_are_removed(tmp_path):
    experiment = Experiment("small", {"sea": Source("SEA", rows=100)}, {"last": "NoChange"})
    run(experiment, tmp_path, n_jobs=1)
    (folder,) = (tmp_path / "runs").iterdir()
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "progress.log").write_text("")
    assert run(experiment, tmp_path, n_jobs=1).n_done == 1
    assert not (folder / "checkpoints").exists()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"rows = {10**30}", f"rows = {10**30}: it must be below 2**64"),
        (f"seeds = [{2**64}]", f"seeds: {2**64} is not below 2**64"),
        ("\n" + ".".join(["a"] * 50_000) + " = 1", ":3: a key has more than 50 parts"),
        ("[" + " . ".join(["'a b'", '"c"', "d"] * 5_000) + "]", "a key has more than 50 parts"),
        ("deep = " + "[" * 5_000 + "]" * 5_000, "is not valid TOML: its values are nested too deeply"),
        (f"[[samples]]\nfile = '{'a' * 300}.csv'", "there is no file"),
        ("[[samples]]\nfile = 'rows.csv'\ntest_balance = []", "the experiment has no stream"),
        (f"[streams.long]\nfile = '{'a' * 300}.csv'", "there is no stream"),
    ],
)
def test_values_out_of_proportion_are_refused_by_line(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(f'learners = ["NaiveBayes"]\n{line}\n')
    with pytest.raises(StreamgaugeError) as refusal:
        read(path)
    assert problem in str(refusal.value)
    assert all("odd.toml" in text for text in str(refusal.value).splitlines())


def test_the_lines_of_a_long_file_are_found_at_once(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    seeds = ",\n".join(map(str, range(20_000)))
    path.write_text(f'streams = ["SEA"]\nlearners = ["NaiveBayes"]\nrows = 10\nseeds = [{seeds},\n"x"]')
    started = time.process_time()
    with pytest.raises(StreamgaugeError, match=r"long\.toml:20004: seeds: 'x' is not a whole number"):
        read(path)
    assert time.process_time() - started < 10.0  # it took minutes
