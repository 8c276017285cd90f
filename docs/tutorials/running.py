"""Run the cells of a notebook, and store what they print and display."""

import ast
import base64
import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

__all__ = ["list_notebooks", "read_notebook", "run_notebook", "write_notebook"]

FOLDER = Path(__file__).parent
FORMATS = {"text/html": "_repr_html_", "image/png": "_repr_png_"}
"""How a value is displayed besides its text, and the method that Jupyter asks for it."""

Notebook = dict[str, Any]


def list_notebooks() -> list[Path]:
    """Return the paths of all tutorials."""
    return sorted(FOLDER.glob("*.ipynb"))


def read_notebook(path: Path) -> Notebook:
    """Read a notebook with the outputs it stores."""
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def write_notebook(notebook: Notebook, path: Path) -> None:
    """Write a notebook as Jupyter does."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def run_notebook(notebook: Notebook) -> Notebook:
    r"""Return the notebook with the outputs of a run in an empty folder.

    Examples
    --------
    >>> cell = {"cell_type": "code", "metadata": {}, "source": ["x = 2\n", "x + 1"]}
    >>> run_notebook({"cells": [cell]})["cells"][0]["outputs"][0]["data"]
    {'text/plain': ['3']}
    """
    names: dict[str, object] = {"__name__": "__main__"}
    cells, n_run = [], 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                n_run += 1
                outputs = run_cell("".join(cell["source"]), names, n_run)
                cells.append({**cell, "execution_count": n_run, "outputs": outputs})
            else:
                cells.append(cell)
    return {**notebook, "cells": cells}


def run_cell(source: str, names: dict[str, object], count: int) -> list[dict[str, Any]]:
    """Run a cell and return its outputs: what it prints, and its last value."""
    tree, name = ast.parse(source), f"cell {count}"
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, name, "exec"), names)
        shown = eval(compile(ast.Expression(last.value), name, "eval"), names) if isinstance(last, ast.Expr) else None
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": split(printed.getvalue())})
    if shown is not None and not source.rstrip().endswith(";"):
        outputs.append(
            {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": display(shown)}
        )
    return outputs


def display(value: object) -> dict[str, Any]:
    """Return a value in each format in which it can be displayed."""
    data: dict[str, Any] = {"text/plain": split(repr(value))}
    for kind, method in FORMATS.items():
        if rendered := getattr(value, method, lambda: None)():
            data[kind] = compress(rendered) if isinstance(rendered, bytes) else split(rendered)
    if "image/png" in data:
        data["text/plain"] = [f"<{type(value).__name__}>"]  # its address differs from run to run
    return data


def split(text: str) -> list[str]:
    r"""Split a text into lines, as notebooks store it.

    Examples
    --------
    >>> split("a\nb")
    ['a\n', 'b']
    """
    return text.splitlines(keepends=True)


def compress(png: bytes) -> str:
    """Return a picture of 64 colours as text."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        picture.convert("RGB").quantize(64, method=Image.Quantize.FASTOCTREE).save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode()
