"""The server of the dashboard: what it tells, and to whom."""

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("httpx2", reason="the test client of starlette needs httpx2")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from streamgauge import (
    SEA,
    Bootstrap,
    Landmark,
    MajorityClass,
    NaiveBayes,
    StreamgaugeError,
    Window,
    compare,
    evaluate,
    load,
    save,
)
from streamgauge._engine.collector import Progress
from streamgauge._engine.journal import Journal, JournalReader, Layout
from streamgauge._format.times import format_time
from streamgauge.experiments import Experiment, Source, run
from streamgauge.labelling import Fraction
from streamgauge.records import Alarm, EarlierVerdict, Verdict
from streamgauge.records.checksums import seal_json
from streamgauge.reports.headline import write_headline
from streamgauge.reports.study import run_recommended_tests
from streamgauge.serve import RunFolders, Settings, run_folders
from streamgauge.serve import curve_sources as serve_sources
from streamgauge.serve.app import create_app
from streamgauge.serve.curve_sources import Cache
from streamgauge.serve.guard import POLICY
from streamgauge.serve.launched_runs import LaunchedRuns, build_arguments, list_choices, list_options
from streamgauge.serve.live import MAX_NEW_POINTS, Watcher
from streamgauge.serve.metrics import format_metrics
from streamgauge.serve.runs import Run
from streamgauge.significance import LiveTest, rank
from streamgauge.store import Claim, Condition, Store, WantedResults
from tests.support.timed_examples import make_timed_stream
from tests.support.verdict_examples import BETTER, MODELS, SURE_LOSS

HOME = "http://127.0.0.1:8765"
ORIGIN = {"origin": HOME}
LIVE = "ws://127.0.0.1:8765/api/live"
LAYOUT = Layout(("tree", "bayes"), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)
ACCURACY = {"kind": "measure", "name": "accuracy", "under": "Landmark()"}

VERDICT = Verdict("tree", "bayes", "first", 20, 0.03, (0.01, 0.05), 0.01, 0.05, 1, "equal", "two_way_sequence")


def batch(rows: list[int], values: tuple[float, float] = (0.75, 0.5), **further: Any) -> Progress:
    grid = np.tile(np.array(values)[None, :, None, None, None], (len(rows), 1, 1, 1, 1))
    return Progress(max(rows), np.array(rows, dtype=np.int64), grid, **further)


def decoded(content: bytes) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Read curves as the page does."""
    length = int.from_bytes(content[:4], "little")
    head = json.loads(content[4 : 4 + length])
    rows = np.frombuffer(content, "<f8", head["n"], 4 + length)
    values = np.frombuffer(content, "<f4", offset=4 + length + (16 if head["times"] else 8) * head["n"])
    return head, rows, values.reshape(len(head["names"]), 3 if head["bands"] else 1, head["n"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a results folder with a run that was saved and one that left only its journal."""
    root = tmp_path_factory.mktemp("results")
    options: dict[str, Any] = {
        "scheme": Bootstrap(3),
        "forgetting": [Landmark(), Window(500)],
        "measures": ("accuracy", "kappa"),
        "every": 100,
        "resources": True,
        "detectors": ["DDM"],
    }
    learners = {"<img src=x onerror=alert(1)>": NaiveBayes(), "=majority": MajorityClass()}
    saved = evaluate(SEA(n_rows=5_000, noise=0.1), learners, journal=root / "saved", **options)
    save(saved, root / "saved")
    evaluate(SEA(n_rows=3_000), NaiveBayes(), every=100, journal=root / "deep" / "er" / "journalled")
    return root


@pytest.fixture
def page(folder: Path) -> Iterator[TestClient]:
    with TestClient(create_app(RunFolders(folder)), base_url=HOME) as client:
        yield client


def curves_of(page: TestClient, name: str, panel: dict[str, str], **query: Any) -> tuple[Any, Any, Any]:
    answer = page.get("/api/curves", params={"id": name, "panel": json.dumps(panel), **query})
    assert answer.status_code == 200, answer.text
    return decoded(answer.content)


def test_runs_are_found_at_any_depth_and_listed_with_their_state(page: TestClient) -> None:
    runs = {run["id"]: run for run in page.get("/api/runs").json()["runs"]}
    assert set(runs) == {"saved", "deep/er/journalled"}
    assert runs["saved"]["state"] == runs["deep/er/journalled"]["state"] == "complete"
    assert runs["saved"]["n_rows"] == 5_000
    assert runs["deep/er/journalled"]["learners"] == ["NaiveBayes"]


