"""An encoder before any learner: it fills gaps, encodes nominal values as numbers and standardises numbers, online."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._foreign import (
    find_end_of_training,
    find_short_name,
    find_tasks,
    find_unlabelled_learning,
    is_trained,
    needs_training,
)
from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.learners.adapters import as_spec, check_nested
from streamgauge.learners.linear import LogisticRegression
from streamgauge.learners.plain_loop import Predicted, fail_after, join_parts
from streamgauge.protocols import Learner, LearnerSpec
from streamgauge.records import UNLABELLED, Attribute, Schema, Step
from streamgauge.records.columns import protect
from streamgauge.records.serialise import loading, pack, unpack
from streamgauge.tasks import Task, find_task

__all__ = ["Encoded", "EncodedLearner", "NominalEncoding"]

NominalEncoding = Literal["one_hot", "hash", "codes"]
"""How nominal values are encoded."""

MAX_COLUMNS = 65_536
"""The limit of columns of an encoded row."""

PART_BYTES = 2**21
"""Steps are encoded in parts of about this size, which stay in the cache and keep wide rows out of memory."""

_SAVED = "encoded learner"


@dataclass(frozen=True)
class Encoded:
    """A learner that is shown plain numbers: gaps filled, nominal values encoded, numbers standardised.

    A row is encoded by the rows learnt before it, never by its own values or by later rows. The statistics are updated
    when a row is learnt: with late labels, when its label arrives. A row that is tested first and learnt later is
    encoded at both moments. Rows without a label count if the learner uses them. Predicting changes nothing, and
    results do not depend on the batch size.

    - A missing number is replaced by the mean so far, a missing nominal value by the most frequent one so far, the
      first of equals; before any value is known, by 0 or the first value.
    - A number is standardised by its mean and (population) standard deviation so far, with weights. It is 0 as long as
      all values were the same, and at most ``sqrt(n)`` from 0 after n known values: no value among n + 1 can be further
      from their mean, so that the first rows of a stream cannot give enormous numbers.
    - Columns of nominal values are not standardised.

    Parameters
    ----------
    learner
        The learner; it may come from any supported library.
    nominal
        How to encode nominal values: "one_hot", a column per value that is 1 for the value of the row and 0 otherwise;
        "hash", `n_buckets` columns that all values share: each value adds 1 or -1 to one of them, chosen by a hash of
        ``attribute=value``, as scikit-learn's FeatureHasher does; or "codes", the codes of the stream, in columns that
        stay nominal.
    n_buckets
        The number of columns for "hash".
    impute
        Whether to replace missing values. If not, numbers and codes stay missing, and the columns of a missing nominal
        value are 0.
    standardise
        Whether to standardise numbers.
    indicators
        Whether to add, for each attribute that may have missing values, a column that is 1 where it has.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from streamgauge import evaluate
    >>> from streamgauge.streams import Agrawal
    >>> learners = {"plain": SGDClassifier(), "encoded": Encoded(SGDClassifier())}
    >>> results = evaluate(Agrawal(concept=7, n_rows=1_000), learners)
    >>> bool(results.curve("encoded", "accuracy")[-1, 0] > results.curve("plain", "accuracy")[-1, 0] + 0.05)
    True
    """

    learner: LearnerSpec = LogisticRegression()
    nominal: NominalEncoding = "one_hot"
    n_buckets: int = 256
    impute: bool = True
    standardise: bool = True
    indicators: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))
        if self.nominal not in get_args(NominalEncoding):
            known = get_args(NominalEncoding)
            raise unknown_name(kind="encoding of nominal values", name=str(self.nominal), known=known)
        require_at_least("n_buckets", self.n_buckets, 1)

    @property
    def short_name(self) -> str:
        """Default name of the learner."""
        return f"Encoded({find_short_name(self.learner)})"

    @property
    def seed(self) -> int:
        """The seed of the learner."""
        return self.learner.seed

    @property
    def seedless(self) -> bool:
        """Whether the learner uses no randomness."""
        return self.learner.seedless

    @property
    def trained(self) -> bool:
        """Whether the learner can predict before it has learnt a row."""
        return is_trained(self.learner)

    @property
    def needs_training(self) -> bool:
        """Whether the learner is fitted only when training ends."""
        return needs_training(self.learner)

    def check_schema(self, schema: Schema) -> None:
        """Raise if the learner is known not to take the encoded rows, such as missing values that are not replaced."""
        check_nested(self.learner, self.encode_schema(schema))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that the learner can do; empty if it does not say."""
        return find_tasks(self.learner)

    def build(self, schema: Schema, seed: int) -> "EncodedLearner":
        """Build an untrained learner with its encoder."""
        encoded_schema = self.encode_schema(schema)
        nominal = (a for a in schema.attributes if a.values and self.nominal == "hash")
        encoder = _native.Encoder(
            schema.n_values,
            self.nominal,
            [f"{a.name}={value}" for a in nominal for value in a.values or ()],
            self.n_buckets,
            self.impute,
            self.standardise,
            [self.indicators and a.missing for a in schema.attributes],
        )
        learner = self.learner.build(encoded_schema, seed)
        kind = EncodedLearner if find_unlabelled_learning(learner) is None else _SemiSupervisedEncodedLearner
        return kind(encoder, learner, find_task(schema))

    def encode_schema(self, schema: Schema) -> Schema:
        """Return the schema of the encoded rows.

        Examples
        --------
        >>> schema = Schema((Attribute("age", missing=True), Attribute("day", ("mo", "tu"))), classes=("no", "yes"))
        >>> [a.name for a in Encoded(indicators=True).encode_schema(schema).attributes]
        ['age', 'day=mo', 'day=tu', 'age is missing']
        """
        self._require_few_columns(schema)
        columns = list(chain.from_iterable(map(self._encode_attribute, schema.attributes)))
        if self.nominal == "hash":
            columns += [Attribute(f"hash {i}") for i in range(self.n_buckets)]
        if self.indicators:
            columns += [Attribute(f"{a.name} is missing") for a in schema.attributes if a.missing]
        return replace(schema, attributes=tuple(_make_names_unique(columns)))

    def _encode_attribute(self, attribute: Attribute) -> list[Attribute]:
        if not attribute.values or self.nominal == "codes":
            return [replace(attribute, missing=attribute.missing and not self.impute)]
        return [Attribute(f"{attribute.name}={value}") for value in attribute.values if self.nominal == "one_hot"]

    def _require_few_columns(self, schema: Schema) -> None:
        n_values = sum(len(a.values or ()) for a in schema.attributes)
        extra, remedy = {
            "one_hot": (n_values, "set nominal='hash', which needs n_buckets columns for all of them, or leave out"),
            "hash": (self.n_buckets, "set a smaller n_buckets, or leave out"),
            "codes": (0, "leave out"),
        }[self.nominal]
        if extra > MAX_COLUMNS:
            most = max(schema.attributes, key=lambda a: len(a.values or ()))
            msg = (
                f"nominal={self.nominal!r} would make {extra:,} columns, more than {MAX_COLUMNS:,}: {remedy} attributes"
                f" such as {most.name!r}, which has {len(most.values or ()):,} values"
            )
            raise StreamgaugeError(msg)


