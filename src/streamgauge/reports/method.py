"""The paragraph of a paper on how learners were evaluated and compared, with citations where things are named."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from inspect import signature

from streamgauge._format.text import count, describe_forgetting, join_words, shorten_stream_name
from streamgauge.errors import StreamgaugeError
from streamgauge.names import FAMILIES
from streamgauge.records import RunData
from streamgauge.reports.latex import escape_latex
from streamgauge.reports.references import list_citations
from streamgauge.reports.title import TESTED, find_labelling, get_part, shorten_scheme
from streamgauge.significance import Comparisons, Ranking, compare_all
from streamgauge.significance.compare import LANDMARK, choose_forgetting
from streamgauge.significance.ranking import choose_value
from streamgauge.significance.seeds import have_same_rows
from streamgauge.significance.setups import group_by_stream

__all__ = ["Method", "describe_method", "find_stream_kind"]

SEEDS = ("n_rows", "seed", "sample")
"""Options of generators that are said elsewhere."""

JACKKNIFE = ("kunsch1989the", "shao1995the")

POST_HOC_KEYS = {
    "wilcoxon_holm": ("wilcoxon1945individual", "holm1979a"),
    "ranks_holm": ("demsar2006statistical", "holm1979a"),
    "ranks_shaffer": ("demsar2006statistical", "shaffer1986modified"),
    "ranks_bergmann_hommel": ("bergmann1988improvements", "garcia2008an"),
    "nemenyi": ("demsar2006statistical",),
}

IN_PROSE = {
    "wilcoxon_holm": "the exact Wilcoxon signed-rank test with Holm's adjustment",
    "ranks_holm": "the normal test of mean ranks with Holm's adjustment",
    "ranks_shaffer": "the normal test of mean ranks with Shaffer's adjustment",
    "ranks_bergmann_hommel": "the normal test of mean ranks with Bergmann and Hommel's adjustment",
    "nemenyi": "Nemenyi's test",
}

_OPEN, _CLOSE = "\ue000", "\ue001"  # around keys, in the text that has citations


@dataclass(frozen=True)
class Method:
    """How runs were evaluated and compared.

    Parameters
    ----------
    runs
        The runs.
    ranking
        Their ranking over streams by one of the measures; None without one.
    measures
        The measures that are reported.
    forgetting, alpha, value
        As for `streamgauge.rank`.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> method = Method([evaluate("SEA(n_rows=1000)", ["NaiveBayes", "NoChange"])])
    >>> print(method.to_text()[:60])
    We evaluated 2 learners: NaiveBayes and NoChange. The stream
    """

    runs: Sequence[RunData]
    ranking: Ranking | None = None
    measures: Sequence[str] = ()
    forgetting: str | None = None
    alpha: float = 0.05
    value: str | None = None
    keys: dict[str, None] = field(default_factory=dict)
    """The keys that were cited, once it has been written."""

    def to_text(self) -> str:
        """Return the paragraph without citations."""
        return re.sub(f"{_OPEN}.*?{_CLOSE}", "", self._write())

    def to_latex(self) -> str:
        """Return the paragraph in LaTeX."""
        parts = re.split(f"{_OPEN}(.*?){_CLOSE}", self._write())
        # Lines may end within the options of a learner, which have no spaces.
        texts = [re.sub(r"((?<=\w)\(|=)(?=\S)", r"\1\\allowbreak{}", escape_latex(text)) for text in parts[::2]]
        cited = [rf"~\cite{{{keys}}}" for keys in parts[1::2]]
        return "".join(text + keys for text, keys in zip(texts, [*cited, ""], strict=True)) + "\n"

    def _write(self) -> str:
        self.keys.clear()
        by_stream = group_by_stream(self.runs)
        found = list_citations(self.runs)
        first = self.runs[0]
        sentences = [
            self._describe_learners(found),
            self._describe_streams(by_stream, found),
            self._describe_scheme(found),
            _describe_seeds(by_stream),
            _describe_labelling(first),
            self._describe_measures(found, repeated=len(self.runs) > len(by_stream)),
            self._describe_tests(by_stream),
            self._describe_ranks(),
            f"All evaluations were run with streamgauge {version('streamgauge')}{self._cite(['streamgauge'])}.",
        ]
        return " ".join(filter(None, sentences))

    def _cite(self, keys: Sequence[str]) -> str:
        self.keys.update(dict.fromkeys(keys))
        return f"{_OPEN}{','.join(keys)}{_CLOSE}" if keys else ""

    def _describe_learners(self, found: Mapping[str, Sequence[str]]) -> str:
        facts = get_part(self.runs[0].description, "learners")
        names = []
        for name in self.runs[0].learners:
            known = facts.get(name)
            spec = _strip_spec(str(known.get("spec", ""))) if isinstance(known, dict) else ""
            kind, _, options = spec.partition("(")
            keys = dict.fromkeys(key for thing in re.findall(r"[A-Za-z_]\w*", spec) for key in found.get(thing, ()))
            parts = [kind if kind not in (name, "") else "", options.removesuffix(")")]
            shown = ", ".join(filter(None, parts))
            names.append(f"{name}{self._cite(list(keys))}" + (f" ({shown})" if shown else ""))
        return f"We evaluated {count(len(names), 'learner')}: {join_words(names)}."

    def _describe_streams(self, by_stream: Mapping[str, Sequence[RunData]], found: Mapping[str, Sequence[str]]) -> str:
        names = []
        for name, runs in by_stream.items():
            kind, options = find_stream_kind(runs[0])
            if not kind:
                names.append(f"{shorten_stream_name(name)}{self._cite(_list_stream_keys(runs[0], found))}")
                continue
            own = "" if name.startswith(f"{kind}(") or name == kind else kind
            described = ", ".join([*filter(None, [own]), *(options if own or name == kind else [])])
            names.append(f"{name}{self._cite(found.get(kind, ()))}" + (f" ({described})" if described else ""))
        rows = sorted({run.n_rows for runs in by_stream.values() for run in runs})
        n_rows = f"{rows[0]:,}" if len(rows) == 1 else f"{rows[0]:,} to {rows[-1]:,}"
        what = "The stream was" if len(names) == 1 else "The streams were"
        return f"{what} {join_words(names)}, with {n_rows} rows{' each' if len(names) > 1 else ''}, read in one pass."

    def _describe_scheme(self, found: Mapping[str, Sequence[str]]) -> str:
        scheme = get_part(self.runs[0].description, "scheme")
        name, n_folds = str(scheme.get("name", "")), scheme.get("n_folds")
        cited = self._cite(found.get(name.partition("(")[0], ()))
        if not name:
            return ""
        if name == "Prequential(test='all')":
            return f"The evaluation was prequential{cited}: every row was predicted before it was learnt."
        if not isinstance(n_folds, int) or n_folds == 1:
            return f"The scheme was {shorten_scheme(name)}{cited}."
        tested = TESTED.get(str(scheme.get("test")), "")
        folds = f"{count(n_folds, 'fold')}{f', {tested}' if tested else ''}"
        return f"The scheme was {shorten_scheme(name)}{cited}, with {folds}."

    def _describe_measures(self, found: Mapping[str, Sequence[str]], *, repeated: bool) -> str:
        run = self.runs[0]
        chosen = choose_forgetting(run.forgettings, self.forgetting)
        phrase = describe_forgetting(chosen)
        if choose_value(chosen, self.value) == "mean":
            phrase = f"{phrase}, as the mean of the readings over the stream"
        phrase += self._cite(found.get(chosen.partition("(")[0], ()))
        names = [f"{name}{self._cite(found.get(name, ()))}" for name in self.measures or run.measures]
        spread = "the seeds" if repeated else "the folds" if run.n_folds > 1 else ""
        over = f"; tables show means and standard deviations over {spread}" if spread else ""
        return f"We measured {join_words(names)} {phrase}{over}."

    def _describe_tests(self, by_stream: Mapping[str, Sequence[RunData]]) -> str:
        """Return how differences on one stream were tested."""
        run = self.runs[0]
        if len(run.learners) < 2:
            return ""
        by_seed = {name: runs for name, runs in by_stream.items() if len(runs) > 1}
        same = [name for name, runs in by_seed.items() if have_same_rows(runs)]
        jackknife, null, reason = "", "", ""
        if same or len(by_seed) < len(by_stream):
            chosen = choose_forgetting(run.forgettings, self.forgetting)
            try:
                tests = compare_all(run, alpha=self.alpha, forgetting=None if chosen == LANDMARK else chosen)
            except StreamgaugeError as error:
                tests, reason = Comparisons(), str(error)
            if tests:
                jackknife, null = f"a jackknife{self._cite(JACKKNIFE)} over {tests[0].basis}", tests[0].null
        if not by_seed:
            return self._describe_pairs(jackknife, null, reason)
        n_rivals = len(run.learners) - 1
        divided = f" divided by the {n_rivals} comparisons" if n_rivals > 1 else ""
        text = (
            "On each stream, every learner was tested against the one with the best mean by a one-sided paired t-test"
            f" over the seeds, at level {self.alpha:g}{divided}{self._cite(['hsu1984constrained'])}: the best learner"
            f" of a stream is among those not found worse with {100 * (1 - self.alpha):g}% confidence."
        )
        if same and jackknife:
            whose = "" if len(same) == len(by_stream) else f" for {join_words([shorten_stream_name(n) for n in same])}"
            text = (
                f"{text} As the seeds share the rows{whose}, the variance within the runs, by {jackknife}, was added."
            )
        return text

    def _describe_pairs(self, jackknife: str, null: str, reason: str) -> str:
        """Return how differences were tested in a single run on each stream."""
        if not jackknife:
            return f"Differences on one stream were not tested: {reason or 'the learners were not run together'}."
        n = len(self.runs[0].learners)
        holm = f", with p-values adjusted by Holm's procedure{self._cite(['holm1979a'])} over {n * (n - 1) // 2} pairs"
        return (
            f"On each stream, differences of two learners were tested by a two-way t, {jackknife}; its null hypothesis"
            f" is that {null}. The level was {self.alpha:g}{holm if n > 2 else ''}."
        )

    def _describe_ranks(self) -> str:
        ranking = self.ranking
        if ranking is None:
            return ""
        exact = ranking.friedman.exact_p is not None
        keys = ["friedman1937the"] if exact else ["friedman1937the", "iman1980approximations"]
        how = "exact p-values" if exact else "the statistic of Iman and Davenport"
        repeated = len(self.runs) > len(ranking.streams)
        one = "each with the mean over its seeds" if repeated else "each with one value per learner"
        whom = f"{ranking.control} with each other learner" if ranking.control else "all pairs of learners"
        post_hoc = f"{IN_PROSE[ranking.post_hoc]}{self._cite(POST_HOC_KEYS[ranking.post_hoc])}"
        return (
            f"Over the {len(ranking.streams)} streams, {one}, we ranked the learners by each measure, tested the mean"
            f" ranks by Friedman's test{self._cite(keys)} with {how}, and compared {whom} by {post_hoc}, at level"
            f" {self.alpha:g}."
        )


def _strip_spec(spec: str) -> str:
    """Return the description of a learner without seeds and without the adapter of plain Python objects."""
    plain = re.sub(r"\(seed=\d+\)|, seed=\d+|(?<=\()seed=\d+, ", "", spec).removesuffix("()")
    match = re.fullmatch(r"PythonLearner\(learner=(.*?)\)", plain)
    return match[1] if match else plain


def _describe_seeds(by_stream: Mapping[str, Sequence[RunData]]) -> str:
    known = [run.description.get("seed") for runs in by_stream.values() for run in runs]
    seeds = sorted({seed for seed in known if isinstance(seed, int)})
    if len(seeds) < 2:
        return f"The seed was {seeds[0]}." if seeds else ""
    same = [name for name, runs in by_stream.items() if len(runs) > 1 and have_same_rows(runs)]
    if not same:
        sets = "which set both the rows of the streams and the randomness of the learners"
    elif len(same) == len(by_stream):
        sets = "which set the randomness of the learners; the rows are the same for all seeds"
    else:
        whose = join_words([shorten_stream_name(name) for name in same])
        sets = f"which set the rows and the randomness of the learners; the rows of {whose} are the same for all seeds"
    return f"All runs were repeated with the seeds {join_words([str(seed) for seed in seeds])}, {sets}."


def _describe_labelling(run: RunData) -> str:
    labelling = find_labelling(run)
    if not labelling:
        return ""
    return f"Labels were given by {labelling}, and the {run.description.get('score')} predictions scored."


def _list_stream_keys(run: RunData, found: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the keys of the generators that a stream made of others names."""
    facts = get_part(run.description, "stream")
    named = re.findall(r"[A-Za-z_]\w*", f"{facts.get('name')} {facts.get('fingerprint')}")
    known = FAMILIES["streams"]()
    return list(dict.fromkeys(key for name in named if name in known for key in found.get(name, ())))


