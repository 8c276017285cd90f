"""PyTorch modules."""

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.learners.adapters.chunked import ChunkLearner, usable
from streamgauge.learners.adapters.libraries import library
from streamgauge.learners.adapters.saved_states import opened, sealed, size_of
from streamgauge.learners.adapters.seeding import seeds
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import Schema, Step

__all__ = ["Torch"]

_GLOBAL_RANDOMNESS = threading.RLock()
"""Held while PyTorch's shared random numbers are those of one learner."""


@dataclass(frozen=True)
class Torch:
    """A PyTorch module that is trained row by row; each fold gets its own copy, with weights of its own.

    The module takes float32 [n, attributes] (or the type of its own weights), with nominal values as codes and missing
    ones as 0, and gives a score for each class, [n, classes]; votes are their softmax. It is trained in training mode,
    predicts in evaluation mode, and abstains until it has learnt. Random numbers, as of dropout, are each learner's
    own: while one is at work, the others wait. Its state is saved without pickle: weights, optimiser and random
    numbers are loaded with ``weights_only=True``.

    Parameters
    ----------
    module
        The module, which is copied and never changed; or a function that makes one from a schema.
    optimiser
        A function that makes an optimiser from parameters, such as ``functools.partial(torch.optim.Adam, lr=0.01)``,
        or an optimiser, whose kind and options are used; None for ``torch.optim.SGD`` with a rate of 0.01.
    loss
        A function of scores and class codes that gives a loss for each row, or one of PyTorch's losses, of which that
        is asked; None for the cross entropy. Weights of rows multiply it.
    chunk_size
        How many rows a step of the optimiser takes in. Rows are predicted before the chunk they belong to is learnt.
    pretrained
        Whether the weights of the module are kept; if not, every layer that can is initialised anew with the seed.
    seed
        Two learners with the same seed share their randomness in each fold.

    Examples
    --------
    >>> Torch("no module").build(Schema((), ("a", "b")), seed=1)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: 'no module' is no PyTorch module, nor a function that makes one
    """

    module: Any
    optimiser: Any = None
    loss: Callable[[Any, Any], Any] | None = None
    chunk_size: int = 1
    pretrained: bool = False
    seed: int = 1

    def __post_init__(self) -> None:
        require_at_least("chunk_size", self.chunk_size, 1)

    @property
    def short_name(self) -> str:
        """What it is called where it has no other name."""
        return getattr(self.module, "__name__", type(self.module).__name__)

    @property
    def seedless(self) -> bool:
        """Whether its weights are given; else they are drawn."""
        return self.pretrained

    def build(self, schema: Schema, seed: int) -> Learner:
        """Make a module of its own, with an optimiser of its own."""
        if not callable(self.module):
            msg = f"{self.module!r} is no PyTorch module, nor a function that makes one"
            raise StreamgaugeError(msg)
        torch = library("torch", "torch")
        with _GLOBAL_RANDOMNESS, torch.random.fork_rng(devices=[]):
            torch.manual_seed(next(seeds(seed)))
            module = self._module(torch, schema)
            optimiser = self._optimiser(torch, module)
            random = torch.get_rng_state()
        loss = deepcopy(self.loss) or torch.nn.CrossEntropyLoss()
        if hasattr(loss, "reduction"):
            loss.reduction = "none"
        return _TorchLearner(_Module(module, optimiser, loss, schema.n_classes), random, schema, self.chunk_size)

    def _module(self, torch: Any, schema: Schema) -> Any:  # noqa: ANN401
        if not isinstance(self.module, torch.nn.Module):
            return self.module(schema)
        module = deepcopy(self.module)
        if not self.pretrained:
            for layer in module.modules():
                if hasattr(layer, "reset_parameters"):
                    layer.reset_parameters()
        return module

    def _optimiser(self, torch: Any, module: Any) -> Any:  # noqa: ANN401
        if self.optimiser is None:
            return torch.optim.SGD(module.parameters(), lr=0.01)
        if isinstance(self.optimiser, torch.optim.Optimizer):
            return type(self.optimiser)(module.parameters(), **self.optimiser.defaults)
        return self.optimiser(module.parameters())