def test_curves_are_those_of_the_results(page: TestClient, folder: Path) -> None:
    results = load(folder / "saved")
    panel = {"kind": "measure", "name": "kappa", "under": "Window(width=500)"}
    head, rows, values = curves_of(page, "saved", panel)
    assert head["names"] == list(results.learners)
    assert rows.tolist() == results.rows.tolist()
    for place, learner in enumerate(results.learners):
        folds = results.curve(learner, "kappa", "Window(width=500)")
        np.testing.assert_allclose(values[place, 0], folds.mean(axis=1), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(values[place, 1], folds.min(axis=1), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(values[place, 2], folds.max(axis=1), rtol=1e-6, atol=1e-7)


def test_a_saved_run_and_its_journal_show_the_same_curves(page: TestClient, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "saved" / "journal", tmp_path / "journal")
    with TestClient(create_app(RunFolders(tmp_path)), base_url=HOME) as only_journal:
        for panel in (ACCURACY, {"kind": "cost", "name": "n_bytes", "under": ""}):
            saved, followed = curves_of(page, "saved", panel), curves_of(only_journal, ".", panel)
            assert saved[1].tolist() == followed[1].tolist()
            np.testing.assert_allclose(saved[2], followed[2], rtol=1e-6)


def test_thinned_curves_keep_extremes_and_zoom_gives_more(page: TestClient) -> None:
    _, rows, values = curves_of(page, "saved", ACCURACY)
    head, thin_rows, thin = curves_of(page, "saved", ACCURACY, points=10)
    assert head["thinned"]
    assert len(thin_rows) <= 10
    for place in range(2):
        assert thin[place, 1].min() == values[place, 1].min()
        assert thin[place, 2].max() == values[place, 2].max()
        assert thin[place, 0].min() == values[place, 0].min()
    span = {"from": 1_000, "to": 1_500}
    _, near_rows, _ = curves_of(page, "saved", ACCURACY, points=10, **span)
    assert near_rows.tolist() == [900, 1000, 1100, 1200, 1300, 1400, 1500, 1600]
    assert len(rows) == 50


def test_details_tell_alarms_and_verdicts(page: TestClient, folder: Path) -> None:
    details = page.get("/api/run", params={"id": "saved"}).json()
    assert sum(alarm["n"] for alarm in details["alarms"]) == len(load(folder / "saved").alarms)
    found = page.get("/api/verdicts", params={"id": "saved"}).json()
    (verdict,) = found["verdicts"]
    (live,) = load(folder / "saved").verdicts
    assert (verdict["outcome"], verdict["row"], verdict["sentence"]) == (live.outcome, live.row, str(live))
    assert verdict["question"] == "on this stream"
    assert f"Null hypothesis: {live.null}." in found["verdict_terms"][1]
    (answer,) = found["overview"][0]["blocks"]
    saved = load(folder / "saved")
    assert answer["sentences"] == write_headline(saved, run_recommended_tests(saved))


@pytest.mark.parametrize("live_test", [None, LiveTest()])
def test_the_recommended_test_is_shown_beside_live_verdicts(tmp_path: Path, live_test: LiveTest | None) -> None:
    results = evaluate(SEA(n_rows=2_000), [NaiveBayes(), MajorityClass()], scheme=Bootstrap(5), live_test=live_test)
    save(results, tmp_path / "run")
    found = RunFolders(tmp_path).find_run("run").list_verdicts()
    assert len(found["verdicts"]) == (live_test is not None)  # a test at the end is not called a verdict
    assert found["overview"][0]["blocks"][0]["sentences"][0].startswith("Best: NaiveBayes")
    (block,) = (block for part in found["details"] for block in part["blocks"] if block["kind"] == "claims")
    assert block["title"] == "Comparisons at the end on accuracy, on this stream"
    (claim,) = block["claims"]
    assert claim["sentence"].startswith("NaiveBayes is better than MajorityClass, p ")
    comparison = compare(results)
    assert comparison.better == "NaiveBayes"
    assert claim["estimate"]["estimate"] == comparison.difference
    assert claim["estimate"]["ends"] == list(comparison.interval or ())


def test_a_table_holds_all_that_is_shown_and_no_formula(page: TestClient) -> None:
    panels = [json.dumps(ACCURACY), json.dumps({"kind": "cost", "name": "cpu_seconds", "under": ""})]
    query: dict[str, Any] = {
        "id": "saved",
        "panel": panels,
        "from": 1_000,
        "to": 1_500,
        "hidden": "<img src=x onerror=alert(1)>",
    }
    answer = page.get("/api/table.csv", params=query)
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert "attachment" in answer.headers["content-disposition"]
    assert {row["learner"] for row in rows} == {"'=majority"}
    assert [int(row["row"]) for row in rows if row["kind"] == "measure"] == [1000, 1100, 1200, 1300, 1400, 1500]
    assert {row["kind"] for row in rows} == {"measure", "cost"}


def test_runs_of_a_store_name_their_experiment(tmp_path: Path) -> None:
    store = Store(tmp_path, new=True)
    wanted = WantedResults(("accuracy",), ("Landmark()",))
    claim = store.claim(
        Condition("sea", "sea-1", "", ""), {"bayes": "NaiveBayes()"}, wanted, experiment="quick benchmark"
    )
    assert isinstance(claim, Claim)
    store.fail(claim, "it was too slow")
    evaluate(SEA(n_rows=100), NaiveBayes(), journal=tmp_path / "runs" / f"run={claim.run}")
    evaluate(SEA(n_rows=100), NaiveBayes(), journal=tmp_path / "runs" / "run=new")
    experiments = {run["id"]: run["experiment"] for run in RunFolders(tmp_path).list_summaries()}
    assert experiments == {f"runs/run={claim.run}": "quick benchmark", "runs/run=new": ""}
    (tmp_path / "catalogue.sqlite").write_bytes(b"no database")
    assert {run["experiment"] for run in RunFolders(tmp_path).list_summaries()} == {""}


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../results",
        "saved/..",
        "/etc",
        "saved/../../x",
        "deep\\er",
        "saved\0",
        "nothing",
        "deep",
        "saved/journal",
        "%2e%2e",
        "x" * 5_000,
        "saved/" * 2_000,
    ],
)
def test_nothing_outside_the_folder_is_read(page: TestClient, name: str) -> None:
    for address in ("/api/run", "/api/verdicts"):
        answer = page.get(address, params={"id": name})
        assert answer.status_code == 400
        assert "there is no run" in answer.text


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(folder / "saved")
    run_folders = RunFolders(tmp_path / "inside")
    assert run_folders.list_runs() == []
    with pytest.raises(StreamgaugeError, match="there is no run 'link'"):
        run_folders.find_run("link")


