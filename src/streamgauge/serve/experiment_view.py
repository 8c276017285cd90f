"""An experiment as the page shows it: its runs, and the ranking of its learners over the streams that are finished."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from streamgauge._engine.journal.format import read_json
from streamgauge._format.text import count
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments.plan import PLAN
from streamgauge.reports.data import to_data
from streamgauge.reports.paper import shorten_streams
from streamgauge.reports.rankings import build_ranking_document
from streamgauge.reports.study import build_ranking_tables, rank_runs
from streamgauge.results import Results
from streamgauge.serve.curve_sources import Cache
from streamgauge.serve.run_folders import RunFolders
from streamgauge.store.merging import merge_runs

__all__ = ["describe_experiment"]


def describe_experiment(run_folders: RunFolders, name: str) -> dict[str, Any]:
    """Return the runs of an experiment, and for each scheme and labelling the report of its ranking.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.experiments import Experiment, Source, run
    >>> folder = tempfile.mkdtemp()
    >>> experiment = Experiment("small", {"sea": Source("SEA", rows=100)}, {"bayes": "NaiveBayes", "last": "NoChange"})
    >>> _ = run(experiment, folder, n_jobs=1)
    >>> facts = describe_experiment(RunFolders(folder), "small")
    >>> facts["n_runs"], len(facts["runs"])
    (1, 1)
    """
    runs = [run for run in run_folders.list_summaries() if name and run.get("experiment") == name]
    if not runs:
        msg = f"there is no experiment {name[:200]!r} in the results folder"
        raise StreamgaugeError(msg)
    finished = {run["id"]: run_folders.find_run(run["id"]) for run in runs if run["state"] == "complete"}
    folders = {id_: run.folder for id_, run in finished.items() if run.is_saved}
    for run in finished.values():
        run.check_files()
    plans = [read_json(run_folders.find_run(run["id"]).folder.parent.parent / PLAN) for run in runs[:1]]
    planned = (plans[0] or {}).get(name)
    return {
        "name": name,
        "runs": runs,
        "n_runs": planned if isinstance(planned, int) else None,
        "parts": _build_parts(folders, run_folders.cache),
    }


def _build_parts(folders: Mapping[str, Path], cache: Cache) -> list[dict[str, Any]]:
    """Return a part for each scheme and labelling: the sections of its ranking, and which run a value comes from."""
    by_setting: dict[tuple[str, str], list[tuple[str, Results]]] = defaultdict(list)
    for id_, folder in folders.items():
        results = cache.load(folder).results
        setting = _name_part(results, "scheme"), str(results.description.get("labelling", ""))
        by_setting[setting].append((id_, results))
    return [
        {"title": ", ".join(filter(None, setting)), **_rank_part(sorted(found, key=_sort_key))}
        for setting, found in sorted(by_setting.items())
    ]


def _sort_key(found: tuple[str, Results]) -> tuple[str, int, str]:
    seed = found[1].description.get("seed")
    return _name_part(found[1], "stream"), seed if isinstance(seed, int) else 0, found[0]


def _name_part(results: Results, part: str) -> str:
    facts = results.description.get(part)
    return str(facts.get("name", "")) if isinstance(facts, dict) else str(facts)


def _rank_part(found: Sequence[tuple[str, Results]]) -> dict[str, Any]:
    by_condition: dict[str, list[Results]] = defaultdict(list)
    for id_, results in found:
        by_condition[str(results.description.get("condition", id_))].append(results)
    whole, note = _select_whole([merge_runs(results) for results in by_condition.values()])
    ranking, reason = rank_runs(whole)
    if ranking is None:
        return {"sections": [], "note": f"Not ranked: {reason}.", "links": {}, "ranks": [], "groups": []}
    document = build_ranking_document(ranking, build_ranking_tables(whole, ranking))
    means = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
    names = list(dict.fromkeys(_name_part(run, "stream") for run in whole))
    links: dict[str, dict[str, str]] = {}
    for name, short in zip(names, shorten_streams(names), strict=True):
        of_stream = [(id_, results) for id_, results in reversed(found) if _name_part(results, "stream") == name]
        links[short] = {learner: id_ for id_, results in of_stream for learner in results.learners}
    return {
        "sections": to_data(document.sections),
        "note": note,
        "links": links,
        "ranks": [{"learner": name, "mean": means[name]} for name in ranking.order],
        "groups": ranking.groups,
    }


def _select_whole(runs: Sequence[Results]) -> tuple[list[Results], str]:
    """Return the runs with all learners on streams that have such a run for each seed, and what is left out."""
    learners = {name for run in runs for name in run.learners}
    missing = Counter(_name_part(run, "stream") for run in runs if {*run.learners} != learners)
    whole = [run for run in runs if _name_part(run, "stream") not in missing]
    left_out = f"; {count(len(missing), 'stream')} without all learners left out" if missing else ""
    n_streams = len({_name_part(run, "stream") for run in whole})
    return whole, f"Of {count(n_streams, 'stream')} with {count(len(whole), 'finished run')}{left_out}."