class _Module:
    """A module with its optimiser and loss as the model of a learner."""

    def __init__(self, module: Any, optimiser: Any, loss: Any, n_classes: int) -> None:  # noqa: ANN401
        self._torch = library("torch", "torch")
        self.module, self.optimiser = module, optimiser
        self._loss, self._n_classes = loss, n_classes
        self._type = next((weights.dtype for weights in module.parameters()), self._torch.float32)

    def _rows(self, x: NDArray[np.float64]) -> Any:  # noqa: ANN401
        return self._torch.from_numpy(np.nan_to_num(x)).to(self._type)

    def votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        self.module.eval()
        with self._torch.inference_mode():
            scores = self.module(self._rows(x))
            if tuple(scores.shape) != (len(x), self._n_classes):
                msg = f"the module gives {tuple(scores.shape)} scores for {len(x)} row(s) of {self._n_classes} classes"
                raise StreamgaugeError(msg)
            votes: NDArray[np.float64] = scores.double().softmax(dim=1).numpy()
        return usable(votes)

    def codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        return pick_winners(self.votes(x))

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        torch = self._torch
        self.module.train()
        self.optimiser.zero_grad()
        losses = self._loss(self.module(self._rows(x)), torch.from_numpy(y.astype(np.int64)))
        if weight is not None:
            losses = losses * torch.from_numpy(weight).to(losses.dtype)
        losses.mean().backward()
        self.optimiser.step()

    def save(self) -> Any:  # noqa: ANN401
        return {"module": self.module.state_dict(), "optimiser": self.optimiser.state_dict()}

    def load(self, state: Any) -> None:  # noqa: ANN401
        self.module.load_state_dict(state["module"])
        self.optimiser.load_state_dict(state["optimiser"])


class _TorchLearner(ChunkLearner):
    """The learner of one fold, whose random numbers are its own."""

    def __init__(self, model: _Module, random: Any, schema: Schema, chunk_size: int) -> None:  # noqa: ANN401
        super().__init__(model, schema, chunk_size, "Torch")
        self._torch = library("torch", "torch")
        self._own, self._random = model, random
        self._n_attributes = schema.n_attributes

    @contextmanager
    def _own_randomness(self) -> Iterator[None]:
        with _GLOBAL_RANDOMNESS:
            others = self._torch.get_rng_state()
            self._torch.set_rng_state(self._random)
            try:
                yield
            finally:
                self._random = self._torch.get_rng_state()
                self._torch.set_rng_state(others)

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        with self._own_randomness():
            super().learn(x, y, weight)

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        with self._own_randomness():
            return super().interleave(step, with_votes=with_votes)

    @property
    def n_bytes(self) -> int:
        """The tensors of module and optimiser, and the rows of the chunk at hand."""
        tensors = [*self._own.module.state_dict().values()]
        tensors += [parameter.grad for parameter in self._own.module.parameters() if parameter.grad is not None]
        for state in self._own.optimiser.state_dict()["state"].values():
            tensors += [value for value in state.values() if hasattr(value, "nbytes")]
        return sum(int(tensor.nbytes) for tensor in tensors) + size_of(self._chunk)

    def save(self) -> bytes:
        buffer = io.BytesIO()
        rows = np.array([[*row, label, weight] for row, label, weight in self._chunk], dtype=np.float64)
        chunk = self._torch.from_numpy(rows)
        state = {**self._own.save(), "random": self._random, "learnt": self._learnt, "chunk": chunk}
        self._torch.save(state, buffer)
        return sealed("Torch", buffer.getvalue())

    def load(self, state: bytes) -> None:
        loaded = self._torch.load(io.BytesIO(opened("Torch", state)), weights_only=True)
        self._own.load(loaded)
        self._random, self._learnt = loaded["random"], loaded["learnt"]
        rows = loaded["chunk"].numpy().reshape(-1, self._n_attributes + 2)
        self._chunk = [(row[:-2].copy(), int(row[-2]), float(row[-1])) for row in rows]