@pytest.mark.parametrize("name", ["manifest.json", "readings.parquet", "journal", "journal/status.json", "run.json"])
def test_a_link_in_the_folder_of_a_run_is_not_followed(tmp_path: Path, folder: Path, name: str) -> None:
    shutil.copytree(folder / "saved", tmp_path / "results" / "run")
    evaluate(SEA(n_rows=100), NaiveBayes(), journal=tmp_path / "results" / "other")
    inside = tmp_path / "results" / "run" / name
    if inside.is_dir():
        shutil.rmtree(inside)
    inside.unlink(missing_ok=True)
    inside.symlink_to(folder / "saved" / name)
    runs = {run["id"]: run for run in RunFolders(tmp_path / "results").list_summaries()}
    assert runs["other"]["state"] == "complete"
    assert runs["run"]["state"] == "unreadable"
    assert f"{Path(name).name} in it is a link" in runs["run"]["reason"]
    with TestClient(create_app(RunFolders(tmp_path / "results")), base_url=HOME) as page:
        for query in ("/api/run?id=run", "/api/verdicts?id=run", f"/api/curves?id=run&panel={json.dumps(ACCURACY)}"):
            assert page.get(query).status_code == 400


ODD_FACTS: tuple[Any, ...] = (None, -1, 1e999, 2**70, True, "x", "\ud800", [], [[]], [1, 2], {}, {"a": 1})


def replaced(facts: Any, path: tuple[Any, ...], fact: Any) -> Any:
    """Return a copy of JSON facts with another fact at a path."""
    if not path:
        return fact
    copy = facts.copy()
    copy[path[0]] = replaced(facts[path[0]], path[1:], fact)
    return copy


def list_paths(facts: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key in facts if isinstance(facts, dict) else range(min(2, len(facts))) if isinstance(facts, list) else ():
        yield from list_paths(facts[key], (*path, key))


@pytest.mark.filterwarnings("ignore::streamgauge.errors.DamageWarning")
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("deep/er/journalled", "journal/about.json"),
        ("deep/er/journalled", "journal/status.json"),
        ("saved", "journal/about.json"),
        ("saved", "manifest.json"),
        ("saved", "run.json"),
    ],
)
def test_a_malformed_run_hides_no_other_and_gives_no_internal_error(
    tmp_path: Path, folder: Path, name: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folders, "LIST_VALID_SECONDS", 0.0)
    shutil.copytree(folder, tmp_path / "results")
    path = tmp_path / "results" / name / file
    facts = json.loads(path.read_text()) if path.exists() else {"title": "mine", "experiment": "ours"}
    random = Random(7)
    paths = sorted(list_paths(facts), key=lambda _: random.random())[:40]
    odd = [replaced(facts, place, fact) for place in paths for fact in random.sample(ODD_FACTS, 2)]
    texts = [seal_json(facts) if isinstance(facts, dict) else json.dumps(facts) for facts in odd]
    others = {"saved", "deep/er/journalled"} - {name}
    app = create_app(RunFolders(tmp_path / "results"))
    queries = ["/metrics", *(f"/api/{part}?id={name}" for part in ("run", "verdicts"))]
    queries.append(f"/api/curves?id={name}&panel={json.dumps(ACCURACY)}")
    with TestClient(app, base_url=HOME, raise_server_exceptions=False) as page:
        for text in ["", "[" * 100_000, '{"format": 1', *texts]:
            path.write_text(text)
            answer = page.get("/api/runs")
            assert answer.status_code == 200, text
            assert others <= {run["id"] for run in answer.json()["runs"]}, text
            for query in queries:
                assert page.get(query).status_code in {200, 400}, (query, text)


def test_a_table_with_a_run_that_lacks_a_measure_is_refused_before_it_begins(page: TestClient) -> None:
    panels = [json.dumps(ACCURACY), json.dumps({**ACCURACY, "name": "no such measure"})]
    answer = page.get("/api/table.csv", params={"id": ["saved", "saved"], "panel": panels})
    assert answer.status_code == 400
    assert len(answer.text.splitlines()) == 1


@pytest.mark.parametrize(
    "address", ["/assets/../app.py", "/assets/%2e%2e/app.py", "/assets/", "/assets/main.py", "/etc/passwd"]
)
def test_only_the_files_of_the_page_are_served(page: TestClient, address: str) -> None:
    assert page.get(address).status_code == 404


