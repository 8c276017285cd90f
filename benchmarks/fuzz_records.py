"""Files of streamgauge and states, changed, with checksums that are right; readers of `benchmarks.fuzzing`."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.bit_flips import write_journal, write_results, write_sample
from benchmarks.fuzz_tables import change_numbers
from benchmarks.fuzzing import Reader, Try, naming
from streamgauge._engine.journal.format import make_header, pack_records, read_records
from streamgauge._foreign import find_tasks
from streamgauge.checks.learners import MIXED, MIXED_NUMBERS, sample_batch
from streamgauge.compat.strlearn.streams import ARFFParser, CSVParser, NPYParser
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters.saved_states import set_trust
from streamgauge.names import FAMILIES
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema, Step
from streamgauge.records.checksums import seal_json, unseal_json
from streamgauge.records.serialise import loading, pack, unpack
from streamgauge.results import load
from streamgauge.serve.curve_sources import Cache
from streamgauge.serve.runs import Run
from streamgauge.streams.download import query_openml
from streamgauge.streams.live.schemas import as_schema
from streamgauge.streams.sampling.recipes import read_recipe

ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 2**31, 2**63, 2**64, 10**40, -(10**40), 0.5, -0.0, 1e308, float("nan"),
    float("inf"), "", "a", "é\n", "\0", "\ud800", "../../passwd", "9" * 5000, [], [[]], {}, {"a": 1}, [None],
    ["a", "a"], [1, 2, 3],
)  # fmt: skip

MAX_STATE_BYTES = 60_000
"""Longer states take too long to change."""


def nest(depth: int) -> Any:  # noqa: ANN401
    """Return a deeply nested list."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def change_facts(facts: Any, random: Random) -> Any:  # noqa: ANN401
    """Return JSON with some values replaced, dropped, repeated or renamed."""
    facts = _copy(facts)
    for _ in range(random.choice((1, 1, 2, 3))):
        places = list(_find_places(facts))
        if not places:
            break
        owner, key = random.choice(places)
        match random.randrange(5):
            case 0 if isinstance(owner, dict):
                del owner[key]
            case 1 if isinstance(owner, dict):
                owner[random.choice([*owner, "other"])] = owner.pop(key)
            case 2 if isinstance(owner, list):
                owner.insert(key, _copy(random.choice(owner)))
            case 3:
                other_owner, other = random.choice(places)
                owner[key] = _copy(other_owner[other]) if other in _keys(other_owner) else None
            case _:
                owner[key] = _copy(random.choice(ODD)) if random.random() < 0.97 else nest(900)
    return facts


def _copy(value: Any) -> Any:  # noqa: ANN401
    return json.loads(json.dumps(value))


def _keys(owner: Any) -> Any:  # noqa: ANN401
    return owner if isinstance(owner, dict) else range(len(owner))


