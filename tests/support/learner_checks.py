"""What the tests of the adapters share."""

import numpy as np

import streamgauge as sg
from streamgauge.checks import check_learner
from streamgauge.checks.learners import MIXED
from streamgauge.learners import as_spec
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Attribute, Schema, Step
from streamgauge.streams import take

NUMERIC = Schema(tuple(Attribute(f"x{i}") for i in range(4)), ("no", "yes"))


def keeps_its_contract(spec: LearnerSpec, *, mixed: bool = False, n_rows: int = 60) -> None:
    """Check a learner on rows of numbers, or of nominal and missing values too."""
    check_learner(spec, MIXED if mixed else NUMERIC, n_rows=n_rows)
    first, second = spec.build(NUMERIC, 1), spec.build(NUMERIC, 1)
    assert first.n_bytes > 0
    for bad in (b"nonsense", first.save()[:-1], first.save() + b"\0"):
        try:
            second.load(bad)
        except ValueError:
            continue
        raise AssertionError(bad)


def votes_of(learner: object, seed: int, n_rows: int = 300) -> bytes:
    """Return the votes of a fresh copy of a learner as bytes."""
    stream = sg.RandomRBF(n_attributes=4)
    votes = as_spec(learner).build(stream.schema, seed).interleave(Step(take(stream, n_rows)), with_votes=True)[1]
    assert votes is not None
    return votes.tobytes()


def is_seeded_apart(learner: object, n_rows: int = 300) -> bool:
    """Return whether copies with one seed are the same and copies with another are not."""
    first, again, other = (votes_of(learner, seed, n_rows) for seed in (1, 1, 2))
    return first == again != other


def accuracy_of(learner: object, n_rows: int) -> float:
    """Return the accuracy on SEA."""
    results = sg.evaluate(sg.SEA(n_rows=n_rows), learner)
    return float(np.mean(results.values[-1]))
