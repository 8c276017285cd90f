"""LaTeX output compiles; Debian's package texlive-latex-extra has what it needs."""

import shutil
import subprocess
from pathlib import Path

import pytest

import streamgauge as sg
from streamgauge.reports import report, write_paper

DOCUMENT = r"""
\documentclass[OPTIONS]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{booktabs,adjustbox,graphicx}
\begin{document}
INPUT
\nocite{*}
\bibliographystyle{plain}
\bibliography{references}
\end{document}
"""

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is missing")


def compile_latex(folder: Path, body: str, options: str = "") -> str:
    """Compile a document twice with its references and return what LaTeX printed."""
    (folder / "main.tex").write_text(DOCUMENT.replace("INPUT", body).replace("OPTIONS", options))
    printed = ""
    for command in (["pdflatex", "-interaction=nonstopmode", "-halt-on-error"], ["bibtex"], ["pdflatex"], ["pdflatex"]):
        asked = [*command, "main"] if command != ["pdflatex"] else ["pdflatex", "-interaction=nonstopmode", "main"]
        outcome = subprocess.run(asked, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        printed = outcome.stdout
        assert outcome.returncode == 0, printed[-3000:]
    return printed


@needs_tex
@pytest.mark.parametrize("options", ["", "twocolumn"])
def test_what_is_written_for_a_paper_compiles_and_fits_the_page(tmp_path: Path, options: str) -> None:
    learners = {"tree_1": "HoeffdingTree", "bayes & co": "NaiveBayes", "100 %": "MajorityClass"}
    runs = [
        sg.evaluate(stream, learners, scheme="Bootstrap(5)", measures=["accuracy", "kappa_m"], seed=seed)
        for stream in ("SEA(n_rows=1000)", "RandomRBF(n_rows=1000)", "LED(n_rows=1000)")
        for seed in (1, 2)
    ]
    write_paper(runs, tmp_path)
    printed = compile_latex(tmp_path, r"\input{method} \input{tables} \input{figures}", options)
    assert (tmp_path / "main.pdf").stat().st_size > 10_000
    assert "Overfull" not in printed
    assert "undefined" not in printed


@needs_tex
def test_the_tables_of_a_report_compile(tmp_path: Path) -> None:
    results = sg.evaluate("SEA(n_rows=3000)", ["HoeffdingTree", "NaiveBayes"], scheme="Bootstrap(5)", resources=True)
    write_paper(results, tmp_path)
    (tmp_path / "report.tex").write_text(report(results, format="latex"))
    compile_latex(tmp_path, r"\input{report}")