def _find_places(facts: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
    """Yield every value of JSON as its owner and key; those near the top more often."""
    for key in list(_keys(facts)):
        yield facts, key
        if isinstance(facts[key], dict | list):
            inner = list(_find_places(facts[key]))
            yield from inner[:40]


def try_results(folder: Path, random: Random) -> None:
    """Load results whose manifest was changed."""
    path = folder / "manifest.json"
    sound = path.read_bytes()
    try:
        path.write_text(seal_json(change_facts(unseal_json(sound), random), indent=2) + "\n", errors="surrogatepass")
        with naming(folder.name):
            results = load(folder)
        results.final(results.learners[0], results.measures[0])
    finally:
        path.write_bytes(sound)


def try_journal(folder: Path, random: Random) -> None:
    """Show a run of which a file of the journal was changed: it is shown, or unreadable with a reason."""
    path = random.choice([folder / "journal" / name for name in ("about.json", "status.json", "events.jsonl")])
    path = path if random.random() < 0.9 else folder / "run.json"
    sound = path.read_bytes()
    try:
        lines = [unseal_json(line) for line in (sound.splitlines() if path.suffix == ".jsonl" else [sound])]
        place = random.randrange(len(lines))
        lines[place] = change_facts(lines[place], random)
        path.write_text("".join(seal_json(line) + "\n" for line in lines), errors="surrogatepass")
        run = Run(folder, folder.name, Cache())
        summary = run.summarise()
        json.dumps(summary)
        if summary["state"] == "unreadable":
            raise StreamgaugeError(summary["reason"])
        for show in (run.describe, run.list_verdicts, run.read_curves):
            json.dumps(show(), default=str)
    finally:
        path.write_bytes(sound)


def try_readings(folder: Path, random: Random) -> None:
    """Read a changed file of readings of a journal."""
    width, path = random.randrange(1, 6), folder / "readings.f64"
    rows = np.random.default_rng(random.randrange(1 << 32)).random((random.randrange(20), width))
    data = bytearray(make_header(random.randrange(3), width) + pack_records(rows))
    path.write_bytes(change_numbers(data, random, 0, len(data), random.choice((1, 8))))
    with naming(path.name):
        _, found = read_records(path, width, random.choice((0, 0, 1, 5)))
    assert all(row in rows.tolist() for row in found.tolist())


def try_recipe(folder: Path, random: Random) -> None:
    """Read a recipe that was changed."""
    path = folder / "drawn" / "recipe.json"
    sound = path.read_bytes()
    try:
        path.write_text(seal_json(change_facts(unseal_json(sound), random)), errors="surrogatepass")
        with naming(path.name):
            read_recipe(path)
    finally:
        path.write_bytes(sound)


def try_schema(folder: Path, random: Random) -> None:
    """Read the schema of a live stream from a JSON file."""
    path = folder / "schema.json"
    facts = {"attributes": {"price": None, "day": ["mo", "tu"], "n": [1, 2.5, True]}, "classes": ["up", "down"]}
    text = json.dumps(change_facts(facts, random))
    if random.random() < 0.3:
        text = change_numbers(bytearray(text.encode()), random, 0, len(text), 1).decode("latin-1")
    path.write_text("[" * 100_000 if random.random() < 0.01 else text, errors="surrogatepass")
    as_schema(path)


def seal_native(state: bytes) -> bytes:
    """Return a state of a kernel with the checksum of its bytes (`codec.rs`)."""
    body, value, mask = state[:-8], 0xCBF2_9CE4_8422_2325, (1 << 64) - 1
    words = [int.from_bytes(body[start : start + 8], "little") for start in range(0, len(body) - 7, 8)]
    for word in (*words, *body[8 * len(words) :]):
        value = (value ^ word) * 0x100_0000_01B3 & mask
        value ^= value >> 29
    return body + value.to_bytes(8, "little")


def change_state(state: bytes, random: Random) -> bytes:
    """Return a state with changed facts or parts, or of a kernel with changed numbers, with a right checksum."""
    if state[8:9] != b"{":
        head = 16 + int.from_bytes(state[:8], "little")  # kind and version
        start = random.choice((0, head, head, head))
        changed = change_numbers(bytearray(state), random, start, len(state) - 8, random.choice((1, 8, 8)))
        return seal_native(changed)
    kind = json.loads(state[8 : 8 + int.from_bytes(state[:8], "little")])["kind"]
    facts, parts = unpack(kind, state)
    if parts and random.random() < 0.8:
        place = random.randrange(len(parts))
        is_state = len(parts[place]) > 24 and parts[place][8:9].isascii() and parts[place][3:8] == b"\0\0\0\0\0"
        part = bytearray(parts[place])
        numbers = change_numbers(part, random, 0, len(part), random.choice((1, 4, 8))) if part else b"x"
        parts[place] = change_state(parts[place], random) if is_state else numbers
    else:
        facts = change_facts(facts, random)
    return pack(kind, facts, parts)


def choose_schema(spec: LearnerSpec) -> Schema:
    """Return a schema that a learner can learn: with classes, or else with a numeric target."""
    tasks = find_tasks(spec)
    return MIXED if not tasks or "classification" in tasks else MIXED_NUMBERS


def try_state(states: dict[str, tuple[Any, bytes]], random: Random) -> None:
    """Load a changed state with a right checksum into a learner, as a cell does; then it predicts and learns."""
    name = random.choice(list(states))
    spec, state = states[name]
    schema = choose_schema(spec)
    learner = spec.build(schema, seed=1)
    with set_trust(False), loading("learner"):
        learner.load(change_state(state, random))
    for rows in (30, 200):
        learner.interleave(Step(sample_batch(schema, rows)), with_votes=schema is MIXED)
    learner.save()


def try_strlearn(folder: Path, random: Random) -> None:
    """Read a damaged file by the parsers of the compatibility package."""
    kind = random.choice(("arff", "csv", "npy", "npz"))
    path = folder / f"chunks.{kind}"
    if kind in ("arff", "csv"):
        lines = "".join(f"{i}.5,{i % 2}\n" for i in range(12))
        text = ("@relation r\n@attribute a real\n@attribute c {0,1}\n@data\n" if kind == "arff" else "") + lines
        data = change_numbers(bytearray(text.encode()), random, 0, len(text), 1)
    else:
        array = np.column_stack([np.arange(12.0), np.arange(12) % 2])
        np.savez(path, array) if kind == "npz" else np.save(path, array)
        whole = path.read_bytes()
        data = change_numbers(bytearray(whole), random, 0, len(whole) if random.random() < 0.3 else 128, 1)
    path.write_bytes(data)
    parsers: dict[str, Callable[..., Any]] = {"arff": ARFFParser, "csv": CSVParser}
    with naming(path.name):
        for _ in parsers.get(kind, NPYParser)(path, chunk_size=3, n_chunks=4):
            pass


def try_openml(answers: dict[str, bytes], random: Random) -> None:
    """Read a changed answer of the catalogue of data sets."""
    entry = {"url": "https://example.org/a.arff", "md5_checksum": "D41D", "default_target_attribute": "class"}
    facts = {"data_set_description": {**entry, "ignore_attribute": ["a", "b"], "row_id_attribute": "c"}}
    text = "[" * 100_000 if random.random() < 0.01 else json.dumps(change_facts(facts, random))
    data = bytearray(text.encode(errors="replace"))
    answers["body"] = change_numbers(data, random, 0, len(data), 1) if random.random() < 0.3 else bytes(data)
    query_openml(7)


@contextmanager
def in_copy(write: Callable[[Path], object], read: Callable[[Path, Random], None], folder: Path) -> Iterator[Try]:
    """Return what changes files of a kind in a folder, and reads them."""
    place = folder / "written"
    place.mkdir()
    write(place)
    yield partial(read, place)
    shutil.rmtree(place)


@contextmanager
def with_states(_: Path) -> Iterator[Try]:
    """Return what loads changed states of all learners without required options."""
    states: dict[str, tuple[Any, bytes]] = {}
    for name, kind in FAMILIES["learners"]().items():
        if not kind.__module__.startswith("streamgauge.learners.adapters"):
            with suppress(StreamgaugeError):  # some learn two classes only
                schema = choose_schema(kind())
                learner = kind().build(schema, seed=1)
                learner.interleave(Step(sample_batch(schema, 300)), with_votes=False)
                if len(state := learner.save()) < MAX_STATE_BYTES:
                    states[name] = (kind(), state)
    yield partial(try_state, states)


@contextmanager
def with_answers(_: Path) -> Iterator[Try]:
    """Return what reads answers that come from no network."""
    import io  # noqa: PLC0415
    from unittest import mock  # noqa: PLC0415

    answers: dict[str, bytes] = {}
    with mock.patch("urllib.request.urlopen", side_effect=lambda *_, **__: io.BytesIO(answers["body"])):
        yield partial(try_openml, answers)


READERS = (
    Reader("results, sealed", 8, partial(in_copy, write_results, try_results)),
    Reader("journals, sealed", 8, partial(in_copy, write_journal, try_journal)),
    Reader("readings of journals", 10, partial(in_copy, lambda _: None, try_readings)),
    Reader("states of learners, sealed", 10, with_states),
    Reader("recipes, sealed", 8, partial(in_copy, write_sample, try_recipe)),
    Reader("schemas of live streams", 8, partial(in_copy, lambda _: None, try_schema)),
    Reader("files of stream-learn", 8, partial(in_copy, lambda _: None, try_strlearn)),
    Reader("answers of OpenML", 6, with_answers),
)
