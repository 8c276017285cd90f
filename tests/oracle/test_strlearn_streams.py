"""The generator and the parsers of stream-learn, ours beside the installed ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.compat import strlearn as compat

strlearn: Any = pytest.importorskip("strlearn", reason="stream-learn is not installed")

OPTIONS: dict[str, dict[str, Any]] = {
    "stationary": {},
    "sudden": {"n_drifts": 2},
    "gradual": {"n_drifts": 2, "concept_sigmoid_spacing": 5},
    "five concepts": {"n_drifts": 4, "concept_sigmoid_spacing": 3},
    "recurring": {"n_drifts": 5, "concept_sigmoid_spacing": 5, "recurring": True},
    "incremental": {"n_drifts": 4, "concept_sigmoid_spacing": 5, "incremental": True},
    "incremental and recurring": {"n_drifts": 2, "concept_sigmoid_spacing": 5, "incremental": True, "recurring": True},
    "static imbalance": {"weights": [0.3, 0.7]},
    "dynamic imbalance": {"weights": (2, 5, 0.9)},
    "no drift of the imbalance": {"weights": (0, 5, 0.9)},
    "imbalance per chunk": {"weights": (0.85, 0.05)},
    "noise": {"y_flip": 0.2},
    "noise per class": {"y_flip": (0.1, 0.3)},
    "classes": {"n_classes": 4, "n_informative": 5, "n_clusters_per_class": 1, "y_flip": (0.1, 0.2, 0.0, 0.4)},
    "shares of classes": {"n_classes": 3, "n_informative": 5, "weights": [0.5, 0.3, 0.2], "n_drifts": 1},
    "features": {"n_features": 7, "n_informative": 3, "n_redundant": 1, "n_repeated": 1, "n_clusters_per_class": 1},
    "options of make_classification": {"class_sep": 2.0, "hypercube": False, "n_drifts": 1},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_generator_makes_the_rows_of_stream_learn(options: dict[str, Any]) -> None:
    common = {"n_chunks": 20, "chunk_size": 50, "random_state": 7, **options}
    mine, theirs = (package.streams.StreamGenerator(**common) for package in (compat, strlearn))
    assert str(mine) == str(theirs).replace(".0_", "_")
    chunks = 0
    while (chunk := mine.get_chunk()) is not None:
        x, y = theirs.get_chunk()
        np.testing.assert_array_equal(chunk[0], x)
        np.testing.assert_array_equal(chunk[1], y)
        assert mine.is_dry() == theirs.is_dry()
        assert mine.chunk_id == theirs.chunk_id
        assert (mine.previous_chunk is None) == (theirs.previous_chunk is None)
        chunks += 1
    assert chunks == 20
    np.testing.assert_array_equal(mine.classes_, theirs.classes_)


@pytest.mark.parametrize("suffix", ["arff", "csv", "npy"])
def test_files_of_either_are_read_alike_by_both_parsers(suffix: str, tmp_path: Path) -> None:
    files = []
    for package in (compat, strlearn):
        generator = package.streams.StreamGenerator(n_chunks=10, chunk_size=20, random_state=5, n_drifts=1)
        path = str(tmp_path / f"{package.__name__}.{suffix}")
        getattr(generator, f"save_to_{suffix}")(path)
        files.append(path)
    for path in files:
        mine, theirs = (
            getattr(package.streams, f"{suffix.upper()}Parser")(path, chunk_size=20, n_chunks=10)
            for package in (compat, strlearn)
        )
        for (x, y), (their_x, their_y) in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(x, their_x, rtol=0, atol=0 if suffix != "csv" else 1e-15)
            np.testing.assert_array_equal(y, their_y)
        assert list(mine.classes_) == [0, 1]
        assert mine.is_dry()
        mine.reset()
        assert not mine.is_dry()
    assert str(mine) == str(theirs).replace("classes=[0 1]", "classes=None")


ARFF = """@relation test
@attribute size real
@attribute kind {small,large}
@attribute class {yes, no}
@data
0.324,small,yes
-0.456,large,no
1.5,large,yes
2.5,small,no
"""


def test_our_streams_read_the_parsers_of_stream_learn(tmp_path: Path) -> None:
    path = tmp_path / "kinds.arff"
    path.write_text(ARFF)
    theirs = strlearn.streams.ARFFParser(str(path), chunk_size=2, n_chunks=2)
    mine = compat.streams.ARFFParser(path, chunk_size=2, n_chunks=2)
    for (x, y), (their_x, their_y) in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(x, their_x)
        np.testing.assert_array_equal(y, their_y)
    for parser in (theirs, strlearn.streams.ARFFParser(str(path), chunk_size=2, n_chunks=2), mine):  # read, fresh, ours
        rows = compat.from_strlearn(parser)
        batch = next(rows.batches(10))
        assert rows.schema.classes == ("0", "1")
        np.testing.assert_array_equal(batch.x, [[0.324, 1], [-0.456, 0], [1.5, 0], [2.5, 1]])
        np.testing.assert_array_equal(batch.y, [1, 0, 1, 0])
    table = tmp_path / "numbers.csv"
    table.write_text("1.5,3\n2.5,1\n3.5,7\n4.5,1\n")
    numbers = np.array([[1.5, 3], [2.5, 1], [3.5, 7], [4.5, 1]])
    np.save(tmp_path / "numbers.npy", numbers)
    for package in (compat, strlearn):
        for parser in (
            package.streams.CSVParser(str(table), 2, 2),
            package.streams.NPYParser(tmp_path / "numbers.npy", 2, 2),
        ):
            for _ in range(2):  # also when it has been read
                rows = compat.from_strlearn(parser)
                assert rows.schema.classes == ("1", "3", "7")
                np.testing.assert_array_equal(next(rows.batches(10)).y, [1, 0, 2, 0])