def find_stream_kind(run: RunData) -> tuple[str, list[str]]:
    """Return the generator behind the name of a stream, with the options that are not the usual ones; empty if none.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> find_stream_kind(evaluate("RandomRBF(speed=0.1, n_rows=100)", "NoChange"))
    ('RandomRBF', ['speed=0.1'])
    """
    known = FAMILIES["streams"]()
    fingerprint = str(get_part(run.description, "stream").get("fingerprint", ""))
    match = re.fullmatch(r"(\w+)/\d+\((.*)\)", fingerprint)
    if match is None or match[1] not in known or "/" in match[2]:
        return "", []  # what is made of other streams is described by its name
    usual = {key: repr(option.default) for key, option in signature(known[match[1]]).parameters.items()}
    options = re.findall(r"(\w+)=((?:\([^()]*\)|[^,()])+)", match[2])
    return match[1], [f"{key}={text}" for key, text in options if key not in SEEDS and usual.get(key, text) != text]


def describe_method(
    runs: Sequence[RunData], ranking: Ranking | None = None, *, alpha: float = 0.05, forgetting: str | None = None
) -> str:
    """Return a paragraph on how the learners were evaluated and compared, with seeds and versions.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> print(describe_method([evaluate("SEA(n_rows=1000)", ["NaiveBayes", "NoChange"])])[:48])
    We evaluated 2 learners: NaiveBayes and NoChange
    """
    return Method(runs, ranking, forgetting=forgetting, alpha=alpha).to_text()
