"""Values of any kind in any place: what cannot be used is refused in one line that names it."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments import Experiment, Source
from streamgauge.labelling import Delayed
from tests.support.commands import invoke

ODD: tuple[Any, ...] = (
    2**64,
    2**100,
    -1,
    1.5,
    float("nan"),
    "x",
    "",
    "(" * 5_000,
    "a(" * 2_000 + ")" * 2_000,
    "\ud800",
    "a\0b",
    b"a",
    None,
    True,
    [],
    [[[[]]]],
    {},
    (),
    object(),
    np.int64(3),
)
OPTIONS = [name for name in inspect.signature(sg.evaluate).parameters if name not in {"stream", "learners"}]
PLACES: dict[str, Callable[[Any], object]] = {
    "stream": lambda odd: sg.evaluate(odd, sg.NaiveBayes()),
    "learners": lambda odd: sg.evaluate(sg.SEA(n_rows=20), odd),
    "list of learners": lambda odd: sg.evaluate(sg.SEA(n_rows=20), [odd]),
    "seed of a stream": lambda odd: sg.evaluate(sg.SEA(n_rows=20, seed=odd), sg.NaiveBayes()),
    "folds": lambda odd: sg.evaluate(sg.SEA(n_rows=20), sg.NaiveBayes(), scheme=sg.Bootstrap(odd)),
    "window": lambda odd: sg.evaluate(sg.SEA(n_rows=20), sg.NaiveBayes(), forgetting=sg.Window(odd)),
    "factor": lambda odd: sg.evaluate(sg.SEA(n_rows=20), sg.NaiveBayes(), forgetting=sg.Fading(odd)),
    "delay": lambda odd: sg.evaluate(sg.SEA(n_rows=20), sg.NaiveBayes(), labelling=Delayed(odd)),
    "grace period": lambda odd: sg.evaluate(sg.SEA(n_rows=20), sg.HoeffdingTree(grace_period=odd)),
    "folder": sg.load,
    "results": sg.compare,
}


def use(act: Callable[[Any], object], odd: Any) -> None:
    """Use an odd value: it works, or is refused in one line."""
    refusal = ""
    try:
        act(odd)
    except StreamgaugeError as error:
        refusal = str(error)
    assert len(refusal.splitlines()) <= 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("option", OPTIONS)
def test_an_odd_value_of_an_option_is_refused_in_one_line(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where logs and journals with odd names go
    for odd in ODD:
        use(lambda value: sg.evaluate(sg.SEA(n_rows=20), sg.NaiveBayes(), **{option: value}), odd)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", PLACES)
def test_an_odd_value_in_another_place_is_refused_in_one_line(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for odd in ODD:
        use(PLACES[place], odd)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--stream", "(" * 5_000),
        ("--stream", "a" * 5_000),
        ("--stream", "SEA", "--scheme", f"Bootstrap({2**64})"),
        ("--stream", "SEA", "--scheme", "Bootstrap(1000000000)"),
        ("--stream", "SEA", "--scheme", "Chunks(" * 3_000),
        ("--stream", "SEA", "--measure", "Cost(" * 3_000),
        ("--stream", "SEA", "--seed", str(2**64)),
        ("--stream", f"SEA(seed={2**64})"),
        ("--stream", "SEA", "--every", str(2**64)),
    ],
)
def test_an_odd_argument_is_refused_in_one_line(arguments: tuple[str, ...]) -> None:
    with pytest.raises(StreamgaugeError) as refusal:
        invoke("evaluate", *arguments, "--rows", "20", "--learner", "NaiveBayes")
    assert len(str(refusal.value).splitlines()) == 1


def test_names_with_line_ends_or_control_characters_are_escaped_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"class\n\x1b[31m": ["x", "y"], "b": [1.0, 2.0]}), path)
    with pytest.raises(StreamgaugeError) as refusal:
        sg.evaluate(path, sg.NaiveBayes(), target="class")
    assert r"class\n\x1b[31m" in str(refusal.value)
    assert str(refusal.value).isprintable()


HALF = "\ud800"


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: sg.evaluate(sg.SEA(n_rows=100), {HALF: sg.NaiveBayes()}),
        lambda: Experiment("small", {HALF: Source("SEA", rows=100)}, {"a": "NaiveBayes"}),
        lambda: Experiment("small", {"sea": Source("SEA", rows=100)}, {HALF: "NaiveBayes"}),
        lambda: Experiment(HALF, {"sea": Source("SEA", rows=100)}, {"a": "NaiveBayes"}),
    ],
)
def test_names_that_no_file_can_hold_are_refused_before_the_first_row(attempt: Callable[[], object]) -> None:
    with pytest.raises(StreamgaugeError, match=r"holds half a character \(a surrogate\)"):
        attempt()


def test_printed_results_hold_no_control_characters() -> None:
    x = np.random.default_rng(1).random((300, 2))
    odd = "\x1b[31mred\x9b\u202e"
    stream = sg.ArrayStream(x, np.where(x[:, 0] > 0.5, odd, "no"), name=odd)
    results = sg.evaluate(stream, {odd: sg.NaiveBayes()}, measures=["accuracy", f"recall[{odd}]"])
    assert all(line.isprintable() for line in str(results).splitlines())


@pytest.mark.parametrize(
    "text",
    ["__import__('os').mkdir('{0}')", "SEA(noise=__import__('os').mkdir('{0}'))", "NaiveBayes(().__class__)", "{0!r}"],
)
def test_text_is_never_evaluated_as_code(text: str, tmp_path: Path) -> None:
    made = tmp_path / "made"
    for option in ("stream", "learners", "scheme", "labelling", "forgetting", "measures", "detectors", "budgets"):
        given: dict[str, Any] = {"stream": sg.SEA(n_rows=100), "learners": sg.NaiveBayes()}
        with pytest.raises(StreamgaugeError):
            sg.evaluate(**given | {option: text.format(str(made))})
    assert not made.exists()
