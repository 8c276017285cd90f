"""Shuffling of files: the same rows, another order, whatever the size."""

import sys
from collections import Counter

import pytest
from scipy.stats import chisquare

from streamgauge.errors import StreamgaugeError
from streamgauge.streams import File, shuffle


def lines_of(path):
    return path.read_text().splitlines()


def test_rows_keep_their_text_and_the_header_stays(tmp_path):
    header = "% about\n@relation r\n@attribute a numeric\n@attribute 'b c' {'x y',z}\n@attribute class {0,1}\n@data\n"
    rows = [f"{i} , 'x y',{i % 2}" for i in range(1000)] + ["1.50,z,?", "2,'x y',1,{0.5}"]
    text = header + "\n".join([*rows[:500], "% note", "", *rows[500:]])
    (tmp_path / "a.arff").write_text(text)
    assert shuffle(tmp_path / "a.arff", tmp_path / "b.arff", seed=1) == 1002
    found = (tmp_path / "b.arff").read_text()
    assert found.startswith(header)
    after = found[len(header) :].splitlines()
    assert sorted(after) == sorted(rows)
    assert after != rows
    assert File(tmp_path / "b.arff").n_rows == 1002


def test_the_seed_decides_the_order(tmp_path):
    (tmp_path / "a.csv").write_text("a,class\n" + "".join(f"{i},{i % 2}\n" for i in range(200)))
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        shuffle(tmp_path / "a.csv", tmp_path / f"{name}.csv", seed=seed)
    assert lines_of(tmp_path / "one.csv") == lines_of(tmp_path / "again.csv")
    assert lines_of(tmp_path / "one.csv") != lines_of(tmp_path / "other.csv")


def test_every_order_is_equally_likely(tmp_path):
    (tmp_path / "a.csv").write_text("a,class\n1,x\n2,x\n3,x\n")
    orders: Counter[str] = Counter()
    for seed in range(600):
        shuffle(tmp_path / "a.csv", tmp_path / "b.csv", seed=seed)
        orders[(tmp_path / "b.csv").read_text()] += 1
    assert len(orders) == 6
    assert chisquare(list(orders.values())).pvalue > 1e-3


def test_files_larger_than_memory_are_shuffled_in_parts(tmp_path, monkeypatch):
    module = sys.modules["streamgauge.streams.shuffle"]
    monkeypatch.setattr(module, "_MAX_BYTES_IN_MEMORY", 100)
    monkeypatch.setattr(module, "_MAX_BYTES_SPOOLED", 50)
    rows = [f"{i},{i % 3}" for i in range(5000)]
    (tmp_path / "a.csv").write_text("\n".join(["a,class", *rows]))
    assert shuffle(tmp_path / "a.csv", tmp_path / "b.csv.gz", seed=1) == 5000
    found = [int(batch) for batch in next(File(tmp_path / "b.csv.gz").batches(5000)).x[:, 0]]
    assert sorted(found) == list(range(5000))
    halves = sum(row < 2500 for row in found[:2500])
    assert 1100 < halves < 1400


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,class\n1,x\n1,2,x\n", "line 3: .*3 values where 2 are expected"),
        ('a,class\n1,"x\ny"\n', "quote is not closed"),
    ],
)
def test_what_is_no_row_is_reported_and_nothing_is_written(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(StreamgaugeError, match=message):
        shuffle(tmp_path / "a.csv", tmp_path / "b.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_other_formats_are_to_be_converted_first(tmp_path):
    (tmp_path / "a.csv").write_text("a,class\n1,x\n")
    with pytest.raises(StreamgaugeError, match="convert it first"):
        shuffle(tmp_path / "a.csv", tmp_path / "b.arff")
    (tmp_path / "s.arff").write_text("@relation r\n@attribute a numeric\n@attribute class {0,1}\n@data\n{0 1, 1 1}\n")
    with pytest.raises(StreamgaugeError, match="sparse"):
        shuffle(tmp_path / "s.arff", tmp_path / "b.arff")