@pytest.mark.parametrize(
    ("address", "query"),
    [
        ("/api/run", {}),
        ("/api/curves", {"id": "saved"}),
        ("/api/curves", {"id": "saved", "panel": "nonsense"}),
        ("/api/curves", {"id": "saved", "panel": "[" * 20_000}),
        ("/api/curves", {"id": "saved", "panel": "1" * 5_000}),
        ("/api/curves", {"id": "saved", "panel": json.dumps({**ACCURACY, "name": "\ud800"})}),
        ("/api/curves", {"id": "saved", "panel": json.dumps(ACCURACY), "points": "-inf"}),
        ("/api/curves", {"id": "saved", "panel": json.dumps({**ACCURACY, "name": "nonsense"})}),
        ("/api/curves", {"id": "saved", "panel": json.dumps({**ACCURACY, "under": 3})}),
        ("/api/curves", {"id": "saved", "panel": json.dumps(ACCURACY), "points": "1e30"}),
        ("/api/curves", {"id": "saved", "panel": json.dumps(ACCURACY), "points": "nan"}),
        ("/api/curves", {"id": "saved", "panel": json.dumps(ACCURACY), "points": 3}),
        ("/api/curves", {"id": "saved", "panel": json.dumps(ACCURACY), "from": "x"}),
    ],
)
def test_nonsense_is_refused_in_one_line(page: TestClient, address: str, query: dict[str, Any]) -> None:
    answer = page.get(address, params=query)
    assert answer.status_code == 400
    assert "Traceback" not in answer.text
    assert len(answer.text.splitlines()) == 1


def test_every_answer_forbids_scripts_from_elsewhere(page: TestClient) -> None:
    for address in ("/", "/api/runs", "/api/run?id=none", "/no such page", "/assets/main.js", "/metrics"):
        headers = page.get(address).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY


def test_the_page_has_no_inline_script_or_style_and_contacts_no_other_host(page: TestClient) -> None:
    text = page.get("/").text
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:", text)
    assert "//" not in re.sub(r"<!.*?>", "", text)
    for source in re.findall(r'(?:src|href)="(/[^"]+)"', text):
        assert page.get(source).status_code == 200, source


def test_scripts_never_read_text_as_markup(page: TestClient) -> None:
    own = Path(create_app.__code__.co_filename).parent / "assets"
    for path in own.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML\s*=[^=]|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
        ), path
        assert page.get(f"/assets/{path.name}").status_code == 200
        assert f'"/assets/{path.name}"' in page.get("/").text  # so that none waits for another
        assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")


def test_unchanged_files_are_not_sent_twice(page: TestClient) -> None:
    seal = page.get("/assets/main.js").headers["etag"]
    assert page.get("/assets/main.js", headers={"if-none-match": seal}).status_code == 304


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "",
        "[",
        "[::1",
        "]",
        "[x]",
        "a]b",
        "[v1.x]",
    ],
)
def test_a_name_that_is_not_this_machine_is_refused(page: TestClient, host: str) -> None:
    assert page.get("/api/runs", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1", "[::1]:8765"])
def test_names_of_this_machine_are_accepted(page: TestClient, host: str) -> None:
    assert page.get("/api/runs", headers={"host": host}).status_code == 200


def test_health_is_answered_to_everybody_and_shows_a_folder_that_is_gone(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "saved", tmp_path / "results" / "saved")
    app = create_app(RunFolders(tmp_path / "results"), token="t0ken-that-is-long-enough")
    with TestClient(app, base_url="http://10.0.0.7:8765") as probe:
        assert probe.get("/health").json() == {"status": "ok"}
        assert probe.get("/health/").status_code == probe.post("/health").status_code == 401
        shutil.rmtree(tmp_path / "results")
        assert probe.get("/health").status_code == 503


@pytest.mark.parametrize(
    "origin",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9"},
        {"origin": "http://["},
        {"origin": "http://x]y"},
        {"origin": "http://[v1.x]:8765"},
    ],
)
def test_other_pages_can_neither_start_nor_stop_nor_watch(page: TestClient, origin: dict[str, str]) -> None:
    for address in ("/api/start", "/api/stop"):
        assert page.post(address, json={"id": "saved"}, headers=origin).status_code == 403
    with pytest.raises(WebSocketDisconnect), page.websocket_connect(LIVE, headers=origin):
        pass


def test_with_a_token_nothing_is_answered_without_it(folder: Path) -> None:
    token = "t0ken-that-is-long-enough"
    app = create_app(RunFolders(folder), token=token)
    with TestClient(app, base_url="http://stats.example:8765", follow_redirects=False) as page:
        for address in ("/", "/api/runs", "/metrics", "/assets/main.js"):
            assert page.get(address).status_code == 401
            assert page.get(address, headers={"authorization": "Bearer wrong"}).status_code == 401
            assert page.get(address, headers={"authorization": f"Bearer {token}"}).status_code == 200
        with (
            pytest.raises(WebSocketDisconnect),
            page.websocket_connect(LIVE, headers=ORIGIN),
        ):
            pass
        assert page.get("/?token=wrong").status_code == 403
        let_in = page.get(f"/?token={token}")
        assert let_in.status_code == 303
        assert let_in.headers["location"] == "/"
        cookie = let_in.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert token not in cookie
        assert page.get("/api/runs").status_code == 200
        page.cookies.clear()
        assert page.get("/api/runs", headers={"cookie": "streamgauge=forged"}).status_code == 401


def test_away_from_this_machine_there_is_always_a_token() -> None:
    assert Settings().token is None
    made_up = Settings(host="0.0.0.0").token
    assert made_up is not None
    assert len(made_up) >= 32
    assert made_up != Settings(host="0.0.0.0").token
    with pytest.raises(StreamgaugeError, match="at least 16 characters"):
        Settings(token="short")


