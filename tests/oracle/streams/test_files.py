"""Readers of files against scikit-learn and SciPy."""

import numpy as np
from scipy.io import arff
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from streamgauge.streams import File
from tests.support.file_examples import arff_text, example_table, whole


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