def _make_names_unique(columns: list[Attribute]) -> Iterator[Attribute]:
    """Add numbers to the names of columns that repeat an earlier one."""
    taken, seen = {a.name for a in columns}, Counter[str]()
    for column in columns:
        name = column.name
        while seen[column.name] and name in taken:
            seen[column.name] += 1
            name = f"{column.name} ({seen[column.name]})"
        seen[column.name] += not seen[column.name]
        taken.add(name)
        yield column if name == column.name else replace(column, name=name)


class EncodedLearner:
    """Learner that encodes the rows for another one.

    Parameters
    ----------
    encoder
        The native encoder.
    learner
        The learner of the encoded rows.
    task
        What its predictions are.

    Examples
    --------
    >>> from streamgauge.learners import HoeffdingTree
    >>> schema = Schema((Attribute("age", missing=True), Attribute("day", ("mo", "tu"))), classes=("no", "yes"))
    >>> learner = Encoded(HoeffdingTree()).build(schema, seed=1)
    >>> learner.learn(np.array([[20.0, 1.0], [40.0, 0.0]]), np.array([0, 1], dtype=np.int32), None)
    >>> learner.encode(np.array([[35.0, 0.0], [np.nan, np.nan]])).tolist()
    [[0.5, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """

    def __init__(self, encoder: _native.Encoder, learner: Learner, task: Task) -> None:
        self._encoder, self._learner, self._task = encoder, learner, task
        self._uses_unlabelled = find_unlabelled_learning(learner) is not None
        self._part_rows = max(1, PART_BYTES // (8 * max(1, encoder.n_columns)))

    def encode(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows as the learner would be shown them now; changes nothing."""
        return protect(self._encoder.encode(np.ascontiguousarray(x)))

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes for the classes of each row; changes nothing."""
        parts = [self._learner.predict(self.encode(x[rows])) for rows in self._split(len(x))]
        return parts[0] if len(parts) == 1 else np.concatenate([self._task.make_outputs(0), *parts])

    def learn(self, x: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None) -> None:
        """Learn labelled rows, in order."""
        for rows in self._split(len(y)):
            part_weight = None if weight is None else weight[rows]
            labels = self._task.group_labels(y[rows])
            encoded = protect(self._encoder.learn(np.ascontiguousarray(x[rows]), labels, part_weight, False))  # noqa: FBT003
            self._learner.learn(encoded, y[rows], part_weight)

    def interleave(self, step: Step, *, with_votes: bool) -> Predicted:
        """Predict each tested row of a step, then learn it."""
        done: list[Predicted] = []
        try:
            for rows in self._split(len(step.batch)):
                part = step if len(step.batch) <= self._part_rows else step.part(rows.start, rows.stop)
                done.append(self._learner.interleave(self._encode_step(part), with_votes=with_votes))
        except Exception as error:
            raise fail_after(done, error, self._task, with_votes=with_votes) from error
        return join_parts(done, self._task, with_votes=with_votes)

    def _encode_step(self, step: Step) -> Step:
        labels = self._task.group_labels(step.labels)
        x = self._encoder.learn(step.batch.x, labels, step.learning_weight, self._uses_unlabelled)
        return replace(step, batch=replace(step.batch, x=x))

    def _split(self, n_rows: int) -> Iterator[slice]:
        """Return the parts in which rows are encoded."""
        return (slice(start, min(n_rows, start + self._part_rows)) for start in range(0, n_rows, self._part_rows))

    def end_training(self) -> None:
        """Pass on to the learner that its training ends."""
        end_training = find_end_of_training(self._learner)
        if end_training is not None:
            end_training()

    @property
    def n_bytes(self) -> int:
        """The memory of encoder and learner in bytes."""
        return self._encoder.n_bytes + self._learner.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        return pack(_SAVED, {}, [self._encoder.save(), self._learner.save()])

    def load(self, state: bytes) -> None:
        """Restore a saved state."""
        with loading(_SAVED):
            encoder, learner = unpack(_SAVED, state)[1]
            self._learner.load(learner)
            self._encoder.load(encoder)


class _SemiSupervisedEncodedLearner(EncodedLearner):
    """The same for a learner that also learns rows without a label."""

    def learn_unlabelled(self, x: NDArray[np.float64], weight: NDArray[np.float64] | None) -> None:
        """Learn rows without a label, in order."""
        learn = find_unlabelled_learning(self._learner)
        for rows in self._split(len(x)):
            part_weight = None if weight is None else weight[rows]
            labels = np.full(rows.stop - rows.start, UNLABELLED, dtype=np.int32)
            encoded = self._encoder.learn(np.ascontiguousarray(x[rows]), labels, part_weight, True)  # noqa: FBT003
            if learn is not None:
                learn(protect(encoded), part_weight)