def test_a_page_that_watches_receives_what_is_new_and_nothing_else(tmp_path: Path) -> None:
    with Journal(tmp_path / "live", LAYOUT, {"stream": {"name": "SEA()", "n_rows": 1_000}}) as journal:
        journal.write_progress(batch([10, 20]))
        watcher = Watcher(RunFolders(tmp_path))
        generation = JournalReader(tmp_path / "live").records()[0]
        watcher.subscribe({"runs": {"live": [generation, 2]}, "panels": [ACCURACY]})
        first = watcher.find_changes()
        assert first["runs"][0]["state"] == "running"
        assert "rows" not in first["watched"]["live"]
        assert watcher.find_changes() == {}
        journal.write_progress(batch([30], (0.8, 0.4)))
        change = watcher.find_changes()["watched"]["live"]
        assert change["rows"] == [30]
        assert change["panels"] == [{"curves": [[[0.8]], [[0.4]]]}]
        assert change["n_records"] == 3
        assert "rows" not in watcher.find_changes().get("watched", {}).get("live", {})


def test_verdicts_and_alarms_are_sent_as_they_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamgauge._engine.journal.writer.STATUS_SECONDS", 0.0)
    with Journal(tmp_path / "live", LAYOUT) as journal:
        journal.write_progress(batch([10]))
        watcher = Watcher(RunFolders(tmp_path))
        pair = {"kind": "pair", "name": "tree", "under": "bayes"}
        watcher.subscribe({"runs": {"live": [JournalReader(tmp_path / "live").records()[0], 1]}, "panels": [pair]})
        watcher.find_changes()
        journal.write_progress(batch([20], verdicts=(VERDICT,), alarms=(Alarm(15, "tree", 0, "DDM"),)))
        change = watcher.find_changes()["watched"]["live"]
        assert change["status"]["verdicts"][0]["outcome"] == "first"
        assert change["panels"] == [{"curves": [[[0.03], [0.01], [0.05]]]}]
        alarm = {"row": 15, "learner": "tree", "fold": 0, "detector": "DDM", "kind": "drift", "n": 1}
        assert change["more_alarms"] == [alarm]


def test_alarms_are_sent_once_and_all_again_only_when_many_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamgauge.serve.live.MAX_NEW_ALARMS", 3)
    with Journal(tmp_path / "live", LAYOUT) as journal:
        watcher = Watcher(RunFolders(tmp_path))
        watcher.subscribe({"runs": {"live": [0, 0]}, "panels": [ACCURACY]})
        watcher.find_changes()
        held: list[int] = []  # by a page that follows
        whole = []
        for row in range(10, 100, 10):
            journal.write_progress(batch([row], alarms=(Alarm(row, "tree", 0, "DDM"),)))
            change = watcher.find_changes()["watched"]["live"]
            whole.append("alarms" in change)
            known = [] if "alarms" in change else held
            held = known + [alarm["row"] for alarm in change.get("alarms", change.get("more_alarms"))]
            assert held == list(range(10, row + 1, 10))
        assert whole == [False, False, False, True] * 2 + [False]


def test_a_burst_is_not_sent_point_by_point(tmp_path: Path) -> None:
    with Journal(tmp_path / "live", LAYOUT) as journal:
        journal.write_progress(batch([10]))
        watcher = Watcher(RunFolders(tmp_path))
        watcher.subscribe({"runs": {"live": [JournalReader(tmp_path / "live").records()[0], 1]}, "panels": [ACCURACY]})
        watcher.find_changes()
        journal.write_progress(batch(list(range(11, MAX_NEW_POINTS + 20))))
        assert watcher.find_changes()["watched"]["live"]["again"]
        journal.write_progress(batch([MAX_NEW_POINTS + 100]))
        assert watcher.find_changes()["watched"]["live"]["rows"] == [MAX_NEW_POINTS + 100]


def test_a_thinned_journal_is_read_again_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamgauge._engine.journal.writer.MAX_RECORDS", 400)
    with Journal(tmp_path / "live", LAYOUT) as journal:
        journal.write_progress(batch(list(range(1, 391))))
        watcher = Watcher(RunFolders(tmp_path))
        watcher.subscribe(
            {"runs": {"live": [JournalReader(tmp_path / "live").records()[0], 390]}, "panels": [ACCURACY]}
        )
        watcher.find_changes()
        journal.write_progress(batch(list(range(391, 420))))
        assert watcher.find_changes()["watched"]["live"]["again"]


def test_a_run_that_becomes_saved_results_is_announced_once(tmp_path: Path) -> None:
    with Journal(tmp_path / "live", LAYOUT) as journal:
        journal.write_progress(batch([10]))
        watcher = Watcher(RunFolders(tmp_path))
        watcher.subscribe({"runs": {"live": [JournalReader(tmp_path / "live").records()[0], 1]}, "panels": [ACCURACY]})
        watcher.find_changes()
        journal.close("complete")
    results = evaluate(SEA(n_rows=1_000), [NaiveBayes(), MajorityClass()])
    save(replace(results, learners=("tree", "bayes")), tmp_path / "live")
    assert watcher.find_changes()["watched"]["live"]["saved"]
    assert "watched" not in watcher.find_changes()


def test_a_socket_tells_the_runs_at_once_and_closes_on_nonsense(page: TestClient) -> None:
    with page.websocket_connect(LIVE, headers=ORIGIN) as socket:
        assert {run["id"] for run in socket.receive_json()["runs"]} == {"saved", "deep/er/journalled"}
        for nonsense in (
            "nonsense",
            '{"runs": 3}',
            '{"runs": {"saved": ["x", 0]}, "panels": []}',
            '{"runs": {}, "panels": [4]}',
        ):
            with page.websocket_connect(LIVE, headers=ORIGIN) as other:
                other.receive_json()
                other.send_text(nonsense)
                with pytest.raises(WebSocketDisconnect):
                    heard_out(other)


