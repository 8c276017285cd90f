"""The manifest of results: typed, read back as it was written, and as its JSON schema says."""

import json
from pathlib import Path
from typing import Any

import pytest

import streamgauge as sg
from release.manifest_schema import PATH, format_schema
from streamgauge.drift import DDM
from streamgauge.labelling import Delayed, Fraction
from streamgauge.results import Results, ResultsManifest, save
from streamgauge.results.manifest_schema import build_manifest_schema
from tests.support.json_schema import find_violations
from tests.support.timed_examples import make_timed_stream

PAIR = {"tree": sg.HoeffdingTree(grace_period=50), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}


def build_cases() -> dict[str, Results]:
    stream = sg.SEA(n_rows=2_000, noise=0.1)
    rich: dict[str, Any] = {"measures": ["accuracy", "log_loss", "roc_auc_ovr_macro"], "detectors": [DDM()]}
    rich |= {"budgets": ["error<0.3", "beats majority"], "resources": True, "score_unlabelled_start": True}
    folds: dict[str, Any] = {"scheme": sg.Bootstrap(3), "forgetting": [sg.Window(100), sg.Landmark()]}
    return {
        "one learner": sg.evaluate(stream, sg.NaiveBayes()),
        "everything": sg.evaluate(stream, PAIR, every=100, **rich),
        "folds and windows": sg.evaluate(stream, PAIR, **folds),
        "late labels": sg.evaluate(stream, PAIR, labelling=Delayed(50), every=500),
        "few labels": sg.evaluate(stream, PAIR, labelling=Fraction(0.2)),
        "times": sg.evaluate(make_timed_stream(), PAIR, every=100),
        "cut short": sg.evaluate(stream, PAIR, batch_size=100, time_limit=1e-9),
    }


@pytest.fixture(scope="module")
def cases() -> dict[str, Results]:
    return build_cases()


def test_real_manifests_are_as_their_schema_says(cases: dict[str, Results], tmp_path: Path) -> None:
    schema = build_manifest_schema()
    seen: set[str] = set()
    for name, results in cases.items():
        manifest = json.loads((save(results, tmp_path / name) / "manifest.json").read_text())
        assert list(find_violations(manifest, schema)) == [], name
        seen |= {part for part, fact in manifest.items() if fact not in (None, [], {})}
    assert seen >= set(schema["required"]) - {"failures"}


def test_the_schema_refuses_what_a_manifest_must_not_hold(cases: dict[str, Results], tmp_path: Path) -> None:
    schema = build_manifest_schema()
    manifest = json.loads((save(cases["everything"], tmp_path) / "manifest.json").read_text())
    verdict = manifest["verdicts"][0]
    wrong = [
        {**manifest, "n_rows": "2000"},
        {**manifest, "format": 1},
        {**manifest, "surplus": 1},
        {**manifest, "checksum": "no sum"},
        {name: fact for name, fact in manifest.items() if name != "machine"},
        {**manifest, "verdicts": [{**verdict, "outcome": "third"}]},
        {**manifest, "verdicts": [{**verdict, "interval": [0.1]}]},
        {**manifest, "description": {**manifest["description"], "seed": None}},
    ]
    for manifest in wrong:
        assert list(find_violations(manifest, schema)) != []


def test_a_manifest_is_read_back_as_it_was_written(cases: dict[str, Results]) -> None:
    for results in cases.values():
        facts = json.loads(json.dumps(ResultsManifest.of(results).to_json()))
        manifest = ResultsManifest.from_json(facts)
        assert json.loads(json.dumps(manifest.to_json())) == facts
        assert manifest.verdicts == results.verdicts
        assert manifest.alarms == results.alarms
        assert manifest.label_estimates == results.label_estimates or manifest.label_estimates


def test_the_schema_in_the_documentation_is_that_of_the_code() -> None:
    assert PATH.read_text() == format_schema(), "run python -m release.manifest_schema"
