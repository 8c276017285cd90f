"""LaTeX tables of reports, for papers."""

import re
from dataclasses import replace
from itertools import count

from streamgauge._format.text import make_printable
from streamgauge.reports.model import Cell, Claims, Document, Grid, Sentences, list_titled

__all__ = ["escape_latex", "to_latex", "to_tabular"]

COLUMN_WIDTH = 48
"""The number of small characters that surely fit into a column of the class article with two columns."""

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
    "†": r"$\dagger$",
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
    "°": r"$^{\circ}$",
    "²": r"$^2$",
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
"""Characters that LaTeX interprets or does not know."""


def to_latex(document: Document, labels: set[str] | None = None) -> str:
    r"""Return the tables of a report in LaTeX, with the findings in comments above them; they need booktabs.

    The best value of a column is bold, and a dagger marks those that are significantly worse. Each table has a
    label; `labels` holds the labels used in the same file, and is updated.

    Examples
    --------
    >>> from streamgauge.reports.model import Section
    >>> grid = Grid("Cost", ("learner", "CPU s"), (("my_tree", (Cell("1.2", best=True),)),))
    >>> print(to_latex(Document("tree", "Evaluated on 10 rows.", (Section("", (grid,)),))))
    % tree: Evaluated on 10 rows.
    % needs \usepackage{booktabs}
    <BLANKLINE>
    \begin{table}
      \centering
      \small
      \caption{Cost.}
      \label{tab:cost}
      \smallskip
      \begin{tabular}{lr}
        \toprule
        learner & CPU s \\
        \midrule
        my\_tree & \textbf{1.2} \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>

    A table that may be wider than a column spans both columns of a page, and is scaled down if it is wider than that.

    >>> wide = Grid("Cost", ("learner", *["a long heading"] * 9), (("tree", (Cell("1.2"),) * 9),))
    >>> [line for line in to_latex(Document("tree", "", (Section("", (wide,)),))).splitlines() if "adjustbox" in line]
    ['% needs \\usepackage{booktabs,adjustbox}', '  \\begin{adjustbox}{max width=\\linewidth}', '  \\end{adjustbox}']
    """
    blocks = [pair for section in document.sections for pair in list_titled(section)]
    packages = "booktabs,adjustbox" if any(isinstance(b, Grid) and _is_wide(b) for _, b in blocks) else "booktabs"
    lines = [_comment(f"{document.title}: {document.description}"), rf"% needs \usepackage{{{packages}}}", ""]
    labels = set() if labels is None else labels
    for section in document.sections:
        for block in section.blocks:
            if isinstance(block, Grid):
                grid = replace(block, title=block.title or section.title)
                label = _choose_label(f"{document.stream} {grid.title}", labels)
                lines += [*_write_table(grid, document.stream, label), ""]
            elif isinstance(block, Sentences | Claims):
                texts = block.sentences if isinstance(block, Sentences) else [f"{c.whole}." for c in block.claims]
                title = block.title or section.title
                lines += [_comment(f"{title}:"), *(_comment(f"- {text}") for text in texts), ""]
        if section.notes:
            lines += [*map(_comment, section.notes), ""]
    return "\n".join(lines)


def _comment(text: str) -> str:
    return f"% {make_printable(text)}"


def _choose_label(text: str, taken: set[str]) -> str:
    """Return a label made from a text, with a number if it is already used."""
    plain = "-".join(re.findall("[a-z0-9]+", text.lower().replace(",", "")))
    label = next(label for n in count(1) if (label := plain if n == 1 else f"{plain}-{n}") not in taken)
    taken.add(label)
    return label


def _write_table(grid: Grid, stream: str, label: str) -> list[str]:
    title = f"{grid.title}: {stream}" if stream else grid.title
    title = re.sub(r"^(\S+) % ", r"\1 (%) ", title[:1].upper() + title[1:])
    caption = f"{escape_latex(title)}. {escape_latex(grid.note)}".strip()
    table = to_tabular(grid)
    if _is_wide(grid):
        table = [r"\begin{adjustbox}{max width=\linewidth}", *(f"  {line}" for line in table), r"\end{adjustbox}"]
    kind = "table*" if _is_wide(grid) else "table"  # the same on a page of one column
    return [
        rf"\begin{{{kind}}}",
        r"  \centering",
        r"  \small",
        rf"  \caption{{{caption}}}",
        rf"  \label{{tab:{label}}}",
        r"  \smallskip",
        *(f"  {line}" for line in table),
        rf"\end{{{kind}}}",
    ]


def _is_wide(grid: Grid) -> bool:
    """Return whether a table may be wider than a column."""
    lines = [grid.columns, *((name, *(cell.whole for cell in cells)) for name, cells in grid.rows)]
    return sum(max(map(len, column)) + 2.5 for column in zip(*lines, strict=True)) > COLUMN_WIDTH


def to_tabular(grid: Grid) -> list[str]:
    r"""Return the lines of a table without its caption.

    Examples
    --------
    >>> print("\n".join(to_tabular(Grid("", ("accuracy", "a_b"), (("sea", (Cell("0.9", worse=True),)),)))))
    \begin{tabular}{lr}
      \toprule
      accuracy & a\_b \\
      \midrule
      sea & 0.9\rlap{$^{\dagger}$} \\
      \bottomrule
    \end{tabular}
    """
    columns = "l" + "r" * (len(grid.columns) - 1)
    rows = [f"  {_join_cells([escape_latex(name), *map(_write_cell, cells)])}" for name, cells in grid.rows]
    if grid.n_summary:
        rows.insert(len(rows) - grid.n_summary, r"  \midrule")
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"  \toprule",
        f"  {_join_cells([escape_latex(column) for column in grid.columns])}",
        r"  \midrule",
        *rows,
        r"  \bottomrule",
        r"\end{tabular}",
    ]


def _join_cells(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _write_cell(cell: Cell) -> str:
    text, detail = (re.sub(r"(?<!\w)-(?=\d)", "$-$", escape_latex(part)) for part in (cell.text, cell.detail))
    text = rf"\textbf{{{text}}}" if cell.best else text  # a hyphen before a digit would be typeset as one
    mark = r"\rlap{$^{\dagger}$}" if cell.worse else r"\rlap{$^{\circ}$}" if cell.equal else ""  # of no width
    return f"{text} {detail}".strip() + mark


def escape_latex(text: str) -> str:
    r"""Escape the characters that LaTeX interprets.

    Examples
    --------
    >>> escape_latex("kappa_m, 5 %")
    'kappa\\_m, 5 \\%'
    """
    return "".join(SPECIAL.get(character, character) for character in make_printable(text))
