"""Tables of reports in LaTeX, for papers."""

from streamgauge.reports.documents import Cell, Document, Grid
from streamgauge.wording import printable

__all__ = ["latex"]

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "–": "--",  # noqa: RUF001
}


def latex(document: Document) -> str:
    r"""Write the tables of a report in LaTeX, with what was found in comments above them; they need booktabs.

    The best of a column is bold, and an asterisk marks what is really worse than it.

    Examples
    --------
    >>> grid = Grid("Costs", ("learner", "CPU s"), (("my_tree", (Cell("1.2", best=True),)),))
    >>> print(latex(Document("tree", "Evaluated on 10 rows.", (grid,))))
    % tree: Evaluated on 10 rows.
    % needs \usepackage{booktabs}
    <BLANKLINE>
    \begin{table}
      \centering
      \caption{Costs.}
      \begin{tabular}{lr}
        \toprule
        learner & CPU s \\
        \midrule
        my\_tree & \textbf{1.2} \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    lines = [_comment(f"{document.title}: {document.lead}"), r"% needs \usepackage{booktabs}", ""]
    for block in document.blocks:
        if isinstance(block, Grid):
            lines += [*_table(block), ""]
        else:
            lines += [_comment(f"{block.title}:"), *(_comment(f"- {sentence}") for sentence in block.sentences), ""]
    return "\n".join(lines)


def _comment(text: str) -> str:
    return f"% {printable(text)}"


def _table(grid: Grid) -> list[str]:
    columns = "l" + "r" * (len(grid.columns) - 1)
    caption = f"{_escaped(grid.title)}. {_escaped(grid.note)}".strip()
    return [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{caption}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        f"    {_line([_escaped(column) for column in grid.columns])}",
        r"    \midrule",
        *(f"    {_line([_escaped(name), *map(_cell, cells)])}" for name, cells in grid.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell) -> str:
    text = _escaped(cell.text)
    text = rf"\textbf{{{text}}}" if cell.best else text
    return text + ("$^{*}$" if cell.worse else "")


def _escaped(text: str) -> str:
    """Let no character of a name be read as a command."""
    return "".join(SPECIAL.get(character, character) for character in printable(text))
