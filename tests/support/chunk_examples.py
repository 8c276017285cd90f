"""Chunks of rows for ensembles that learn chunk by chunk."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.protocols import LearnerSpec
from streamgauge.records import Attribute, Batch, Schema, Step

__all__ = ["Chunks", "chunks_of", "schema_of", "votes_of"]

Chunks = list[tuple[NDArray[np.float64], NDArray[np.int32]]]


def chunks_of(
    n_classes: int, n_chunks: int = 12, size: int = 120, rare: float | None = None, turn: float = 3.0, seed: int = 3
) -> Chunks:
    """Return chunks of a stream whose classes turn and, half-way, jump; the second of two may be rare."""
    rng = np.random.default_rng(seed)
    share = np.full(n_classes, 1 / n_classes) if rare is None else np.array([1 - rare, rare])
    chunks = []
    for number in range(n_chunks):
        y = rng.choice(n_classes, size=size, p=share).astype(np.int32)
        y[:n_classes] = np.arange(n_classes)
        angle = 2 * np.pi * y / n_classes + turn * number / n_chunks + (2.0 if number > n_chunks // 2 else 0.0)
        x = np.c_[np.cos(angle), np.sin(angle), np.zeros(size)] + 0.7 * rng.normal(size=(size, 3))
        chunks.append((np.ascontiguousarray(x), y))
    return chunks


def schema_of(n_classes: int) -> Schema:
    return Schema(tuple(Attribute(name) for name in "abc"), tuple(map(str, range(n_classes))))


def votes_of(spec: LearnerSpec, chunks: Chunks) -> list[NDArray[np.float64]]:
    """Test then train on every chunk, in batches that have nothing to do with chunks."""
    learner = spec.build(schema_of(int(chunks[0][1].max()) + 1), 7)
    x, y = (np.concatenate(column) for column in zip(*chunks, strict=True))
    found = []
    for start in range(0, len(y), 77):
        part = slice(start, start + 77)
        votes = learner.interleave(Step(Batch(start, x[part].copy(), y[part].copy())), with_votes=True)[1]
        assert votes is not None
        found.append(votes)
    return np.split(np.concatenate(found), len(chunks))
