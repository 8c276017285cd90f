"""Sampling: STUFFED's counts, exact and fair selections, hidden labels, index files and recipes."""

import json
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from streamgauge import NoChange, _native, evaluate, save
from streamgauge.errors import StreamgaugeError
from streamgauge.records import NEVER, Batch
from streamgauge.records.checksums import seal_json
from streamgauge.streams import Balance, Distribution, File, convert, open_test, read_index, repeat, sample
from streamgauge.streams.sampling.sample_plan import plan_sample

HEADER = "@relation D\n@attribute a numeric\n@attribute 'b c' {x,'y z'}\n@attribute class {0,1}\n@data\n"


def arff(tmp_path, n=1500, name="all.arff", every=3):
    """A file in which each third row is positive and the first attribute is the row's number."""
    rows = [f"{i},{('x', chr(39) + 'y z' + chr(39))[i % 2]},{int(i % every == 0)}" for i in range(n)]
    (tmp_path / name).write_text(HEADER + "\n".join(rows) + "\n")
    return tmp_path / name


def numbers(path, **options):
    """The numbers of the rows of a file, and their labels."""
    batches = list(File(path, **options).batches(1000))
    return np.concatenate([b.x[:, 0] for b in batches]).astype(int), np.concatenate([b.y for b in batches])


# Counts


def test_the_example_of_the_manual():
    found = plan_sample(Balance(50, 0.5, 0.4), {"-": 1000, "+": 500}, labelled=1.0)
    assert [(group.training, group.test) for group in found.groups] == [(50, 360), (100, 900)]
    assert found.labelled == 1260


def manual_counts(positives, negatives, training, training_balance, test_balance):
    """Lines 6 to 12 of Algorithm 1 of the manual, with rounding to the nearest."""
    near = lambda value: int(value + Fraction(1, 2))  # noqa: E731
    training_negatives = near(training / training_balance)
    test_positives = positives - training
    test_negatives = near(test_positives / test_balance)
    if test_negatives > negatives - training_negatives:
        test_negatives = negatives - training_negatives
        test_positives = near(test_negatives * test_balance)
    return (training, test_positives), (training_negatives, test_negatives)


@given(
    st.integers(1, 5000),
    st.integers(1, 5000),
    st.integers(1, 300),
    st.integers(1, 2000).map(lambda thousandths: thousandths / 1000),
    st.integers(1, 2000).map(lambda thousandths: thousandths / 1000),
)
def test_counts_follow_the_formulas_of_the_manual(positives, negatives, training, training_balance, test_balance):
    balances = Fraction(repr(training_balance)), Fraction(repr(test_balance))
    try:
        found = plan_sample(
            Balance(training, training_balance, test_balance, positive="+"),
            {"+": positives, "-": negatives},
            labelled=0.5,
        )
    except StreamgaugeError as error:
        assert any(word in str(error) for word in ("are left", "the input has", "leaves"))  # noqa: PT017
        return
    expected = manual_counts(positives, negatives, training, *balances)
    assert tuple((group.training, group.test) for group in found.groups) == expected
    for group in found.groups:
        assert group.training + group.test <= group.rows
        assert group.test > 0


