"""Files that are read from standard input."""

import gzip
import subprocess
import sys


def test_standard_input_can_be_read_more_than_once():
    code = (
        "from streamgauge.streams import File; s = File('-'); "
        "print(s.n_rows, [[b.y.tolist() for b in s.batches(2)] for _ in range(2)], File('-').schema.classes)"
    )
    text = gzip.compress(b"a,c\n1,x\n2,y\n3,x\n")
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "3 [[[0, 1], [0]], [[0, 1], [0]]] ('x', 'y')"
