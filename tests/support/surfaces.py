"""What each surface says of a run, parsed from the text that people read."""

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser

__all__ = ["Page", "parse_latex", "parse_list", "parse_markdown", "parse_terminal"]

Tables = dict[str, list[list[str]]]
"""Tables by title; the first row has the headings, the first column the names."""


class Page(HTMLParser):
    """The tables of a page by the heading before them, its list items, and the sentences of its headline."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: Tables = {}
        self.items: dict[str, list[str]] = {}
        self.headline: list[str] = []
        self._title, self._text, self._open = "", "", ""
        self._rows: list[list[str]] = []
        self._span, self._in_headline = 1, False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        if tag in {"h2", "h3", "h4", "td", "th", "li"} or (tag == "p" and self._in_headline):
            self._open, self._text = tag, ""
            self._span = int(facts.get("colspan") or 1)
        if tag == "div":
            self._in_headline = facts.get("class") == "headline"
        if tag == "table":
            n = sum(title.partition(" #")[0] == self._title for title in self.tables)
            self._rows = self.tables.setdefault(f"{self._title} #{n + 1}" if n else self._title, [])
        if tag == "tr":
            self._rows.append([])

    def handle_endtag(self, tag: str) -> None:
        if tag != self._open:
            if tag == "div":
                self._in_headline = False
            return
        text, self._open = " ".join(self._text.split()), ""
        if tag in {"h2", "h3", "h4"}:
            self._title = text
        elif tag in {"td", "th"}:
            self._rows[-1] += [text] * self._span
        elif tag == "li":
            self.items.setdefault(self._title, []).append(text)
        else:
            self.headline.append(text)

    def handle_data(self, data: str) -> None:
        if self._open:
            self._text += data + ("" if self._open in {"td", "th"} else " ")


def parse_markdown(text: str) -> tuple[Tables, dict[str, list[str]]]:
    """Return the tables and the list items of a Markdown report, by heading."""
    tables: Tables = {}
    items: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        plain = re.sub(r"\\(.)", r"\1", line)
        if line.startswith("## "):
            title = plain[3:]
        elif line.startswith("- "):
            items.setdefault(title, []).append(plain[2:])
        elif line.startswith("|") and not line.startswith("|:"):
            cells = [re.sub(r"\\(.)", r"\1", cell).strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            tables.setdefault(title, []).append([cell.replace("**", "") for cell in cells])
    return tables, items


_LATEX = {
    r"$\pm$": "±",
    r"\rlap{$^{\dagger}$}": " †",
    r"\rlap{$^{\circ}$}": " °",
    "$-$": "-",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\_": "_",
    r"\%": "%",
    r"\&": "&",
    "--": "–",  # noqa: RUF001
}


def parse_latex(text: str) -> tuple[Tables, dict[str, list[str]]]:
    """Return the tables of LaTeX by the start of their caption, and the sentences in comments by heading."""
    items: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("% - "):
            items.setdefault(title, []).append(line[4:])
        elif line.startswith("% "):
            title = line[2:].rstrip(":")
    tables: Tables = {}
    for table in re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", text, re.DOTALL):
        caption = _read_latex(re.search(r"\\caption\{(.*)\}$", table, re.MULTILINE)[1])  # type: ignore[index]
        rows = [line.strip().removesuffix(r"\\").strip() for line in table.splitlines() if line.endswith(r"\\")]
        tables[caption.partition(". ")[0].partition(":")[0]] = [
            [_read_latex(cell.strip()) for cell in re.split(r"(?<!\\)&", row)] for row in rows
        ]
    return tables, items


def _read_latex(text: str) -> str:
    text = re.sub(r"\\textbf\{((?:[^{}]|\{[^{}]*\})*)\}", r"\1", text)
    for written, meant in _LATEX.items():
        text = text.replace(written, meant)
    return text


def parse_terminal(text: str) -> tuple[Tables, list[str], str]:
    """Return the tables that are named by learners, by the line before them; list items; and the text before these."""
    tables: Tables = {}
    lines, title, start = text.splitlines(), "", None
    index = 0
    while index < len(lines):
        if lines[index].startswith("  learner  "):
            rows = [re.split(r" {2,}", lines[index].strip())]
            index += 2
            while index < len(lines) and lines[index].strip():
                rows.append(re.split(r" {2,}", lines[index].strip()))
                index += 1
            start = len(tables) and start
            known = tables.setdefault(title, [[row[0]] for row in rows])
            for old, new in zip(known, rows, strict=True):
                assert old[0] == new[0]
                old.extend(new[1:])
        elif lines[index].strip():
            title = lines[index].strip()
        index += 1
    head = re.split(r"^(?:Live verdicts|Ranked by|Rare class|After [\d,]+ rows)", text, maxsplit=1, flags=re.MULTILINE)[
        0
    ]
    return tables, list(parse_list(lines)), " ".join(head.split())


def parse_list(lines: Sequence[str]) -> Iterator[str]:
    """Yield the items of lists, each on one line."""
    item: list[str] = []
    for line in [*lines, ""]:
        if item and not line.startswith("  "):
            yield " ".join(item)
            item = []
        if line[:1] in set("•✓✗"):
            item = [line[2:].strip()]
        elif item and line.strip().startswith("!"):
            yield " ".join(item)
            item = []
        elif item:
            item.append(line.strip())