@given(
    st.lists(st.integers(1, 1000), min_size=2, max_size=5),
    st.integers(0, 100),
    st.lists(st.integers(1, 10), min_size=5, max_size=5),
)
def test_a_distribution_is_met_as_nearly_as_whole_rows_allow(counts, n_training, shares):
    classes = {str(i): count for i, count in enumerate(counts)}
    wanted = {name: float(share) for name, share in zip(classes, shares, strict=False)}
    assume(n_training < sum(counts))
    try:
        found = plan_sample(Distribution(n_training, test=wanted), classes, labelled=1.0)
    except StreamgaugeError:
        return
    assert found.n_training == n_training
    test = np.array([group.test for group in found.groups])
    left = np.array(counts) - [group.training for group in found.groups]
    share = np.array(shares[: len(counts)]) / sum(shares[: len(counts)])
    assert (test <= left).all()
    assert (np.abs(test - share * min(left / share)) <= 0.5 + 1e-9).all()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Balance(600), "600 training positives requested, but the input has 500"),
        (
            Balance(50, 0.01),
            "need 5,000 negatives, but the input has 1,000: take at most 10 positives, .* at least 0.05",
        ),
        (Balance(500, 0.5), "nothing is left"),
        (Balance(500, 1.0, 0.5), "leaves 0 positives and 500 negatives"),
        (Balance(0, test=0.0001), "needs 10,000 negatives for a positive, but 1,000 are left; at least 0.001 is"),
        (Balance(0, positive="2"), "there is no class '2'"),
        (Distribution(1000, {"0": 1, "1": 9}), "need 900 of class '1', but the input has 500: take at most 555 rows"),
        (Distribution(10, {"2": 1.0}), "there is no class '2'"),
    ],
)
def test_what_cannot_be_had_is_reported_with_what_can(wanted, message):
    with pytest.raises(StreamgaugeError, match=message):
        plan_sample(wanted, {"0": 1000, "1": 500}, labelled=1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Balance(-1), "training_positives"),
        (lambda: Balance(1, 0.0), "training balance"),
        (lambda: Balance(0, 0.5), "without training positives"),
        (lambda: Distribution(0, {"a": 1.0}), "without training rows"),
        (lambda: Distribution(1, {"a": 0.0}), "all 0"),
        (lambda: Distribution(0, test={"a": 0.5, "b": 0.6}), "the test shares add up to 1.1, more than 1"),
        (lambda: plan_sample(Balance(1), {"0": 9, "1": 9}, labelled=1.5), "labelled"),
        (lambda: plan_sample(Balance(1), {"0": 9, "1": 9, "2": 9}, labelled=1.0), "name the positive one"),
    ],
)
def test_options_that_make_no_sense_are_refused(make, message):
    with pytest.raises(StreamgaugeError, match=message):
        make()


# Selections


def test_every_subset_is_equally_likely():
    rows = np.array([0, 1, 0, -1, 0, 1, 0], dtype=np.int32)  # four of one group, two of another, one without a label
    outcomes: Counter[tuple[int, ...]] = Counter()
    for seed in range(20_000):
        selection = _native.Selection([(4, 1, 2), (2, 0, 1)], 1, seed)
        outcomes[tuple(selection.update(rows))] += 1
    # 4 training rows, 3 pairs of test rows, 2 of the other group, and which of the 3 test rows keeps its label.
    assert len(outcomes) == 4 * len(list(combinations(range(3), 2))) * 2 * 3
    assert chisquare(list(outcomes.values())).pvalue > 1e-3
    assert all(outcome[3] == 0 for outcome in outcomes)


def test_sets_are_disjoint_in_order_and_of_the_exact_size(tmp_path):
    drawn = sample(arff(tmp_path), tmp_path / "s", Balance(50, 0.5, 0.4), labelled=0.1)
    training, y_training = numbers(drawn.training)
    test, y_test = numbers(drawn.test)
    assert np.bincount(y_training).tolist() == [100, 50]
    assert (np.bincount(test % 3 == 0).tolist(), (y_test >= 0).sum()) == ([900, 360], 126)
    assert (np.diff(training) > 0).all()
    assert (np.diff(test) > 0).all()
    assert not set(training) & set(test)
    assert (y_training == (training % 3 == 0)).all()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path):
    path = arff(tmp_path)
    one, two, other = (sample(path, tmp_path / name, Balance(50, 0.5, 0.4), labelled=0.5, seed=seed)
                       for name, seed in (("one", 1), ("two", 1), ("other", 2)))  # fmt: skip
    for name in ("training", "test", "truth", "recipe"):
        assert getattr(one, name).read_bytes() == getattr(two, name).read_bytes()
        assert getattr(one, name).read_bytes() != getattr(other, name).read_bytes()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "tsv.gz", "arff.zst"])
