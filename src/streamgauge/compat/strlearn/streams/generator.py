"""stream-learn's generator of classification problems with drifts, imbalance and noise."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._optional import library
from streamgauge.compat.strlearn.streams.chunks import Chunk, PositionedStream
from streamgauge.errors import StreamgaugeError, require_at_least

__all__ = ["GeneratedStream", "StreamGenerator"]

SUDDEN = 9999.0
"""The spacing of the sigmoid of a sudden drift."""

CELL = "%.20g"
"""How numbers are written to ARFF files: with all their digits."""


class GeneratedStream(PositionedStream):
    """A stream whose rows are made when the first chunk is read."""

    n_features: int
    X: NDArray[np.float64]
    y: NDArray[np.int64]

    @abstractmethod
    def make_rows(self) -> Chunk:
        """Return all rows and their labels."""

    def read_rows(self, start: int, stop: int) -> Chunk:
        """Return the rows from one position to another."""
        self._ensure_rows()
        return self.X[start:stop], self.y[start:stop]

    def _ensure_rows(self) -> None:
        if not hasattr(self, "X"):
            self.X, self.y = self.make_rows()

    def save_to_arff(self, filepath: str | Path) -> None:
        """Write all rows to an ARFF file; the class is the last attribute."""
        self._ensure_rows()
        attributes = [f"@attribute feature{i + 1} numeric" for i in range(self.X.shape[1])]
        classes = ",".join(str(label) for label in np.unique(self.y))
        head = [
            f"@relation {Path(filepath).stem} {self}",
            "",
            *attributes,
            f"@attribute class {{{classes}}}",
            "",
            "@data",
        ]
        with Path(filepath).open("w", encoding="utf-8") as file:
            file.write("\n".join(head) + "\n")
            np.savetxt(file, np.column_stack([self.X, self.y]), fmt=CELL, delimiter=",")

    def save_to_npy(self, filepath: str | Path) -> None:
        """Write all rows to an npy file; the class is the last column."""
        self._ensure_rows()
        np.save(filepath, np.column_stack([self.X, self.y]))

    def save_to_csv(self, filepath: str | Path) -> None:
        """Write all rows to a CSV file without a header; the class is the last column."""
        self._ensure_rows()
        formats = ["%.17g"] * self.X.shape[1] + ["%d"]
        np.savetxt(filepath, np.column_stack([self.X, self.y]), fmt=formats, delimiter=",")


class StreamGenerator(GeneratedStream):
    """stream-learn's generator of stationary and drifting streams, on scikit-learn's `make_classification`.

    The rows are those of stream-learn with the same options and `random_state`, to the bit. One exception: if the
    number of rows is not divisible by `n_drifts`, the few rows after the last drift are of the last concept here, and
    of the first or second one there.

    Parameters
    ----------
    n_chunks, chunk_size
        The number of chunks and of rows in each.
    random_state
        The seed; drawn at random if None.
    n_drifts
        The number of changes of the concept.
    concept_sigmoid_spacing
        How sudden a drift is: the greater, the more sudden; None is at one row.
    n_classes, n_features, n_informative, n_redundant, n_repeated, n_clusters_per_class
        Options of `make_classification`.
    recurring
        Whether two concepts take turns instead of a new one at each drift.
    weights
        The shares of the classes as a list; or a tuple for two classes whose imbalance changes: (number of drifts,
        spacing, amplitude from 0 to 1) for a continuous change, (mean, standard deviation) of the share of class 0 for
        a share drawn per chunk.
    incremental
        Whether a drift moves the rows from one concept to the next instead of mixing both.
    y_flip
        The share of labels that are moved to the next class: a number, or a tuple with one per class.
    **kwargs
        Further options of `make_classification`, such as `class_sep`.

    Examples
    --------
    >>> stream = StreamGenerator(n_chunks=10, chunk_size=100, random_state=5, n_drifts=1, weights=[0.8, 0.2])
    >>> x, y = stream.get_chunk()
    >>> x.shape, str(stream)
    ((100, 20), 'gr_n_css999_rs5_nd1_ln1_d80_1000')
    """

    def __init__(
        self,
        n_chunks: int = 250,
        chunk_size: int = 200,
        random_state: int | None = None,
        n_drifts: int = 0,
        concept_sigmoid_spacing: float | None = None,
        n_classes: int = 2,
        n_features: int = 20,
        n_informative: int = 2,
        n_redundant: int = 2,
        n_repeated: int = 0,
        n_clusters_per_class: int = 2,
        recurring: bool = False,
        weights: Sequence[float] | NDArray[np.float64] | None = None,
        incremental: bool = False,
        y_flip: float | tuple[float, ...] = 0.01,
        **kwargs: Any,
    ) -> None:
        for name, value in (("n_chunks", n_chunks), ("chunk_size", chunk_size), ("n_classes", n_classes)):
            require_at_least(name, value, 1)
        require_at_least("n_drifts", n_drifts, 0)
        self.n_chunks, self.chunk_size = n_chunks, chunk_size
        self.random_state = int(np.random.default_rng().integers(10_000)) if random_state is None else random_state
        self.n_drifts, self.concept_sigmoid_spacing = n_drifts, concept_sigmoid_spacing
        self.n_classes, self.n_features, self.n_informative = n_classes, n_features, n_informative
        self.n_redundant, self.n_repeated, self.n_clusters_per_class = n_redundant, n_repeated, n_clusters_per_class
        self.recurring, self.incremental, self.make_classification_kwargs = recurring, incremental, kwargs
        self.weights, self.y_flip = weights, y_flip
        self.n_samples, self.classes_ = n_chunks * chunk_size, np.arange(n_classes)
        self._check_shares()

    def _check_shares(self) -> None:
        """Raise if the shares of the classes or of flipped labels do not fit the number of classes."""
        flips = self.y_flip if isinstance(self.y_flip, tuple) else (self.y_flip,) * self.n_classes
        are_shares = all(isinstance(share, int | float) and 0 <= share <= 1 for share in flips)
        if len(flips) != self.n_classes or not are_shares:
            msg = f"y_flip = {self.y_flip!r}: it must be a share from 0 to 1, or a tuple with one per class"
            raise StreamgaugeError(msg)
        if isinstance(self.weights, tuple) and (len(self.weights) not in (2, 3) or self.n_classes != 2):
            msg = (
                f"weights = {self.weights!r}: a tuple is (drifts, spacing, amplitude) or (mean, standard deviation) of "
                "two classes; write the shares of the classes as a list"
            )
            raise StreamgaugeError(msg)
        if not (self.weights is None or isinstance(self.weights, tuple) or len(self.weights) == self.n_classes):
            msg = f"weights has {len(self.weights)} shares for {self.n_classes} classes"
            raise StreamgaugeError(msg)

    def make_rows(self) -> Chunk:
        """Return all rows and their labels."""
        random = np.random.RandomState(self.random_state)
        concepts = self._make_concepts()
        rows = np.arange(self.n_samples)
        if self.n_drifts:
            probabilities, segment = self._make_sigmoid(self.concept_sigmoid_spacing, self.n_drifts)
            noise = random.rand(self.n_samples)
            self.concept_probabilities = probabilities
            self.concept_selector = np.where(probabilities < noise, *self._find_ends(segment))
        else:
            self.concept_selector = np.zeros(self.n_samples, dtype=np.int64)
        self.class_selector = self._draw_classes(random)
        if self.n_drifts and self.incremental:
            low, high = self._find_ends(segment) if not self.recurring else (np.zeros_like(rows), np.ones_like(rows))
            share = probabilities[:, np.newaxis]
            parts = (concepts[concept, self.class_selector, rows] for concept in (low, high))
            first, second = parts
            x = first * (1 - share) + second * share
        else:
            x = concepts[self.concept_selector, self.class_selector, rows]
        return x, self._flip_labels(random)

    def _make_concepts(self) -> NDArray[np.float64]:
        """Return rows of every class in every concept, float64 [concepts, classes, rows, attributes]."""
        make = library("sklearn.datasets", "scikit-learn").make_classification
        options = {
            "n_samples": self.n_samples,
            "n_classes": self.n_classes,
            "n_features": self.n_features,
            "n_informative": self.n_informative,
            "n_redundant": self.n_redundant,
            "n_repeated": self.n_repeated,
            "n_clusters_per_class": self.n_clusters_per_class,
        }
        n_concepts = 2 if self.recurring else self.n_drifts + 1
        concepts = np.empty((n_concepts, self.n_classes, self.n_samples, self.n_features))
        for concept in range(n_concepts):
            for label, shares in enumerate(np.eye(self.n_classes).tolist()):
                seed = self.random_state + concept
                concepts[concept, label] = make(
                    **self.make_classification_kwargs, **options, random_state=seed, weights=shares
                )[0]
        return concepts

    def _make_sigmoid(self, spacing: float | None, n_drifts: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return a probability that falls and rises in turn at the drifts, and the drift that each row belongs to."""
        period = self.n_samples // n_drifts
        width = SUDDEN if spacing is None else spacing
        ramps = [np.linspace(*((-width, width) if i % 2 else (width, -width)), period) for i in range(n_drifts)]
        expit = library("scipy.special", "scikit-learn").expit
        values = expit(np.concatenate(ramps))
        rest = self.n_samples - len(values)
        segment = np.minimum(np.arange(self.n_samples) // period, n_drifts - 1)
        return np.concatenate([values, np.full(rest, values[-1])]), segment

    def _find_ends(self, segment: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the concepts of each row where the probability of its drift is low, and where it is high."""
        if self.recurring:
            return np.ones_like(segment), np.zeros_like(segment)
        return segment + (segment + 1) % 2, segment + segment % 2

    def _draw_classes(self, random: np.random.RandomState) -> NDArray[np.int64]:
        """Return the class of each row before labels are flipped."""
        noise = random.rand(self.n_samples)
        if self.weights is None:
            return (noise * self.n_classes).astype(np.int64)
        if not isinstance(self.weights, tuple):
            limits = np.cumsum(np.asarray(self.weights, dtype=np.float64))[:-1]
            return np.searchsorted(limits, noise, side="left").astype(np.int64)
        if len(self.weights) == 3:
            n_drifts, spacing, amplitude = self.weights
            share = self._make_sigmoid(spacing, int(n_drifts))[0] if n_drifts else np.ones(self.n_samples)
            self.class_probabilities = (share - 0.5) * amplitude + 0.5
            return (self.class_probabilities < noise).astype(np.int64)
        mean, deviation = self.weights
        self.class_probabilities = random.normal(mean, deviation, self.n_chunks)
        drawn = random.uniform(size=(self.n_chunks, self.chunk_size))
        drawn[:, 0], drawn[:, -1] = 0.0, 1.0  # both classes in every chunk
        return (drawn > self.class_probabilities[:, np.newaxis]).astype(np.int64).ravel()

    def _flip_labels(self, random: np.random.RandomState) -> NDArray[np.int64]:
        """Return the labels; some are moved to the next class."""
        if isinstance(self.y_flip, tuple):
            flipped = np.zeros(self.n_samples, dtype=np.bool_)
            for label, share in enumerate(self.y_flip):
                flipped |= (random.rand(self.n_samples) < share) & (self.class_selector == label)
        else:
            flipped = random.rand(self.n_samples) < self.y_flip
        return (self.class_selector + flipped) % self.n_classes

    def __str__(self) -> str:
        spacing = 999 if self.concept_sigmoid_spacing is None else self.concept_sigmoid_spacing
        flips = self.y_flip[:2] if isinstance(self.y_flip, tuple) else (self.y_flip,)
        if not isinstance(self.weights, tuple):
            balance = f"d{int(50 if self.weights is None else self.weights[0] * 100)}"
        elif len(self.weights) == 3:
            balance = f"dc{int(self.weights[0])}_{int(self.weights[1])}_{self.weights[2] * 100:.0f}"
        else:
            balance = f"dd{self.weights[0] * 100:.0f}_{self.weights[1] * 100:.0f}"
        return "_".join(
            [
                "inc" if self.incremental else "gr",
                "r" if self.recurring else "n",
                f"css{int(spacing)}",
                f"rs{self.random_state}",
                f"nd{self.n_drifts}",
                f"ln{'_'.join(str(int(flip * 100)) for flip in flips)}",
                balance,
                str(self.n_samples),
            ]
        )
