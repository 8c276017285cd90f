"""Writers: SciPy reads what they write."""

import numpy as np
from scipy.io import arff

from streamgauge.records import Attribute, Batch, Schema
from streamgauge.streams import ArrayStream, write


def small_stream(n=500):
    rng = np.random.default_rng(1)
    x = np.column_stack(
        [rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n), rng.integers(0, 3, n), rng.integers(-5, 5, n)]
    )
    schema = Schema((Attribute("a"), Attribute("b", ("x", "y z", "it's")), Attribute("c")), ("no", "yes"))
    return ArrayStream.from_batch(Batch(0, x, rng.integers(0, 2, n).astype(np.int32)), schema)


def test_scipy_reads_our_arff(tmp_path):
    # SciPy knows no backslashes in quotes, so that name is another here.
    stream = small_stream()
    schema = Schema((Attribute("a"), Attribute("b", ("x", "y", "z")), Attribute("c")), ("no", "yes"))
    write(ArrayStream.from_batch(next(stream.batches(500)), schema), tmp_path / "a.arff")
    data, meta = arff.loadarff(tmp_path / "a.arff")
    assert meta.names() == ["a", "b", "c", "class"]
    np.testing.assert_array_equal(data["a"], stream.x[:, 0])
    np.testing.assert_array_equal(data["class"] == b"yes", stream.y == 1)