def test_lines_and_rows_are_sampled_alike(tmp_path, suffix):
    path = arff(tmp_path)
    as_lines = sample(path, tmp_path / "lines", Balance(50, 0.5, 0.4), labelled=0.3, seed=9)
    as_rows = sample(path, tmp_path / "rows", Balance(50, 0.5, 0.4), labelled=0.3, seed=9, suffix=suffix)
    for name in ("training", "test"):
        for one, other in zip(numbers(getattr(as_lines, name)), numbers(getattr(as_rows, name)), strict=True):
            np.testing.assert_array_equal(one, other)
    assert as_lines.truth is not None and as_rows.truth is not None  # noqa: PT018
    assert as_lines.truth.read_bytes() == as_rows.truth.read_bytes()


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_csv_is_sampled_as_its_rows_are(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("csv")
    place = data.draw(st.integers(0, 2))
    quoted = data.draw(st.booleans())
    labels = data.draw(st.lists(st.sampled_from(["u", "d, e", 'f"g', "?"]), min_size=12, max_size=40))
    assume(len(set(labels) - {"?"}) >= 2)
    lines = ["class,i,t" if place == 0 else "i,class,t" if place == 1 else "i,t,class"]
    for i, label in enumerate(labels):
        text = '"' + label.replace('"', '""') + '"' if quoted or label not in {"u", "?"} else label
        fields = [str(i), ' "x, y" ']
        fields.insert(place, text)
        lines.append(",".join(fields))
    (folder / "a.csv").write_text("\n".join(lines), newline=data.draw(st.sampled_from(["\n", "\r\n"])))
    file = File(folder / "a.csv", target="class", header=True)
    drawn = sample(file, folder / "s", Distribution(0), labelled=0.5, seed=data.draw(st.integers(0, 100)))
    stream, labelling = open_test(folder / "s")
    (batch,) = stream.batches(100)
    known = [(i, label) for i, label in enumerate(labels) if label != "?"]
    assert [(int(i), stream.schema.classes[y]) for i, y in zip(batch.x[:, 0], batch.y, strict=True)] == known
    assert len(labelling.rows) == len(known) - drawn.plan.labelled


# Hidden labels


def test_hidden_labels_are_restored_for_scoring_and_hidden_from_learning(tmp_path):
    sample(arff(tmp_path), tmp_path / "s", Balance(50, 0.5, 0.4), labelled=0.1)
    stream, labelling = open_test(tmp_path / "s")
    hidden = 0
    for size, start in ((7, 0), (1000, 130)):
        for batch in stream.batches(size, start):
            assert (batch.y == (batch.x[:, 0].astype(int) % 3 == 0)).all()
            hidden += len(hidden_rows(labelling, batch)) if size == 7 else 0
    assert hidden == 1260 - 126


def hidden_rows(labelling, batch):
    arrivals = labelling.arrivals(batch, 1)
    return [] if arrivals is None else np.flatnonzero(arrivals.row == NEVER)


def test_only_the_hidden_rows_of_a_batch_are_hidden():
    batch = Batch(10, np.zeros((3, 1)), np.zeros(3, dtype=np.int32))
    hidden_labels = sys.modules["streamgauge.streams.sampling"].HiddenLabels
    assert hidden_labels(np.array([9, 10, 99])).arrivals(batch, 1).row.tolist() == [NEVER, 11, 12]
    assert hidden_labels(np.array([9, 99])).arrivals(batch, 1) is None


def test_without_hidden_labels_there_is_no_truth(tmp_path):
    path = arff(tmp_path)
    assert sample(path, tmp_path / "s", Balance(50), labelled=0.5).truth is not None
    drawn = sample(path, tmp_path / "s", Balance(0))
    assert (drawn.truth, drawn.training) == (None, None)
    assert {path.name for path in (tmp_path / "s").iterdir()} == {"test.arff", "recipe.json"}
    assert len(open_test(tmp_path / "s")[1].rows) == 0


def test_rows_without_a_label_are_left_out(tmp_path):
    path = arff(tmp_path, n=9)
    path.write_text(path.read_text().replace("4,x,0", "4,x,?"))
    drawn = sample(path, tmp_path / "s", Balance(0))
    assert numbers(drawn.test)[0].tolist() == [0, 1, 2, 3, 5, 6, 7, 8]


# What is kept


@pytest.mark.parametrize("suffix", ["arff", "csv", "parquet"])
def test_only_wanted_features_are_kept(tmp_path, suffix):
    drawn = sample(arff(tmp_path), tmp_path / "s", Balance(50), features=("b c",), labelled=0.5, suffix=suffix)
    schema = open_test(tmp_path / "s")[0].schema
    assert [attribute.name for attribute in schema.attributes] == ["b c"]
    assert sum(len(batch) for batch in File(drawn.test).batches(100)) == 1350


def test_weights_comments_and_compression_are_minded(tmp_path):
    text = HEADER + "1,x,0,{0.5}\n% note\n2,'y z',1,{2}\n\n3,x,0\n4,'y z',1\n"
    (tmp_path / "w.arff").write_text(text)
    convert(tmp_path / "w.arff", tmp_path / "w.arff.gz")
    for name, suffix in (("w.arff", None), ("w.arff.gz", None), ("w.arff", "parquet")):
        drawn = sample(tmp_path / name, tmp_path / "s", Balance(0), suffix=suffix)
        stream, _ = open_test(tmp_path / "s")
        (batch,) = stream.batches(10)
        assert batch.weight is not None
        assert batch.weight.tolist() == [0.5, 2.0, 1.0, 1.0]
    assert drawn.test.suffix == ".parquet"


def test_csv_without_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("".join(f"{i};{i % 2}\n" for i in range(100)))
    drawn = sample(tmp_path / "a.csv", tmp_path / "s", Balance(10, 1.0), labelled=0.5)
    assert drawn.training is not None
    assert len(drawn.training.read_text().splitlines()) == 20
    assert sum(len(batch) for batch in open_test(tmp_path / "s")[0].batches(33)) == 80


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\nx,y\nx,z\n", "may name the columns or be a row"),
        ("1,2,name\n3,4,x\n5,6,y\n5,6,y\n", "may name the columns or be a row"),
        ("a,class\n1,x\n2\n", "line 3: .* has 1 values where 2 are expected"),
        ('a,class\n1,"x\n2,y\n', "line 2, column 2: the quote is not closed"),
    ],
)
def test_csv_that_cannot_be_read_right_is_reported(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(StreamgaugeError, match=message):
        sample(tmp_path / "a.csv", tmp_path / "s", Distribution(0))
    assert not (tmp_path / "s").exists()


def test_an_undeclared_class_is_reported_with_its_line(tmp_path):
    path = arff(tmp_path, n=20)
    path.write_text(path.read_text().replace("7,'y z',0", "7,'y z',2"))
    with pytest.raises(StreamgaugeError, match=r"all.arff, line 13, column 3 \(class\): '2' is not one of the classes"):
        sample(path, tmp_path / "s", Balance(1))


def test_sparse_arff_is_sampled_by_its_rows(tmp_path):
    rows = "".join(f"{{0 {i}, 2 {i % 2}}}\n" for i in range(1, 41))
    (tmp_path / "s.arff").write_text(HEADER + rows)
    drawn = sample(tmp_path / "s.arff", tmp_path / "s", Balance(5, 1.0), labelled=0.5)
    assert drawn.plan.n_test == 30
    assert open_test(tmp_path / "s")[0].n_rows == 30


# Index files and recipes


def counting_is_forbidden(monkeypatch):
    def forbidden(*_):
        message = "the first pass was made"
        raise AssertionError(message)

    monkeypatch.setattr(sys.modules["streamgauge.streams.sampling.sample_lines"], "count_rows", forbidden)


def test_index_files_save_the_first_pass(tmp_path, monkeypatch):
    path = arff(tmp_path)
    first = sample(path, tmp_path / "one", Balance(50, 0.5, 0.4), index=tmp_path / "index")
    files = sorted(file for file in (tmp_path / "index").iterdir() if file.suffix == ".arff")
    assert [read_index(file).tolist() for file in files] == [
        [i for i in range(1500) if i % 3],
        list(range(0, 1500, 3)),
    ]
    assert files[1].read_text().splitlines()[-1] == "1498,1497,'y z',1"
    counting_is_forbidden(monkeypatch)
    second = sample(path, tmp_path / "two", Balance(50, 0.5, 0.4), index=tmp_path / "index")
    assert first.test.read_bytes() == second.test.read_bytes()


def test_index_files_of_stuffed_are_read(tmp_path, monkeypatch):
    # Listings 5 to 7 of the manual: the file, and its positive and negative rows with their numbers.
    numeric = "".join(f"@attribute {name} numeric\n" for name in "abc")
    head = f"@relation D\n{{}}{numeric}@attribute class {{{{0,1}}}}\n@data\n"
    rows = ["13,10,2,1", "24,12,2,0", "61,21,3,1", "18,12,2,0", "26,11,2,1"]
    (tmp_path / "D.arff").write_text(head.format("") + "\n".join(rows))
    (tmp_path / "index").mkdir()
    for name, label in (("positive", "1"), ("negative", "0")):
        indexed = [f"{i},{row}" for i, row in enumerate(rows, 1) if row.endswith(label)]
        text = head.format("@attribute index numeric\n") + "\n".join(indexed)
        (tmp_path / "index" / f"{name}.arff").write_text(text)
    assert read_index(tmp_path / "index" / "positive.arff").tolist() == [0, 2, 4]
    counting_is_forbidden(monkeypatch)
    drawn = sample(tmp_path / "D.arff", tmp_path / "s", Balance(1, 1.0), index=tmp_path / "index")
    assert [group.rows for group in drawn.plan.groups] == [2, 3]
    (tmp_path / "D.arff").write_text(head.format("") + "\n".join(rows[:4]))
    with pytest.raises(StreamgaugeError, match=r"has 2 rows, but 3 were counted before: the input has changed"):
        sample(tmp_path / "D.arff", tmp_path / "s2", Balance(1, 1.0), index=tmp_path / "index")


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_csv_has_index_files_too(tmp_path, monkeypatch, suffix):
    convert(arff(tmp_path), tmp_path / f"a.{suffix}")
    first = sample(tmp_path / f"a.{suffix}", tmp_path / "one", Balance(9), index=tmp_path / "index", seed=4)
    counting_is_forbidden(monkeypatch)
    (tmp_path / "index" / "a.index.json").unlink()
    second = sample(tmp_path / f"a.{suffix}", tmp_path / "two", Balance(9), index=tmp_path / "index", seed=4)
    assert first.test.read_bytes() == second.test.read_bytes()


def test_index_files_of_another_file_are_refused(tmp_path):
    path = arff(tmp_path)
    sample(path, tmp_path / "one", Balance(50), index=tmp_path / "index")
    path.write_text(path.read_text().replace("1234,x,0", "4321,x,0"))
    with pytest.raises(StreamgaugeError, match="has changed: its fingerprint is"):
        sample(path, tmp_path / "two", Balance(50), index=tmp_path / "index")
    assert list((tmp_path / "two").iterdir()) == []


def test_index_files_of_a_run_that_was_killed_are_written_again(tmp_path):
    path = arff(tmp_path)
    first = sample(path, tmp_path / "one", Balance(50), index=tmp_path / "index", seed=4)
    whole = {file.name: file.read_bytes() for file in (tmp_path / "index").iterdir()}
    (note,) = (tmp_path / "index").glob("*.json")
    sorted((tmp_path / "index").glob("*.arff"))[0].unlink()
    note.write_text(seal_json({"complete": False}))
    second = sample(path, tmp_path / "two", Balance(50), index=tmp_path / "index", seed=4)
    assert second.training is not None
    assert first.training is not None
    assert second.training.read_bytes() == first.training.read_bytes()
    assert {file.name: file.read_bytes() for file in (tmp_path / "index").iterdir()} == whole


def test_index_files_are_for_text_only(tmp_path):
    with pytest.raises(StreamgaugeError, match="arff to parquet"):
        sample(arff(tmp_path), tmp_path / "s", Balance(1), suffix="parquet", index=tmp_path / "index")


@pytest.mark.parametrize("suffix", ["arff", "csv.gz", "parquet"])
def test_a_recipe_repeats_a_sample_to_the_last_byte(tmp_path, suffix):
    path = arff(tmp_path)
    options = {"labelled": 0.2, "features": (0,), "seed": 8, "suffix": suffix}
    first = sample(path, tmp_path / "one", Distribution(30, {"0": 0.2, "1": 0.8}, {"0": 1, "1": 1}), **options)
    path.rename(tmp_path / "moved.arff")
    second = repeat(first.recipe, tmp_path / "two", source=tmp_path / "moved.arff")
    assert first.plan == second.plan
    for name in ("training", "test", "truth"):
        assert getattr(first, name).read_bytes() == getattr(second, name).read_bytes()


@pytest.mark.parametrize("suffix", ["arff", "parquet"])
def test_a_recipe_refuses_another_input(tmp_path, suffix):
    path = arff(tmp_path)
    first = sample(path, tmp_path / "one", Balance(50), suffix=suffix)
    path.write_text(path.read_text().replace("1234,x,0", "4321,x,0"))
    with pytest.raises(StreamgaugeError, match="has changed"):
        repeat(first.recipe, tmp_path / "two")
    assert not (tmp_path / "two").exists() or not list((tmp_path / "two").iterdir())


@pytest.mark.parametrize("text", ["", "{}", '{"wanted": {"kind": "balance"}}', "[]"])
def test_what_is_no_recipe_is_reported(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(StreamgaugeError, match="is not a recipe of a sample"):
        repeat(tmp_path / "r.json", tmp_path / "s")
    with pytest.raises(StreamgaugeError, match="cannot read the recipe"):
        repeat(tmp_path / "none.json", tmp_path / "s")


def test_a_recipe_says_what_was_drawn(tmp_path):
    drawn = sample(arff(tmp_path), tmp_path / "s", Balance(50, 0.5, 0.4), labelled=0.1, seed=5)
    recipe = json.loads(drawn.recipe.read_text())
    assert recipe["drawn"] == {
        "training": {"'1'": 50, "the rest": 100},
        "test": {"'1'": 360, "the rest": 900},
        "labelled": 126,
    }
    assert recipe["input"]["fingerprint"].startswith("xxh3:")
    assert recipe["seed"] == 5


def test_a_sampled_test_set_is_scored_whole_though_few_of_its_labels_are_learnt(tmp_path):
    sample(arff(tmp_path), tmp_path / "s", Balance(20, 0.5, 0.4), labelled=0.1, seed=2)
    stream, labelling = open_test(tmp_path / "s")
    results = evaluate(stream, NoChange(), labelling=labelling)
    truth = np.concatenate([batch.y for batch in stream.batches(100)])
    seen = truth.copy()
    seen[labelling.rows] = -1
    last, hits = -1, 0
    for true, label in zip(truth, seen, strict=True):
        hits += last == true
        last = label if label >= 0 else last
    assert results.values[-1, 0, 0, 0, 0] == pytest.approx(hits / len(truth))
    assert save(results, tmp_path / "results").is_dir()
