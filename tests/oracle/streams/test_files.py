"""Readers of files against scikit-learn and SciPy."""

import numpy as np
import pandas as pd
from scipy.io import arff
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from streamgauge.protocols import Stream
from streamgauge.records import Batch
from streamgauge.streams import File


def whole(stream: Stream, size: int = 1000, start: int = 0) -> Batch:
    batches = list(stream.batches(size, start))
    weights = [b.weight if b.weight is not None else np.ones(len(b)) for b in batches]
    return Batch(
        start,
        np.concatenate([b.x for b in batches]),
        np.concatenate([b.y for b in batches]),
        np.concatenate(weights),
    )


def example_table(n: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "whole": rng.integers(-1000, 1000, n),
            "colour": rng.choice(["red", "green", "dark blue"], n),
            "label": rng.choice([1, 2, 3], n),
        }
    )
    table.loc[::7, "number"] = np.nan
    return table


def arff_text(table: pd.DataFrame) -> bytes:
    header = "@relation example\n@attribute number real\n@attribute whole integer\n"
    header += "@attribute colour {'dark blue', green, red}\n@attribute label {1,2,3}\n@data\n"
    rows = table.assign(colour=table["colour"].map(lambda c: f"'{c}'" if " " in c else c))
    text: str = rows.to_csv(index=False, header=False, na_rep="?")
    return (header + text).encode()


def test_libsvm_agrees_with_scikit_learn(tmp_path):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 12)) * (rng.random((200, 12)) < 0.3)
    x[0, -1] = 1.0
    y = rng.choice([-1, 1], 200)
    for zero_based in (False, True):
        path = tmp_path / f"example{zero_based}.svm"
        dump_svmlight_file(x, y, str(path), zero_based=zero_based, comment="made for a test")
        stream = File(path)
        expected, _ = load_svmlight_file(str(path))
        batch = whole(stream, 13)
        np.testing.assert_array_equal(batch.x, expected.toarray())
        assert stream.schema.classes == ("-1", "1")
        np.testing.assert_array_equal(np.array([-1, 1])[batch.y], y)
        assert [a.name for a in stream.schema.attributes][:2] == (["x0", "x1"] if zero_based else ["x1", "x2"])


def test_arff_agrees_with_scipy(tmp_path):
    path = tmp_path / "example.arff"
    path.write_bytes(arff_text(example_table()).replace(b"'dark blue'", b"dark"))
    rows, meta = arff.loadarff(str(path))
    stream = File(path)
    batch = whole(stream)
    np.testing.assert_array_equal(batch.x[:, 0], rows["number"])
    np.testing.assert_array_equal(batch.x[:, 1], rows["whole"])
    values = stream.schema.attributes[2].values or ()
    assert values == meta["colour"][1]
    assert [values[int(code)] for code in batch.x[:, 2]] == [value.decode() for value in rows["colour"]]
    assert [stream.schema.classes[code] for code in batch.y] == [value.decode() for value in rows["label"]]
