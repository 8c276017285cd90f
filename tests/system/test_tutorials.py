"""Every tutorial runs, and shows what its cells print and draw today."""

import base64
import io
import re
from itertools import chain

import numpy as np
import pytest
from PIL import Image

from docs.tutorials.running import list_notebooks, read_notebook, run_notebook

OTHER_LIBRARIES = {"your_own_model"}
"""Tutorials whose numbers depend on the versions of other libraries: only their words are compared."""


def read_texts(notebook, *, numbers):
    outputs = chain.from_iterable(cell.get("outputs", ()) for cell in notebook["cells"])
    texts = ["".join(output.get("text") or output["data"]["text/plain"]) for output in outputs]
    released = [re.sub(r"\b\d+\.\d+\.\d+\b", "VERSION", text) for text in texts]
    return released if numbers else [" ".join(re.sub(r"[-+±]?\d[\d.,e-]*\*?", "#", text).split()) for text in released]


def read_charts(notebook):
    outputs = chain.from_iterable(cell.get("outputs", ()) for cell in notebook["cells"])
    charts = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [Image.open(io.BytesIO(base64.b64decode(chart))).convert("L") for chart in charts]


def differ(first, second):
    """Return the share of pixels that differ clearly: letters may be drawn in another way elsewhere."""
    size = (first.width // 4, first.height // 4)
    pixels = [np.asarray(picture.resize(size), dtype=float) for picture in (first, second)]
    return float((np.abs(pixels[0] - pixels[1]) > 64).mean())


@pytest.mark.parametrize("path", list_notebooks(), ids=lambda path: path.stem)
def test_a_tutorial_shows_what_its_cells_print_and_draw_today(path):
    """`python -m docs.tutorials` runs and stores them again."""
    stored = read_notebook(path)
    fresh = run_notebook(stored)
    numbers = path.stem not in OTHER_LIBRARIES
    assert read_texts(stored, numbers=numbers) == read_texts(fresh, numbers=numbers)
    charts = list(zip(read_charts(stored), read_charts(fresh), strict=True))
    assert charts
    assert [differ(*pair) for pair in charts if differ(*pair) > (0.02 if numbers else 0.1)] == []


def test_there_is_a_tutorial_for_each_of_five_tasks():
    assert len(list_notebooks()) == 5


def test_a_tutorial_is_short_and_begins_with_its_title():
    for path in list_notebooks():
        cells = read_notebook(path)["cells"]
        assert re.match(r"# \w", cells[0]["source"][0]), path.stem
        assert len(cells) < 40, path.stem
        assert path.stat().st_size < 150 * 1024, path.stem
