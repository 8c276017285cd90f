"""Vowpal Wabbit."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters.chunked import usable
from streamgauge.learners.adapters.libraries import library
from streamgauge.learners.adapters.saved_states import opened, sealed
from streamgauge.learners.adapters.seeding import seeds
from streamgauge.learners.plain_loop import as_learner_error, pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import UNLABELLED, Schema, Step

__all__ = ["VowpalWabbit"]

FILES = {"-f", "--final_regressor", "-d", "--data", "-p", "--predictions", "-c", "--cache", "--cache_file"}
"""Options that make it read or write files, which the folds would share."""

MULTICLASS = {"--oaa", "--ect", "--log_multi", "--recall_tree", "--probabilities"}
"""Options that already say how several classes are told apart."""

OURS = {"--no_stdin", "--quiet", "--random_seed"}
"""Options that are set for every workspace."""

RANDOM = {"--bag", "--bootstrap", "-B", "--nn", "--rank", "--lrq", "--random_weights", "--random_positive_weights"}
"""Options whose work depends on the seed."""


@dataclass(frozen=True)
class VowpalWabbit:
    """A workspace of Vowpal Wabbit; each fold gets its own, with its own `--random_seed`.

    Numeric attributes are features with values, nominal ones a feature for each value, missing ones none. Unless the
    arguments say otherwise it runs ``--oaa n_classes --loss_function logistic --probabilities``, so votes are
    probabilities. It abstains until it has learnt. Its state is saved as a model of Vowpal Wabbit, without pickle, and
    goes on bit for bit.

    Parameters
    ----------
    arguments
        Further arguments of its command line, such as ``--bit_precision 20 --learning_rate 0.1``.
    seed
        Two learners with the same seed share their randomness in each fold.

    Examples
    --------
    >>> VowpalWabbit("--learning_rate 0.1")
    VowpalWabbit(arguments='--learning_rate 0.1', seed=1)
    >>> VowpalWabbit("-f model.vw")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: Vowpal Wabbit's argument -f names a file, which the folds would share: \
leave it out
    """

    arguments: str = ""
    seed: int = 1

    def __post_init__(self) -> None:
        for word in shlex.split(self.arguments):
            if word.partition("=")[0] in FILES:
                msg = f"Vowpal Wabbit's argument {word} names a file, which the folds would share: leave it out"
                raise StreamgaugeError(msg)

    @classmethod
    def of(cls, workspace: Any) -> "VowpalWabbit":  # noqa: ANN401
        """Take the arguments of a workspace; what it has learnt stays with it."""
        kept, ours = [], False
        for word in shlex.split(workspace.get_arguments()):
            ours = word in OURS if word.startswith("--") else ours
            kept += [] if ours else [word]
        return cls(shlex.join(kept))

    @property
    def short_name(self) -> str:
        """What it is called where it has no other name."""
        return "VowpalWabbit"

    @property
    def seedless(self) -> bool:
        """Whether no argument asks for random numbers."""
        return not RANDOM & {word.partition("=")[0] for word in shlex.split(self.arguments)}

    def build(self, schema: Schema, seed: int) -> Learner:
        """Start a workspace of its own."""
        words = {word.partition("=")[0] for word in shlex.split(self.arguments)}
        several = "" if words & MULTICLASS else f"--oaa {schema.n_classes} --loss_function logistic --probabilities"
        arguments = f"{several} {self.arguments} --quiet --random_seed {next(seeds(seed))} --per_model_save_load"
        return _Workspace(arguments.strip(), schema)


class _Workspace:
    """The learner of one fold."""

    def __init__(self, arguments: str, schema: Schema) -> None:
        self._arguments, self._schema = arguments, schema
        self._lines = _Lines(schema)
        self._learnt = False
        self._open(arguments)

    def _open(self, arguments: str) -> None:
        try:
            workspace = library("vowpalwabbit", "vowpal-wabbit").Workspace(arguments)
        except RuntimeError as error:
            msg = f"Vowpal Wabbit does not take the arguments {arguments!r}: {error}"
            raise StreamgaugeError(msg) from None
        kind = workspace.get_prediction_type()
        if kind not in {workspace.pMULTICLASS, workspace.pSCALARS}:
            msg = f"Vowpal Wabbit predicts no classes with the arguments {arguments!r}: use --oaa"
            raise StreamgaugeError(msg)
        self._workspace, self._probable = workspace, kind == workspace.pSCALARS

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((len(x), self._schema.n_classes))
        for i, line in enumerate(self._lines.of(x)):
            self._vote(line, votes[i])
        return usable(votes)

    def _vote(self, line: str, votes: NDArray[np.float64]) -> None:
        if not self._learnt:
            return
        example = self._workspace.example(line)  # one that is its own: others are counted as seen
        found = self._workspace.predict(example)
        if self._probable:
            votes[: len(found)] = found[: len(votes)]
        elif 0 < found <= len(votes):
            votes[found - 1] = 1.0

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        weights = np.ones(len(y)) if weight is None else weight
        for line, label, of_row in zip(self._lines.of(x), y.tolist(), weights.tolist(), strict=True):
            if of_row > 0:
                self._learn_one(line, label, of_row)

    def _learn_one(self, line: str, label: int, weight: float) -> None:
        self._workspace.learn(f"{label + 1} {weight!r} {line}")
        self._learnt = True

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        labels = step.labels.tolist()
        weights = [1.0] * len(labels) if step.learning_weight is None else step.learning_weight.tolist()
        votes = np.zeros((len(labels), self._schema.n_classes))
        i = 0
        try:
            for i, line in enumerate(self._lines.of(step.batch.x)):
                if step.test is None or step.test[i]:
                    self._vote(line, votes[i])
                if labels[i] != UNLABELLED and weights[i] > 0:
                    self._learn_one(line, labels[i], weights[i])
        except Exception as error:
            raise as_learner_error(i, usable(votes), error, with_votes=with_votes) from error
        usable(votes)
        return pick_winners(votes), votes if with_votes else None

    @property
    def n_bytes(self) -> int:
        """The table of weights."""
        return int(self._workspace.num_weights() * self._workspace.get_stride() * 4)

    def save(self) -> bytes:
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.vw")
            self._workspace.save(str(path))
            return sealed("VowpalWabbit", bytes([self._learnt]) + path.read_bytes())

    def load(self, state: bytes) -> None:
        content = opened("VowpalWabbit", state)
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.vw")
            path.write_bytes(content[1:])
            self._open(f"{self._arguments} -i {path}")
        self._learnt = bool(content[0])


class _Lines:
    """Writes rows in the text format of Vowpal Wabbit, without labels."""

    def __init__(self, schema: Schema) -> None:
        self._is_nominal = [attribute.is_nominal for attribute in schema.attributes]
        self._plain = "| " + " ".join(f"a{i}:%r" for i in range(schema.n_attributes))

    def of(self, x: NDArray[np.float64]) -> Iterator[str]:
        if any(self._is_nominal) or np.isnan(x).any():
            return (self._line(row) for row in x.tolist())
        return (self._plain % tuple(row) for row in x.tolist())

    def _line(self, row: list[float]) -> str:
        features = (
            f"a{i}={value:.0f}" if nominal else f"a{i}:{value!r}"
            for i, (value, nominal) in enumerate(zip(row, self._is_nominal, strict=True))
            if not isnan(value)
        )
        return f"| {' '.join(features)}"
