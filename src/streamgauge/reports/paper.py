"""What goes into a paper: a table per measure over streams, a paragraph on the method, and the references."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import format_p_term, format_spread, format_value, label_measure
from streamgauge._format.text import count, describe_forgetting, join_words, shorten_stream_names
from streamgauge.errors import StreamgaugeError
from streamgauge.names import FAMILIES
from streamgauge.records import RunData
from streamgauge.reports.latex import escape_latex, to_latex
from streamgauge.reports.model import Cell, Document, Grid, Section
from streamgauge.reports.references import collect_references, list_citations
from streamgauge.reports.title import TESTED, get_part
from streamgauge.significance import Comparison, Ranking, compare_all, friedman, holm, rank, two_way_t, wilcoxon
from streamgauge.significance.compare import LANDMARK, choose_forgetting
from streamgauge.significance.ranking import POST_HOCS, choose_value, name_stream, read_fold_values
from streamgauge.streams.output_files import replace_atomically

__all__ = ["build_paper_tables", "describe_method", "shorten_streams", "write_paper"]

FILES = ("tables.tex", "method.tex", "references.bib")
"""What `write_paper` always writes."""

SEEDS = ("n_rows", "seed", "sample")
"""Options of generators that are said elsewhere."""

COLUMN_INCHES = 3.35
"""The width of figures, which is that of a column."""


def write_paper(
    results: RunData | Sequence[RunData],
    folder: Path | str,
    *,
    measures: Sequence[str] | None = None,
    forgetting: str | None = None,
    alpha: float = 0.05,
    post_hoc: str = "wilcoxon_holm",
    value: str | None = None,
) -> list[Path]:
    """Write the LaTeX tables, the paragraph on the method, the BibTeX file and the figures; return their paths.

    Parameters
    ----------
    results
        The results of evaluations of the same learners: other streams, and other seeds of the same streams.
    folder
        Where to write ``tables.tex``, ``method.tex`` and ``references.bib``, and, if Matplotlib is installed,
        ``figures.tex`` with the curves and, over several streams, the mean ranks, as wide as a column. It is made if
        it is missing.
    measures
        The measures; by default all of the runs.
    forgetting, post_hoc, value
        As for `streamgauge.rank`.
    alpha
        The level of all tests.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from streamgauge import evaluate
    >>> runs = [evaluate(stream, ["NaiveBayes", "NoChange"], n_rows=1000) for stream in ("SEA", "RandomRBF", "LED")]
    >>> [path.name for path in write_paper(runs, mkdtemp())]
    ['tables.tex', 'method.tex', 'references.bib', 'curves.pdf', 'ranks.pdf', 'figures.tex']
    """
    runs = [results] if isinstance(results, RunData) else list(results)
    if not runs:
        msg = "there are no results to write a paper from"
        raise StreamgaugeError(msg)
    tables = build_paper_tables(
        runs, measures=measures, forgetting=forgetting, alpha=alpha, post_hoc=post_hoc, value=value
    )
    several = len({name_stream(run) for run in runs}) > 1
    methods: dict[str, object] = {"two-way t": two_way_t}
    if several:
        methods["Friedman"] = friedman
    if several and post_hoc == "wilcoxon_holm":
        methods["Wilcoxon"] = wilcoxon
    if len(runs[0].learners) > 2 or (several and post_hoc.endswith("_holm")):
        methods["Holm"] = holm
    texts = (
        to_latex(tables),
        # Lines may end within the options of a learner, which have no spaces.
        re.sub(r"([(=])", r"\1\\allowbreak{}", escape_latex(describe_method(runs, alpha=alpha, post_hoc=post_hoc)))
        + f" {_cite(runs, methods)}\n",
        collect_references(runs, methods.values()),
    )
    folder = Path(folder)
    paths = [folder / name for name in FILES]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, texts, strict=True):
            with replace_atomically(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"cannot write to {folder}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None
    chosen = {"forgetting": forgetting, "alpha": alpha, "post_hoc": post_hoc, "value": value}
    return [*paths, *_write_figures(runs, folder, (measures or runs[0].measures)[0], chosen)]


def _write_figures(runs: Sequence[RunData], folder: Path, measure: str, options: dict[str, Any]) -> list[Path]:
    """Draw the curves and, over several streams, the mean ranks; return the files, none without Matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    from streamgauge.plots import curves, ranks  # noqa: PLC0415  (Matplotlib is slow to import)

    names = list(dict.fromkeys(map(name_stream, runs)))
    shown = [name for name in runs[0].forgettings if name != LANDMARK] or [LANDMARK]
    forgetting = choose_forgetting(runs[0].forgettings, options["forgetting"]) if options["forgetting"] else shown[0]
    height = 2.4 if len(names) == 1 else 0.9 + 1.5 * ((len(names) + 1) // 2)
    along = curves(runs, measure, forgetting, size=(COLUMN_INCHES, height))
    along.drawn.suptitle("")  # the caption says it
    if len(names) == 1:
        along.drawn.axes[0].set_title("")
    over = " Means over the seeds; bands span all seeds and folds." if len(runs) > len(names) else ""
    drawings = {"curves": (along, f"{measure} {describe_forgetting(forgetting)}, along the stream.{over}")}
    if len(names) > 1 and len(runs[0].learners) > 1:
        ranking = rank(runs, measure=measure, **options)
        joined = " A bar joins learners without a significant difference; each of them has a dot on it."
        drawings["ranks"] = (ranks(ranking, width=COLUMN_INCHES), f"Mean ranks by {ranking.subject}.{joined}")
    paths = [figure.save(folder / f"{name}.pdf") for name, (figure, _) in drawings.items()]
    lines = [r"% needs \usepackage{graphicx}, and \graphicspath where this folder is another one"]
    for name, (_, caption) in drawings.items():
        lines += [
            r"\begin{figure}",
            r"  \centering",
            rf"  \includegraphics[width=\linewidth]{{{name}}}",
            rf"  \caption{{{escape_latex(caption)}}}",
            rf"  \label{{fig:{name}}}",
            r"\end{figure}",
        ]
    with replace_atomically(folder / "figures.tex") as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [*paths, folder / "figures.tex"]


def _cite(runs: Sequence[RunData], methods: Mapping[str, object]) -> str:
    """Return a sentence that cites what was used, each by its name."""
    cited = {**list_citations(runs, methods), "streamgauge": ["streamgauge"]}
    parts = [rf"{escape_latex(name)}~\cite{{{','.join(keys)}}}" for name, keys in cited.items()]
    return f"References: {', '.join(parts)}."


def build_paper_tables(
    runs: Sequence[RunData],
    *,
    measures: Sequence[str] | None = None,
    forgetting: str | None = None,
    alpha: float = 0.05,
    post_hoc: str = "wilcoxon_holm",
    value: str | None = None,
) -> Document:
    """Return a table for each measure: the mean of each learner on each stream with its deviation, and mean ranks.

    The deviation is over the seeds if a stream has several runs, else over the folds. The best of a stream is bold; a
    circle marks learners that are not significantly worse than it on that stream, in one of its runs at least.

    Parameters
    ----------
    runs, measures, forgetting, alpha, post_hoc, value
        As for `write_paper`.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> runs = [evaluate(stream, ["NaiveBayes", "NoChange"], n_rows=1000) for stream in ("SEA", "RandomRBF", "LED")]
    >>> (section,) = build_paper_tables(runs).sections
    >>> (table,) = section.blocks
    >>> table.columns, [name for name, _ in table.rows]
    (('stream', 'NaiveBayes', 'NoChange'), ['SEA', 'RandomRBF', 'LED', 'mean rank'])
    """
    known = [measure for measure in runs[0].measures if all(measure in run.measures for run in runs)]
    chosen = known if measures is None else list(measures)
    sections = []
    for measure in chosen:
        grid, ranking = _build_table(runs, measure, forgetting, alpha, post_hoc, value)
        sections.append(Section("", (grid,), tuple(f"Note: {text}" for text in ranking.warnings) if ranking else ()))
    streams = {name_stream(run) for run in runs}
    title = f"{count(len(runs[0].learners), 'learner')} on {count(len(streams), 'stream')}"
    return Document(title, f"Written by streamgauge {version('streamgauge')}.", tuple(sections))


def _build_table(
    runs: Sequence[RunData], measure: str, forgetting: str | None, alpha: float, post_hoc: str, value: str | None
) -> tuple[Grid, Ranking | None]:
    by_stream: dict[str, list[RunData]] = defaultdict(list)
    for run in runs:
        by_stream[name_stream(run)].append(run)
    learners = tuple(dict.fromkeys(learner for run in runs for learner in run.learners))
    unit, greater = runs[0].unit(measure), runs[0].greater_is_better(measure)
    rows: list[tuple[str, tuple[Cell, ...]]] = []
    tested = True
    for name, of_stream in zip(shorten_streams(list(by_stream)), by_stream.values(), strict=True):
        means, spreads = _summarise(of_stream, learners, measure, forgetting, value)
        top = max(means.values()) if greater else min(means.values())
        equal = _find_equal(
            of_stream, next(name for name in learners if means[name] == top), measure, forgetting, alpha
        )
        tested = tested and equal is not None
        cells = tuple(
            Cell(
                format_value(means[learner], unit),
                format_spread(spreads[learner], unit),
                best=means[learner] == top,
                equal=learner in (equal or ()) and means[learner] != top,
            )
            for learner in learners
        )
        rows.append((name, cells))
    ranking = None
    if len(by_stream) > 1 and len(learners) > 1:
        ranking = rank(runs, measure=measure, forgetting=forgetting, alpha=alpha, post_hoc=post_hoc, value=value)
        by_name = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
        ranks = tuple(Cell(f"{by_name[name]:.2f}", best=by_name[name] == min(by_name.values())) for name in learners)
        rows.append(("mean rank", ranks))
    title = f"{label_measure(measure, unit)} {_describe_value(runs[0], forgetting, value)}"
    note = _describe_table(list(by_stream.values()), ranking, alpha if tested and len(learners) > 1 else None)
    return Grid(title, ("stream", *learners), tuple(rows), note), ranking


def _describe_value(run: RunData, forgetting: str | None, value: str | None) -> str:
    chosen = choose_forgetting(run.forgettings, forgetting)
    phrase = describe_forgetting(chosen)
    return phrase if choose_value(chosen, value) == "last" else f"{phrase}, mean of the readings over the stream"


def _describe_table(by_stream: Sequence[Sequence[RunData]], ranking: Ranking | None, alpha: float | None) -> str:
    """Return the end of the caption: what deviations, bold numbers and circles mean, and the test over streams.

    `alpha` is the level of the tests on one stream; None if there are none.
    """
    seeds = max(map(len, by_stream))
    n_folds = max(run.n_folds for runs in by_stream for run in runs)
    of = f"{seeds} seeds" if seeds > 1 else f"{n_folds} folds"
    parts = [f"Mean and standard deviation over {of}" if seeds > 1 or n_folds > 1 else ""]
    same = [name_stream(runs[0]) for runs in by_stream if _have_same_rows(runs)]
    if same:
        whose = "all streams" if len(same) == len(by_stream) else join_words(shorten_streams(same))
        parts.append(f"The rows of {whose} are the same for all seeds, so there only the seeds of learners differ")
    parts.append("Bold: best of a stream")
    if alpha is not None:
        in_runs = ", in one run at least" if seeds > 1 else ""
        parts.append(f"°: not significantly worse than the best on that stream at level {alpha:g}{in_runs}")
    if ranking is not None:
        friedman_p = format_p_term(ranking.friedman.best_p)
        parts.append(f"Friedman test over {count(len(ranking.streams), 'stream')}: p {friedman_p}")
        claims = [(better, pair) for pair in ranking.pairs if (better := ranking.better(pair)) is not None]
        differ = [f"{better} over {pair.second if better == pair.first else pair.first}" for better, pair in claims]
        parts.append(f"Significant over streams: {join_words(differ) if differ else 'none'}")
    return ". ".join(filter(None, parts)) + "."


def _have_same_rows(runs: Sequence[RunData]) -> bool:
    """Return whether several runs read the same rows, by the fingerprint of their streams."""
    found = [get_part(run.description, "stream").get("fingerprint") for run in runs]
    return len(runs) > 1 and found[0] is not None and all(one == found[0] for one in found)


def _summarise(
    runs: Sequence[RunData], learners: Sequence[str], measure: str, forgetting: str | None, value: str | None
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean and the standard deviation of each learner over the seeds of a stream, or the folds of a run."""
    by_run = [read_fold_values(run, measure, forgetting, value) for run in runs]
    missing = next((name for name in learners if any(name not in of_run for of_run in by_run)), None)
    if missing is not None:
        msg = f"{missing} was not evaluated on {name_stream(runs[0])}: evaluate it there or leave it out"
        raise StreamgaugeError(msg)
    values: dict[str, NDArray[np.float64]] = {
        name: by_run[0][name] if len(runs) == 1 else np.array([of_run[name].mean() for of_run in by_run])
        for name in learners
    }
    spreads = {name: float(own.std(ddof=1)) if len(own) > 1 else float("nan") for name, own in values.items()}
    return {name: float(own.mean()) for name, own in values.items()}, spreads


def _find_equal(
    runs: Sequence[RunData], best: str, measure: str, forgetting: str | None, alpha: float
) -> frozenset[str] | None:
    """Return the learners that are not significantly worse than the best of a stream; None if that cannot be tested."""
    equal: set[str] = set()
    for run in runs:
        try:
            chosen = choose_forgetting(run.forgettings, forgetting)
            tests = compare_all(run, measure=measure, alpha=alpha, forgetting=None if chosen == LANDMARK else chosen)
        except StreamgaugeError:
            return None
        against = [test for test in tests if best in (test.first, test.second)]
        equal |= {_other(test, best) for test in against if test.better != best}
    return frozenset(equal)


def _other(test: Comparison, name: str) -> str:
    return test.second if test.first == name else test.first


def describe_method(runs: Sequence[RunData], *, alpha: float = 0.05, post_hoc: str = "wilcoxon_holm") -> str:
    """Return a paragraph on how the learners were evaluated and compared, with seeds and versions.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> print(describe_method([evaluate("SEA(n_rows=1000)", ["NaiveBayes", "NoChange"])])[:71])
    We evaluated 2 learners (NaiveBayes and NoChange) on SEA(n_rows=1000) w
    """
    first = runs[0]
    streams = list(dict.fromkeys(map(name_stream, runs)))
    learners = f"{count(len(first.learners), 'learner')} ({join_words(first.learners)})"
    rows = sorted({run.n_rows for run in runs})
    n_rows = f"{rows[0]:,}" if len(rows) == 1 else f"{rows[0]:,} to {rows[-1]:,}"
    sentences = [
        f"We evaluated {learners} on {join_words(streams)} with streamgauge {version('streamgauge')}, over {n_rows}"
        " rows of each stream in one pass.",
        *_describe_streams(runs),
        *_describe_scheme(first),
        _describe_seeds(runs),
        *_describe_specs(first),
    ]
    labelling = str(first.description.get("labelling", "AllLabels()"))
    if labelling != "AllLabels()":
        sentences.append(
            f"Labels were given by {labelling}, and the {first.description.get('score')} predictions scored."
        )
    phrases = [describe_forgetting(forgetting) for forgetting in first.forgettings]
    sentences.append(f"We measured {join_words(first.measures)} {join_words(phrases)}.")
    sentences += _describe_tests(first, alpha)
    if len(streams) > 1:
        sentences.append(
            f"Over the {len(streams)} streams, each with one value a learner, we ranked the learners by Friedman's test"
            f" and compared pairs by {POST_HOCS[post_hoc]}, at level {alpha:g}."
        )
    return " ".join(sentences)


def _describe_streams(runs: Sequence[RunData]) -> list[str]:
    """Return what generators are behind the names of streams, with the options that are not the usual ones."""
    known = FAMILIES["streams"]()
    shown = {}
    for run in runs:
        name = name_stream(run)
        match = re.fullmatch(r"(\w+)/\d+\((.*)\)", str(get_part(run.description, "stream").get("fingerprint", "")))
        if match is None or match[1] not in known or name.startswith(f"{match[1]}(") or "/" in match[2]:
            continue  # what is made of other streams is described by its name
        usual = {key: repr(option.default) for key, option in signature(known[match[1]]).parameters.items()}
        options = re.findall(r"(\w+)=((?:\([^()]*\)|[^,()])+)", match[2])
        own = [f"{key}={text}" for key, text in options if key not in SEEDS and usual.get(key, text) != text]
        if own or name != match[1]:
            shown[name] = f"{name} is {match[1]}" + (f"({', '.join(own)})" if own else "")
    return [f"Streams: {'; '.join(shown.values())}."] if shown else []


def _describe_scheme(run: RunData) -> list[str]:
    scheme = get_part(run.description, "scheme")
    name, n_folds = scheme.get("name"), scheme.get("n_folds")
    if not isinstance(n_folds, int) or n_folds == 1:
        how = "was prequential" if name == "Prequential(test='all')" else f"scheme was {name}"
        return [f"The evaluation {how}: every row is tested before it is learnt."] if name else []
    tested = TESTED.get(str(scheme.get("test")), "")
    return [f"The scheme was {name}, with {count(n_folds, 'fold')}{f', {tested}' if tested else ''}."]


def _describe_seeds(runs: Sequence[RunData]) -> str:
    seeds = sorted({seed for run in runs if isinstance(seed := run.description.get("seed"), int)})
    shown = join_words([str(seed) for seed in seeds])
    return f"The seed{'s were' if len(seeds) > 1 else ' was'} {shown}." if seeds else ""


def _describe_specs(run: RunData) -> list[str]:
    """Return the options of the learners, where they are not clear from their names."""
    facts = get_part(run.description, "learners")
    specs = {name: str(known.get("spec", "")) for name, known in facts.items() if isinstance(known, dict)}
    plain = {name: re.sub(r"\(seed=\d+\)|, seed=\d+", "", spec).removesuffix("()") for name, spec in specs.items()}
    shown = [
        spec if spec.startswith(f"{name}(") else f"{name} is {spec}"
        for name, spec in plain.items()
        if spec not in (name, "")
    ]
    return [f"Options: {'; '.join(shown)}."] if shown else []


def _describe_tests(run: RunData, alpha: float) -> list[str]:
    """Return how differences on one stream were tested: the test, its question and null, and the adjustment."""
    try:
        tests = compare_all(run, alpha=alpha)
    except StreamgaugeError as error:
        return [f"Differences on one stream were not tested: {error}."] if len(run.learners) > 1 else []
    if not tests:
        return []
    test = tests[0]
    adjustment = f", with p-values adjusted by {test.adjustment}" if test.adjustment else ""
    over = re.sub(r"\d+ ", "", test.basis)
    return [
        f"Differences between learners on one stream were tested by the {test.title}, a jackknife over {over}, at level"
        f" {alpha:g}{adjustment}; its null hypothesis is that {test.null}."
    ]


def shorten_streams(streams: Sequence[str]) -> list[str]:
    """Return the names of streams without options, except where two would be equal.

    Examples
    --------
    >>> shorten_streams(["SEA(noise=0.1)", "LED()", "LED(noise=0.2)"])
    ['SEA', 'LED()', 'LED(noise=0.2)']
    """
    names = shorten_stream_names(streams)
    plain = [name.partition("(")[0] for name in names]
    return [short if plain.count(short) == 1 else name for short, name in zip(plain, names, strict=True)]
