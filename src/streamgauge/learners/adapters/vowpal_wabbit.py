"""Workspaces of Vowpal Wabbit."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters.chunked import clean_votes
from streamgauge.learners.adapters.saved_states import seal, unseal
from streamgauge.learners.adapters.seeding import generate_seeds
from streamgauge.learners.plain_loop import as_learner_error, pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import UNLABELLED, Schema, Step
from streamgauge.records.locks import open_temporary_folder

__all__ = ["VowpalWabbit"]

FILE_OPTIONS = {"-f", "--final_regressor", "-d", "--data", "-p", "--predictions", "-c", "--cache", "--cache_file"}
"""Options that read or write files, which the folds would share."""

MULTICLASS_OPTIONS = {"--oaa", "--ect", "--log_multi", "--recall_tree", "--probabilities"}
"""Options that choose a multiclass reduction."""

ADDED_OPTIONS = {"--no_stdin", "--quiet", "--random_seed"}
"""Options that are added to those of every workspace."""

RANDOM_OPTIONS = {
    "--bag",
    "--bootstrap",
    "-B",
    "--nn",
    "--rank",
    "--lrq",
    "--random_weights",
    "--random_positive_weights",
}
"""Options whose result depends on the seed."""


@dataclass(frozen=True)
class VowpalWabbit:
    """A workspace of Vowpal Wabbit; each fold gets its own, with its own `--random_seed`.

    A numeric attribute is a feature with a value, each value of a nominal attribute is a feature, and a missing value
    adds no feature. Unless the arguments choose otherwise it runs ``--oaa n_classes --loss_function logistic
    --probabilities``, so votes are probabilities. The learner abstains until it has been trained. The state is saved
    as a model of Vowpal Wabbit, without pickle, and resumes bit for bit.

    Parameters
    ----------
    arguments
        Further command-line arguments, such as ``--bit_precision 20 --learning_rate 0.1``.
    seed
        Two learners with the same seed share their random numbers in each fold.

    Examples
    --------
    >>> VowpalWabbit("--learning_rate 0.1")
    VowpalWabbit(arguments='--learning_rate 0.1', seed=1)
    >>> VowpalWabbit("-f model.vw")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: Vowpal Wabbit's argument -f names a file, which the folds would share: \
remove it
    """

    arguments: str = ""
    seed: int = 1

    def __post_init__(self) -> None:
        for word in shlex.split(self.arguments):
            if word.partition("=")[0] in FILE_OPTIONS:
                msg = f"Vowpal Wabbit's argument {word} names a file, which the folds would share: remove it"
                raise StreamgaugeError(msg)

    @classmethod
    def from_workspace(cls, workspace: Any) -> "VowpalWabbit":  # noqa: ANN401
        """Return a specification with the arguments of a workspace, but without its trained model."""
        arguments, is_added = [], False
        for word in shlex.split(workspace.get_arguments()):
            is_added = word in ADDED_OPTIONS if word.startswith("--") else is_added
            arguments += [] if is_added else [word]
        return cls(shlex.join(arguments))

    @property
    def short_name(self) -> str:
        """Default name of the learner."""
        return "VowpalWabbit"

    @property
    def seedless(self) -> bool:
        """Whether no argument uses random numbers."""
        return not RANDOM_OPTIONS & {word.partition("=")[0] for word in shlex.split(self.arguments)}

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner with its own workspace."""
        words = {word.partition("=")[0] for word in shlex.split(self.arguments)}
        reduction = (
            "" if words & MULTICLASS_OPTIONS else f"--oaa {schema.n_classes} --loss_function logistic --probabilities"
        )
        arguments = (
            f"{reduction} {self.arguments} --quiet --random_seed {next(generate_seeds(seed))} --per_model_save_load"
        )
        return _Workspace(arguments.strip(), schema)


