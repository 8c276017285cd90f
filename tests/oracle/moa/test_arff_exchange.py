"""Rows go to MOA and come back as they were."""

from pathlib import Path

import numpy as np

from peers import arff
from streamgauge.records import Attribute, Schema


def test_rows_written_are_read_back_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 3)) * 10.0 ** rng.integers(-300, 300, size=(500, 3))
    x[:, 1] = rng.integers(3, size=500)
    x[rng.random(x.shape) < 0.1] = np.nan
    x[0, 0], x[1, 0] = -0.0, 5e-324
    y = rng.integers(2, size=500).astype(np.int32)
    attributes = (
        Attribute("a", missing=True),
        Attribute("b", ("u", "v", "w"), missing=True),
        Attribute("c", missing=True),
    )
    arff.write(tmp_path / "rows.arff", Schema(attributes, ("no", "yes")), x, y)
    schema, x_read, y_read = arff.read(tmp_path / "rows.arff")
    assert schema.n_values.tolist() == [0, 3, 0]
    assert schema.n_classes == 2
    assert np.array_equal(x_read, x, equal_nan=True)
    assert np.array_equal(y_read, y)


def test_the_trailing_commas_that_moa_writes_are_understood(tmp_path: Path) -> None:
    text = "@relation r\n\n@attribute a numeric\n@attribute class {u, v}\n\n@data\n\n0.5,v,\n1.5,u,\n"
    (tmp_path / "rows.arff").write_text(text, encoding="ascii")
    schema, x, y = arff.read(tmp_path / "rows.arff")
    assert schema.classes == ("u", "v")
    assert (x.tolist(), y.tolist()) == ([[0.5], [1.5]], [1, 0])