def test_metrics_are_what_prometheus_reads(tmp_path: Path) -> None:
    name = 'a"b\\c'
    layout = replace(LAYOUT, learners=(name, "bayes"))
    with Journal(tmp_path / "live", layout, {"stream": {"name": "SEA()"}}) as journal:
        journal.write_progress(
            batch([10], alarms=(Alarm(5, name, 0, "DDM"),)), describe=lambda: {"source": {"lag": 7, "bad": 2}}
        )
        journal._write_status()
        text = format_metrics(RunFolders(tmp_path), n_pages=2)
    escaped = 'a\\"b\\\\c'
    of_run = 'run="live",stream="SEA()"'
    assert f"streamgauge_rows_total{{{of_run}}} 10" in text
    assert (
        f'streamgauge_measure{{{of_run},learner="{escaped}",measure="accuracy",forgetting="Landmark()"}} 0.75' in text
    )
    assert f"streamgauge_source_lag{{{of_run}}} 7" in text
    assert f'streamgauge_source{{{of_run},of="bad"}} 2' in text
    assert f'streamgauge_alarms_total{{{of_run},learner="{escaped}",detector="DDM",kind="drift"}} 1' in text
    assert 'streamgauge_runs{state="running"} 1' in text
    line = re.compile(r'[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)*\})? [-+0-9.e]+|# (HELP|TYPE) .+')
    assert all(line.fullmatch(entry) for entry in text.splitlines())


def test_metrics_and_page_have_what_holds_now_of_each_pair(tmp_path: Path) -> None:
    ended = replace(VERDICT, outcome="undecided", row=None, earlier=EarlierVerdict("first", 20, 40))
    pair = 'run="live",stream="SEA()",first="tree",second="bayes",measure="accuracy"'
    with Journal(tmp_path / "live", LAYOUT, {"stream": {"name": "SEA()"}}) as journal:
        for verdict in (VERDICT, ended):
            journal.write_progress(batch([10], verdicts=(verdict,)))
            journal._write_status()
            lines = [line for line in format_metrics(RunFolders(tmp_path)).splitlines() if "verdict{" in line]
            assert lines == [f'streamgauge_verdict{{{pair},outcome="{verdict.outcome}"}} 1']
        (facts,) = RunFolders(tmp_path).find_run("live").list_verdicts()["verdicts"]
    assert facts["earlier"] == {"outcome": "first", "since": 20, "until": 40}
    assert facts["sentence"].endswith(
        "undecided now in accuracy; tree was known to be better from row 20 to row 40, no longer so"
    )


def test_a_status_and_metrics_have_every_measure_and_the_verdicts_on_one_model(tmp_path: Path) -> None:
    layout = replace(LAYOUT, compared=("accuracy", "log_loss"))
    model = {"run": "live", "stream": "SEA()", "learner": "tree", "requirement": "error<0.05"}
    of_model = ",".join(f'{name}="{text}"' for name, text in model.items())
    with Journal(tmp_path / "live", layout, {"stream": {"name": "SEA()"}}) as journal:
        journal.write_progress(batch([10], verdicts=(BETTER, SURE_LOSS), model_verdicts=MODELS))
        journal.write_progress(batch([20]))  # a batch without a reading row leaves what is known
        journal._write_status()
        status, text = JournalReader(tmp_path / "live").status(), format_metrics(RunFolders(tmp_path))
        panel = {"kind": "pair", "name": "tree", "under": "bayes", "measure": "log_loss"}
        with TestClient(create_app(RunFolders(tmp_path)), base_url=HOME) as page:
            _, rows, values = curves_of(page, "live", panel)
    assert [(v["measure"], v["sentence"], v["question"]) for v in status["verdicts"]] == [
        (v.measure, str(v), "on this stream") for v in (BETTER, SURE_LOSS)
    ]
    assert [(v["outcome"], v["sentence"]) for v in status["model_verdicts"]] == [(v.outcome, str(v)) for v in MODELS]
    assert "any of the 4 claims" in status["verdict_terms"][0]
    assert "any of the 3 claims" in status["model_verdict_terms"][0]
    assert 'measure="log_loss",outcome="first"} 1' in text
    assert f'streamgauge_model_verdict{{{of_model},outcome="broken"}} 1' in text
    assert f'streamgauge_model_value{{{of_model},measure="error"}} 0.081' in text
    assert f'streamgauge_model_limit{{{of_model},measure="error"}} 0.05' in text
    assert rows.tolist() == [10, 20]
    assert values[0, :, 0].tolist() == pytest.approx([-0.125, -0.2, -0.05])


def test_estimates_from_few_labels_are_sent_while_a_run_lasts_and_later(tmp_path: Path) -> None:
    options: dict[str, Any] = {"labelling": Fraction(0.3), "every": 500, "journal": tmp_path / "run"}
    results = evaluate(SEA(n_rows=4_000), NaiveBayes(), **options)
    (estimate,) = results.label_estimates
    run = RunFolders(tmp_path).find_run("run")
    assert estimate.truth is not None
    for _ in range(2):
        details = run.list_verdicts()["details"]
        (grid,) = (b for part in details for b in part["blocks"] if b["title"].startswith("Estimates from "))
        ((name, cells),) = grid["rows"]
        assert name == f"NaiveBayes, {estimate.measure}"
        assert cells[0]["text"].startswith(f"{100 * estimate.powered:.2f} [")
        assert cells[-1]["text"] == f"{100 * estimate.truth:.2f}"
        save(results, tmp_path / "run")


