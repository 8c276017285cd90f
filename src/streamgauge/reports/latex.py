"""Tables of reports in LaTeX, for papers."""

import re
from itertools import count

from streamgauge._format.text import make_printable
from streamgauge.reports.document import Cell, Document, Grid

__all__ = ["latex", "tabular"]

PAGE = 64
"""How many characters of small print surely stand beside each other on a page of the class article."""

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
    "−": "$-$",  # noqa: RUF001
    "×": r"$\times$",  # noqa: RUF001
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "→": r"$\to$",
    "√": r"$\surd$",
    "α": r"$\alpha$",  # noqa: RUF001
    "β": r"$\beta$",
    "γ": r"$\gamma$",  # noqa: RUF001
    "δ": r"$\delta$",
    "ε": r"$\epsilon$",
    "η": r"$\eta$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "µ": r"$\mu$",
    "ρ": r"$\rho$",  # noqa: RUF001
    "σ": r"$\sigma$",  # noqa: RUF001
    "τ": r"$\tau$",
    "χ": r"$\chi$",
    "Δ": r"$\Delta$",
}
"""What LaTeX would take for a command, or does not know as it is."""


def latex(document: Document, labels: set[str] | None = None) -> str:
    r"""Write the tables of a report in LaTeX, with what was found in comments above them; they need booktabs.

    The best of a column is bold, and an asterisk marks what is really worse than it. Tables have labels to refer to;
    `labels` holds those of other documents in the same file, and takes these.

    Examples
    --------
    >>> grid = Grid("Costs", ("learner", "CPU s"), (("my_tree", (Cell("1.2", best=True),)),))
    >>> print(latex(Document("tree", "Evaluated on 10 rows.", (grid,))))
    % tree: Evaluated on 10 rows.
    % needs \usepackage{booktabs}
    <BLANKLINE>
    \begin{table}
      \centering
      \small
      \caption{Costs.}
      \label{tab:costs}
      \begin{tabular}{lr}
        \toprule
        learner & CPU s \\
        \midrule
        my\_tree & \textbf{1.2} \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>

    A table that may be wider than a page is made to fit it.

    >>> wide = Grid("Costs", ("learner", *["a long heading"] * 9), (("tree", (Cell("1.2"),) * 9),))
    >>> [line for line in latex(Document("tree", "", (wide,))).splitlines() if "adjustbox" in line]
    ['% needs \\usepackage{booktabs,adjustbox}', '  \\begin{adjustbox}{max width=\\textwidth}', '  \\end{adjustbox}']
    """
    grids = [block for block in document.blocks if isinstance(block, Grid)]
    packages = "booktabs,adjustbox" if any(map(_is_wide, grids)) else "booktabs"
    lines = [_comment(f"{document.title}: {document.lead}"), rf"% needs \usepackage{{{packages}}}", ""]
    labels = set() if labels is None else labels
    for block in document.blocks:
        if isinstance(block, Grid):
            lines += [*_table(block, document.stream, _label(f"{document.stream} {block.title}", labels)), ""]
        else:
            lines += [_comment(f"{block.title}:"), *(_comment(f"- {sentence}") for sentence in block.sentences), ""]
    return "\n".join(lines)


def _comment(text: str) -> str:
    return f"% {make_printable(text)}"


def _label(text: str, taken: set[str]) -> str:
    """Make a label of a text; those that are taken have a number behind them."""
    plain = "-".join(re.findall("[a-z0-9]+", text.lower().replace(",", "")))
    label = next(label for n in count(1) if (label := plain if n == 1 else f"{plain}-{n}") not in taken)
    taken.add(label)
    return label


def _table(grid: Grid, stream: str, label: str) -> list[str]:
    title = f"{grid.title}: {stream}" if stream else grid.title
    caption = f"{_escaped(title)}. {_escaped(grid.note)}".strip()
    table = tabular(grid)
    if _is_wide(grid):
        table = [r"\begin{adjustbox}{max width=\textwidth}", *(f"  {line}" for line in table), r"\end{adjustbox}"]
    return [
        r"\begin{table}",
        r"  \centering",
        r"  \small",
        rf"  \caption{{{caption}}}",
        rf"  \label{{tab:{label}}}",
        *(f"  {line}" for line in table),
        r"\end{table}",
    ]


def _is_wide(grid: Grid) -> bool:
    """Whether a table may be wider than a page."""
    lines = [grid.columns, *((name, *(cell.text for cell in cells)) for name, cells in grid.rows)]
    return sum(max(map(len, column)) + 2 for column in zip(*lines, strict=True)) > PAGE


def tabular(grid: Grid) -> list[str]:
    r"""Write a table alone, line by line.

    Examples
    --------
    >>> print("\n".join(tabular(Grid("", ("accuracy", "a_b"), (("sea", (Cell("0.9", worse=True),)),)))))
    \begin{tabular}{lr}
      \toprule
      accuracy & a\_b \\
      \midrule
      sea & 0.9$^{*}$ \\
      \bottomrule
    \end{tabular}
    """
    columns = "l" + "r" * (len(grid.columns) - 1)
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"  \toprule",
        f"  {_line([_escaped(column) for column in grid.columns])}",
        r"  \midrule",
        *(f"  {_line([_escaped(name), *map(_cell, cells)])}" for name, cells in grid.rows),
        r"  \bottomrule",
        r"\end{tabular}",
    ]


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell) -> str:
    text = re.sub(r"(?<!\w)-(?=\d)", "$-$", _escaped(cell.text))  # else it would be set as a hyphen
    text = rf"\textbf{{{text}}}" if cell.best else text
    return text + ("$^{*}$" if cell.worse else "")


def _escaped(text: str) -> str:
    """Let no character of a name be read as a command."""
    return "".join(SPECIAL.get(character, character) for character in make_printable(text))
