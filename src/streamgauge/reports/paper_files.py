"""What goes into a paper: LaTeX tables, a paragraph on the method, references and figures, all written or none."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from streamgauge._format.text import describe_forgetting, make_printable
from streamgauge.errors import StreamgaugeError
from streamgauge.records import RunData
from streamgauge.records.checksums import compute_checksum
from streamgauge.reports.latex import escape_latex, to_latex
from streamgauge.reports.method import Method
from streamgauge.reports.paper import build_paper_tables
from streamgauge.reports.references import format_bibliography
from streamgauge.significance import Ranking, rank
from streamgauge.significance.compare import LANDMARK, choose_forgetting
from streamgauge.significance.setups import group_by_stream, require_same_setup
from streamgauge.streams.output_files import replace_atomically

__all__ = ["FILES", "Paper", "prepare_paper", "write_paper"]

FILES = ("tables.tex", "method.tex", "references.bib", "curves.pdf", "ranks.pdf", "figures.tex")
"""What `write_paper` writes; the last three need Matplotlib, and ranks.pdf several streams."""

COLUMN_INCHES = 3.35
"""The width of figures, which is that of a column."""

_SEAL = re.compile(rb"% Written by streamgauge; checksum ([0-9a-f]{8}), by which edits are noticed\.\n")


@dataclass(frozen=True)
class Paper:
    """The files of a paper, before they are written.

    Parameters
    ----------
    files
        Their contents by name.
    notes
        What the author should know.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> list(prepare_paper([evaluate("SEA(n_rows=500)", "NaiveBayes")]).files)[:3]
    ['tables.tex', 'method.tex', 'references.bib']
    """

    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()

    def write(self, folder: Path | str, *, overwrite: bool = False) -> list[Path]:
        """Write all files into a folder and return their paths; raise if one was edited, unless `overwrite`."""
        folder = Path(folder)
        paths = {folder / name: content for name, content in self.files.items()}
        try:
            edited = [path for path in paths if path.exists() and not _is_ours(path.read_bytes())]
            if edited and not overwrite:
                names = ", ".join(map(str, edited))
                msg = (
                    f"{names} would be replaced, but was edited or not written by streamgauge: move it, write into"
                    " another folder, or overwrite it (--force)"
                )
                raise StreamgaugeError(msg)
            folder.mkdir(parents=True, exist_ok=True)
            for path, content in paths.items():
                with replace_atomically(path) as temporary:
                    temporary.write_bytes(content)
        except OSError as error:
            msg = f"cannot write to {folder}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None
        return list(paths)


def _seal(text: str) -> bytes:
    """Return a text below a comment with its checksum."""
    content = text.encode("utf-8")
    seal = f"% Written by streamgauge; checksum {compute_checksum(content)}, by which edits are noticed.\n"
    return seal.encode() + content


def _is_ours(content: bytes) -> bool:
    """Return whether a file is as it was written here."""
    if content.startswith(b"%PDF"):
        return b"/Creator (streamgauge)" in content
    seal = _SEAL.match(content)
    return seal is not None and compute_checksum(content[seal.end() :]).encode() == seal[1]


def write_paper(
    results: RunData | Sequence[RunData],
    folder: Path | str,
    *,
    measures: Sequence[str] | None = None,
    overwrite: bool = False,
    **options: Any,  # noqa: ANN401
) -> list[Path]:
    """Write the LaTeX tables, the paragraph on the method, the BibTeX file and the figures; return their paths.

    All files are written, or none. A file that was edited since it was written is not replaced.

    Parameters
    ----------
    results
        The results of evaluations of the same learners: other streams, and other seeds of the same streams. Runs that
        differ in more, such as the scheme, are refused.
    folder
        Where to write ``tables.tex``, ``method.tex`` and ``references.bib``, and, if Matplotlib is installed,
        ``figures.tex`` with the curves and, over several streams, the mean ranks, as wide as a column. It is made if
        it is missing.
    measures
        The measures; by default all of the runs.
    overwrite
        Whether to replace files that were edited.
    options
        ``forgetting``, ``post_hoc``, ``value``, ``control`` and ``alpha``, the level of all tests: as for
        `streamgauge.rank`.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from streamgauge import evaluate
    >>> runs = [evaluate(stream, ["NaiveBayes", "NoChange"], n_rows=1000) for stream in ("SEA", "RandomRBF", "LED")]
    >>> [path.name for path in write_paper(runs, mkdtemp())]
    ['tables.tex', 'method.tex', 'references.bib', 'curves.pdf', 'ranks.pdf', 'figures.tex']
    """
    runs = [results] if isinstance(results, RunData) else list(results)
    paper = prepare_paper(runs, measures=measures, **options)
    return paper.write(folder, overwrite=overwrite)


def prepare_paper(
    runs: Sequence[RunData],
    *,
    measures: Sequence[str] | None = None,
    **options: Any,  # noqa: ANN401
) -> Paper:
    """Return the files of a paper; the parameters are those of `write_paper`.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> paper = prepare_paper([evaluate("SEA(n_rows=500)", ["NaiveBayes", "NoChange"])])
    >>> paper.notes
    ()
    """
    if not runs:
        msg = "there are no results to write a paper from"
        raise StreamgaugeError(msg)
    forgetting, alpha = options.get("forgetting"), options.get("alpha", 0.05)
    require_same_setup(runs, forgetting=forgetting)
    tables = build_paper_tables(runs, measures=measures, **options)
    reported = list(measures or runs[0].measures)
    ranking = None
    if len(group_by_stream(runs)) > 1 and len(runs[0].learners) > 1:
        ranking = rank(runs, measure=reported[0], **options)
    method = Method(runs, ranking, reported, forgetting, alpha, options.get("value"))
    texts = {"tables.tex": to_latex(tables), "method.tex": method.to_latex()}
    texts["references.bib"] = format_bibliography(method.keys)
    drawings, captions = _draw_figures(runs, reported[0], forgetting, ranking)
    if captions:
        texts["figures.tex"] = _write_figures(captions)
    contents = {**{name: _seal(text) for name, text in texts.items()}, **drawings}
    notes = [note for section in tables.sections for note in section.notes]
    return Paper(
        {name: contents[name] for name in FILES if name in contents},
        tuple(dict.fromkeys([*notes, *_list_notes(runs, forgetting, alpha)])),
    )


def _list_notes(runs: Sequence[RunData], forgetting: str | None, alpha: float) -> list[str]:
    """Return what the author should know and a caption should not say."""
    from scipy.special import stdtrit  # noqa: PLC0415

    notes = []
    n_seeds = len(runs) // len(group_by_stream(runs))
    n_rivals = len(runs[0].learners) - 1
    if 1 < n_seeds < 5 and n_rivals:
        least, with_five = (float(stdtrit(n - 1, 1 - alpha / n_rivals)) for n in (n_seeds, 5))
        notes.append(
            f"Note: with {n_seeds} seeds a learner is found worse than the best of a stream if that is ahead by"
            f" {least:.1f} standard errors over the seeds; with 5 seeds, by {with_five:.1f}"
        )
    others = [name for name in runs[0].forgettings if name != choose_forgetting(runs[0].forgettings, forgetting)]
    if others:
        chosen = describe_forgetting(choose_forgetting(runs[0].forgettings, forgetting))
        notes.append(f"Note: tables and ranks are {chosen}; for others choose the forgetting: {', '.join(others)}")
    return notes


def _draw_figures(
    runs: Sequence[RunData], measure: str, forgetting: str | None, ranking: Ranking | None
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files of the curves and, over several streams, of the mean ranks, and their captions by name.

    None without Matplotlib.
    """
    if find_spec("matplotlib") is None:
        return {}, {}
    from streamgauge.plots import curves, ranks  # noqa: PLC0415  (Matplotlib is slow to import)
    from streamgauge.plots.figure import fit_readings, for_paper  # noqa: PLC0415

    names = list(group_by_stream(runs))
    tabled = choose_forgetting(runs[0].forgettings, forgetting)
    # Over a window a curve shows what happens in time.
    shown = tabled if forgetting else next((name for name in runs[0].forgettings if name != LANDMARK), LANDMARK)
    n_rows = 1 if len(names) == 1 else (len(names) + 1) // 2
    height = 1.7 if len(names) == 1 else 0.3 + 1.2 * n_rows
    with for_paper():
        drawn = curves(runs, measure, shown, size=(COLUMN_INCHES, height))
        ranked = None if ranking is None else ranks(ranking, width=COLUMN_INCHES)
    legend = drawn.drawn.legends[0].get_window_extent().height / drawn.drawn.dpi
    drawn.drawn.set_figheight(height + legend)
    drawn.drawn.suptitle("")  # the caption says it
    if len(names) == 1:
        drawn.drawn.axes[0].set_title("")
    fit_readings(drawn)
    caption = f"{measure.capitalize()} {describe_forgetting(shown)}, along the stream"
    if shown != tabled:
        caption = f"{caption}; tables and ranks are {describe_forgetting(tabled)}"
    repeated, n_folds = len(runs) > len(names), max(run.n_folds for run in runs)
    spread = "seeds and folds" if repeated and n_folds > 1 else "seeds" if repeated else "folds" if n_folds > 1 else ""
    caption = (
        f"{caption}. Lines: means over the {spread}; bands: from the lowest to the highest."
        if spread
        else f"{caption}."
    )
    files, captions = {"curves.pdf": drawn.to_bytes(".pdf")}, {"curves": caption}
    if ranking is not None and ranked is not None:
        joined = f"A bar joins {ranking.control} and the learners" if ranking.control else "A bar joins learners"
        captions["ranks"] = (
            f"Mean ranks by {ranking.subject}; left is best. {joined} without a significant difference; a dot marks"
            " each that belongs to it."
        )
        files["ranks.pdf"] = ranked.to_bytes(".pdf")
    return files, captions


def _write_figures(captions: Mapping[str, str]) -> str:
    lines = [r"% needs \usepackage{graphicx}, and \graphicspath where this folder is another one"]
    for name, caption in captions.items():
        lines += [
            r"\begin{figure}",
            r"  \centering",
            rf"  \includegraphics[width=\linewidth]{{{name}}}",
            rf"  \caption{{{escape_latex(make_printable(caption))}}}",
            rf"  \label{{fig:{name}}}",
            r"\end{figure}",
        ]
    return "\n".join(lines) + "\n"