def test_the_curve_of_a_pair_needs_no_journal_once_results_are_saved(tmp_path: Path) -> None:
    results = evaluate(SEA(n_rows=2_000), [NaiveBayes(), MajorityClass()], every=100)
    save(results, tmp_path / "run")
    details = RunFolders(tmp_path).find_run("run").describe()
    panel = {"kind": "pair", "name": "NaiveBayes", "under": "MajorityClass", "measure": "accuracy"}
    with TestClient(create_app(RunFolders(tmp_path)), base_url=HOME) as page:
        _, rows, values = curves_of(page, "run", panel)
    assert details["has_pairs"]
    assert results.differences is not None
    assert rows.tolist() == results.rows.tolist()
    known = results.differences.values[:, 0]
    np.testing.assert_allclose(values[0].T[np.isin(rows, results.differences.rows)], known, atol=1e-6)
    last = np.searchsorted(results.differences.rows, rows, side="right") - 1  # it holds until the next analysis
    np.testing.assert_allclose(values[0].T, known[last], atol=1e-6)


def test_what_a_page_may_start_reads_no_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,x\n")
    learners = ["NaiveBayes"]
    assert f"--stream={tmp_path.resolve() / 'rows.csv'}" in build_arguments(
        {"stream": "rows.csv", "learners": learners}, tmp_path
    )
    refused = (
        {"stream": "/etc/passwd"},
        {"stream": "../rows.csv"},
        {"stream": "File('/etc/passwd')"},
        {"stream": "Noisy(File('/etc/passwd'))"},
        {"stream": "SEA", "learners": ["VowpalWabbit('-f /tmp/x')"]},
        {"stream": "SEA", "learners": ["Moa('trees.HoeffdingTree')"]},
        {"stream": "SEA", "learners": ["OzaBag(base=PretrainedModel(state='/etc/passwd'))"]},
        {"stream": "SEA", "scheme": "Holdout(10, 10, source=File('/etc/passwd'))"},
        {"stream": "SEA", "out": "/tmp/x"},
        {"stream": "SEA", "rows": "1 --out=/tmp/x"},
        {"stream": "SEA", "measures": ["accuracy", "nonsense"]},
        {"stream": "SEA", "learners": []},
        {"stream": ["SEA"]},
    )
    for wanted in refused:
        with pytest.raises(StreamgaugeError):
            build_arguments({"learners": learners, **wanted}, tmp_path)
    assert not {"File", "Moa", "VowpalWabbit"} & {name for names in list_choices().values() for name in names}


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", "a b", "-x", "x" * 200])
def test_a_run_gets_a_plain_name_in_the_folder(tmp_path: Path, name: str) -> None:
    launched_runs = LaunchedRuns(tmp_path)
    if name:
        with pytest.raises(StreamgaugeError, match="not a valid name"):
            launched_runs.start({"stream": "SEA", "learners": ["NaiveBayes"], "rows": 100, "name": name})
    assert list(tmp_path.iterdir()) == []


def heard_out(socket: Any) -> None:
    while True:
        socket.receive_json()


def test_a_page_of_a_read_only_server_starts_nothing(folder: Path) -> None:
    with TestClient(create_app(RunFolders(folder), can_start=False), base_url=HOME) as page:
        assert page.get("/api/runs").json()["can_start"] is False
        assert page.post("/api/start", json={}, headers=ORIGIN).status_code == 404


def test_what_is_sent_must_be_short(page: TestClient) -> None:
    assert page.post("/api/start", content=b"x" * 70_000, headers=ORIGIN).status_code == 413
    for content in (b"[1]", b"", b"{", b"[" * 60_000, b"\xff", b'{"id": ' + b"9" * 5_000 + b"}", b'{"id": "\\ud800"}'):
        for address in ("/api/start", "/api/stop"):
            assert page.post(address, content=content, headers=ORIGIN).status_code == 400, content[:20]
    for stream in ("SEA(" * 400, "x" * 1_900, "SEA\ud800", "SEA(n_rows=" + "[" * 900):
        wanted = {"stream": stream, "learners": ["NaiveBayes"]}
        assert page.post("/api/start", content=json.dumps(wanted), headers=ORIGIN).status_code == 400


def test_saved_results_are_shown_though_the_clock_was_set_back_during_the_run(tmp_path: Path) -> None:
    results = evaluate(SEA(n_rows=500), NaiveBayes(), every=100, journal=tmp_path)
    save(results, tmp_path)
    manifest, run = tmp_path / "manifest.json", Run(tmp_path, "run", Cache())
    os.utime(manifest, (1e9, 1e9))
    assert run.is_saved
    evaluate(SEA(n_rows=400), NaiveBayes(), every=100, journal=tmp_path)  # not saved
    os.utime(manifest, (1e9, 1e9))
    assert not Run(tmp_path, "run", Cache()).is_saved


def test_saved_results_in_memory_keep_to_their_space(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Path] = []

    def loading(path: Path) -> Any:
        loaded.append(path)
        return evaluate(SEA(n_rows=100), NaiveBayes())

    monkeypatch.setattr(serve_sources, "load", loading)
    cache = serve_sources.Cache(max_bytes=1)
    for name in ("a", "b", "b", "a"):
        cache.load(folder / name)
    assert [path.name for path in loaded] == ["a", "b", "a"]


