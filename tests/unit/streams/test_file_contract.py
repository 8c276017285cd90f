"""Files keep the contract of streams: the same rows however they are read."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.checks import check_stream
from streamgauge.streams import File

N_ROWS = 300
ARFF = "@attribute a real\n@attribute day {mo,tu}\n@attribute c {x,y}\n@data\n"


def written(folder, kind):
    rng = np.random.default_rng(4)
    numbers, labels = rng.normal(size=N_ROWS).round(3), rng.choice(["x", "y"], N_ROWS)
    path = folder / f"rows.{kind}"
    if kind == "arff":
        # Some rows are sparse, some carry a weight, some lack a value or a class.
        rows = [
            f"{{0 {v}, 2 {c}}}" if v > 1 else f"{v},tu,{c},{{{abs(v)}}}" for v, c in zip(numbers, labels, strict=True)
        ]
        path.write_text(ARFF + "\n".join(["?,mo,x", "1,?,?", *rows[2:]]))
    elif kind == "parquet":
        pq.write_table(pa.table({"a": numbers, "c": labels}), path, row_group_size=70)
    elif kind == "npz":
        np.savez(path, x=numbers[:, None], y=labels)
    elif kind == "npy":
        np.save(path, np.column_stack([numbers, labels == labels[0]]))
    elif kind == "arrow":
        with pa.ipc.new_file(str(path), pa.schema({"a": pa.float64(), "c": pa.string()})) as file:
            file.write_table(pa.table({"a": numbers, "c": labels}), max_chunksize=70)
    elif kind == "svm":
        path.write_text("".join(f"{c} 1:{v} 3:2\n" for v, c in zip(numbers, labels, strict=True)))
    else:
        text = "a,c\n" + "".join(f"{v},{c}\n\n" for v, c in zip(numbers, labels, strict=True))
        path.write_bytes(gzip.compress(text.encode()))
    return path


@pytest.mark.parametrize("kind", ["arff", "csv.gz", "parquet", "arrow", "npz", "npy", "svm"])
def test_any_batch_size_and_start_give_the_same_rows(tmp_path, kind):
    stream = File(written(tmp_path, kind))
    assert stream.n_rows == N_ROWS
    check_stream(stream)