class _Workspace:
    """The learner of one fold."""

    def __init__(self, arguments: str, schema: Schema) -> None:
        self._arguments, self._schema = arguments, schema
        self._formatter = _LineFormatter(schema)
        self._is_trained = False
        self._open(arguments)

    def _open(self, arguments: str) -> None:
        try:
            workspace = library("vowpalwabbit", "vowpal-wabbit").Workspace(arguments)
        except RuntimeError as error:
            msg = f"Vowpal Wabbit does not accept the arguments {arguments!r}: {error}"
            raise StreamgaugeError(msg) from None
        kind = workspace.get_prediction_type()
        if kind not in {workspace.pMULTICLASS, workspace.pSCALARS}:
            msg = f"Vowpal Wabbit does not predict classes with the arguments {arguments!r}: use --oaa"
            raise StreamgaugeError(msg)
        self._workspace, self._has_probabilities = workspace, kind == workspace.pSCALARS

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((len(x), self._schema.n_classes))
        for i, line in enumerate(self._formatter.format_rows(x)):
            self._vote(line, votes[i])
        return clean_votes(votes)

    def _vote(self, line: str, votes: NDArray[np.float64]) -> None:
        if not self._is_trained:
            return
        example = self._workspace.example(line)  # Workspace.predict(line) would count the row as seen
        prediction = self._workspace.predict(example)
        if self._has_probabilities:
            votes[: len(prediction)] = prediction[: len(votes)]
        elif 0 < prediction <= len(votes):
            votes[prediction - 1] = 1.0

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        weights = np.ones(len(y)) if weight is None else weight
        for line, label, row_weight in zip(self._formatter.format_rows(x), y.tolist(), weights.tolist(), strict=True):
            if row_weight > 0:
                self._learn_one(line, label, row_weight)

    def _learn_one(self, line: str, label: int, weight: float) -> None:
        self._workspace.learn(f"{label + 1} {weight!r} {line}")
        self._is_trained = True

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        labels = step.labels.tolist()
        weights = [1.0] * len(labels) if step.learning_weight is None else step.learning_weight.tolist()
        votes = np.zeros((len(labels), self._schema.n_classes))
        i = 0
        try:
            for i, line in enumerate(self._formatter.format_rows(step.batch.x)):
                if step.test is None or step.test[i]:
                    self._vote(line, votes[i])
                if labels[i] != UNLABELLED and weights[i] > 0:
                    self._learn_one(line, labels[i], weights[i])
        except Exception as error:
            raise as_learner_error(i, clean_votes(votes), error, with_votes=with_votes) from error
        clean_votes(votes)
        return pick_winners(votes), votes if with_votes else None

    @property
    def n_bytes(self) -> int:
        """Bytes of the weight table."""
        return int(self._workspace.num_weights() * self._workspace.get_stride() * 4)

    def save(self) -> bytes:
        with open_temporary_folder() as folder:
            path = folder / "model.vw"
            self._workspace.save(str(path))
            return seal("VowpalWabbit", bytes([self._is_trained]) + path.read_bytes())

    def load(self, state: bytes) -> None:
        content = unseal("VowpalWabbit", state)
        with open_temporary_folder() as folder:
            path = folder / "model.vw"
            path.write_bytes(content[1:])
            self._open(f"{self._arguments} -i {path}")
        self._is_trained = bool(content[0])


class _LineFormatter:
    """Formatter of rows in the text format of Vowpal Wabbit, without labels."""

    def __init__(self, schema: Schema) -> None:
        self._is_nominal = [attribute.is_nominal for attribute in schema.attributes]
        self._template = "| " + " ".join(f"a{i}:%r" for i in range(schema.n_attributes))

    def format_rows(self, x: NDArray[np.float64]) -> Iterator[str]:
        if any(self._is_nominal) or np.isnan(x).any():
            return (self._format_row(row) for row in x.tolist())
        return (self._template % tuple(row) for row in x.tolist())

    def _format_row(self, row: list[float]) -> str:
        features = (
            f"a{i}={value:.0f}" if nominal else f"a{i}:{value!r}"
            for i, (value, nominal) in enumerate(zip(row, self._is_nominal, strict=True))
            if not isnan(value)
        )
        return f"| {' '.join(features)}"