def read_times(content: bytes) -> list[float]:
    """Read the times of curves, which follow their rows."""
    length = int.from_bytes(content[:4], "little")
    n = json.loads(content[4 : 4 + length])["n"]
    times: list[float] = np.frombuffer(content, "<f8", n, 4 + length + 8 * n).tolist()
    return times


def test_curves_have_the_times_of_rows_saved_or_followed(tmp_path: Path) -> None:
    results = evaluate(make_timed_stream(), NaiveBayes(), every=50, journal=tmp_path / "journalled")
    save(results, tmp_path / "saved")
    assert results.times is not None
    with TestClient(create_app(RunFolders(tmp_path)), base_url=HOME) as page:
        for name in ("saved", "journalled"):
            query: dict[str, Any] = {"id": name, "panel": json.dumps(ACCURACY)}
            content = page.get("/api/curves", params=query).content
            assert decoded(content)[0]["times"]
            assert read_times(content) == results.times.tolist()
            first, last = results.times[[4, 8]].tolist()
            query |= {"from": first, "to": last, "x": "time"}
            rows = decoded(page.get("/api/curves", params=query).content)[1]
            assert rows.tolist() == results.rows[3:10].tolist()  # one more on either side
            table = list(csv.DictReader(io.StringIO(page.get("/api/table.csv", params=query).text)))
            assert [int(line["row"]) for line in table] == results.rows[4:9].tolist()
            assert [line["time"] for line in table] == [format_time(time) for time in results.times[4:9].tolist()]
        assert page.get("/api/curves", params={**query, "x": "rows"}).status_code == 400


def test_an_axis_of_times_is_refused_where_rows_carry_none(page: TestClient) -> None:
    query: dict[str, Any] = {"id": "saved", "panel": json.dumps(ACCURACY), "from": 10, "to": 20, "x": "time"}
    answer = page.get("/api/curves", params=query)
    assert answer.status_code == 400
    assert "carry no times" in answer.text
    assert not curves_of(page, "saved", ACCURACY)[0]["times"]


def test_new_points_are_sent_with_their_times(tmp_path: Path) -> None:
    watcher = Watcher(RunFolders(tmp_path))
    layout = replace(LAYOUT, with_times=True)
    with Journal(tmp_path / "run", layout) as journal:
        journal.write_progress(batch([10], times=np.array([1.5])))
        generation, records = JournalReader(tmp_path / "run").records()
        watcher.subscribe({"runs": {"run": [generation, len(records)]}, "panels": [ACCURACY]})
        watcher.find_changes()
        journal.write_progress(batch([20, 30], times=np.array([2.5, np.nan])))
        changes = watcher.find_changes()["watched"]["run"]
    assert (changes["rows"], changes["times"]) == ([20, 30], [2.5, None])


def test_an_experiment_is_ranked_over_the_streams_that_are_finished(tmp_path: Path) -> None:
    streams = {"sea": Source("SEA", rows=500), "rbf": Source("RandomRBF", rows=500)}
    experiment = Experiment("small", streams, {"tree": "HoeffdingTree", "last": "NoChange"}, seeds=(1, 2))
    run(experiment, tmp_path / "store", n_jobs=1)
    further = replace(
        experiment, streams={"led": Source("LED", rows=500)}, learners={"tree": "HoeffdingTree"}, seeds=(1,)
    )
    run(further, tmp_path / "store", n_jobs=1)  # one learner is missing on a third stream
    with TestClient(create_app(RunFolders(tmp_path)), base_url=HOME) as client:
        found = client.get("/api/experiment", params={"name": "small"}).json()
        assert client.get("/api/experiment", params={"name": "other"}).status_code == 400
    assert len(found["runs"]) == 5
    assert found["n_runs"] == 1  # as it was planned last
    (part,) = found["parts"]
    assert part["note"] == "Of 2 streams with 4 finished runs; 1 stream without all learners left out."
    table = next(b for section in part["sections"] for b in section["blocks"] if b["kind"] == "grid")
    assert [name for name, _ in table["rows"]] == ["rbf", "sea", "mean rank"]
    whole = [one for one in Store(tmp_path / "store").results() if len(one.learners) == 2]
    means = dict(zip(rank(whole).learners, rank(whole).mean_ranks.tolist(), strict=True))
    assert {one["learner"]: one["mean"] for one in part["ranks"]} == means
    for stream, of_learners in part["links"].items():
        for learner, address in of_learners.items():
            linked = load(tmp_path / address)
            assert learner in linked.learners
            facts = linked.description["stream"]
            assert isinstance(facts, dict)
            assert facts["name"] == stream


def test_options_are_offered_as_they_are_written() -> None:
    options = {option["name"]: option for option in list_options()["learners"]["HoeffdingTree"]}
    assert options["leaf_prediction"]["choices"] == ["'majority'", "'naive_bayes'", "'adaptive'"]
    written = ", ".join(f"{name}={option['default']}" for name, option in options.items())
    learner = f"HoeffdingTree({written})"
    assert build_arguments({"stream": "SEA", "learners": [learner]}, Path())[-1] == f"--learner={learner}"
    assert {option["name"] for option in list_options()["streams"]["Gradual"] if option["required"]} >= {
        "before",
        "after",
    }
