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

from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.learners.adapters.chunked import ChunkedLearner, RowBuffer, clean_votes
from streamgauge.learners.adapters.saved_states import measure_size, seal, unseal
from streamgauge.learners.adapters.seeding import generate_seeds
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import Schema, Step

__all__ = ["Torch"]

_GLOBAL_RANDOMNESS = threading.RLock()
"""Held while PyTorch's global random state is that of one learner."""


@dataclass(frozen=True)
class Torch:
    """A PyTorch module that is trained row by row; each fold gets a copy with its own weights.

    The module takes float32 [n, attributes] (or the type of its weights), with nominal values as codes and missing
    values as 0, and returns a score for each class, [n, classes]; votes are their softmax. It is trained in training
    mode and predicts in evaluation mode. Until its first chunk is full, it predicts the majority class of the rows in
    it; with `pretrained` it predicts by the module from the first row on. Each learner has its own random state,
    for dropout and the like, which is swapped in while it runs, so learners take turns. The state is saved without
    pickle: weights, optimiser and random state are loaded with ``weights_only=True``.

    Parameters
    ----------
    module
        The module, which is copied and never changed; or a function that builds one from a schema.
    optimiser
        A function that builds an optimiser from parameters, such as ``functools.partial(torch.optim.Adam, lr=0.01)``,
        or an optimiser, whose type and options are used; None for ``torch.optim.SGD`` with a learning rate of 0.01.
    loss
        A function of scores and class codes that returns a loss for each row, or a loss of PyTorch, whose reduction is
        set to "none"; None for the cross entropy. The weights of rows multiply it.
    chunk_size
        Number of rows per optimiser step. Rows are predicted before their chunk is learnt.
    pretrained
        Whether to keep the weights of the module; if not, every layer with `reset_parameters` is initialised again
        with the seed.
    seed
        Two learners with the same seed share their random numbers in each fold.

    Examples
    --------
    >>> Torch("text").build(Schema((), ("a", "b")), seed=1)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: 'text' is neither a PyTorch module nor a function that builds one
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
        """Default name of the learner."""
        return getattr(self.module, "__name__", type(self.module).__name__)

    @property
    def seedless(self) -> bool:
        """Whether the weights are given; otherwise they are drawn."""
        return self.pretrained

    @property
    def trained(self) -> bool:
        """Whether it can predict before it has learnt a row."""
        return self.pretrained

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner with its own module and optimiser."""
        if not callable(self.module):
            msg = f"{self.module!r} is neither a PyTorch module nor a function that builds one"
            raise StreamgaugeError(msg)
        torch = library("torch", "torch")
        with _GLOBAL_RANDOMNESS, torch.random.fork_rng(devices=[]):
            torch.manual_seed(next(generate_seeds(seed)))
            module = self._build_module(torch, schema)
            optimiser = self._build_optimiser(torch, module)
            random = torch.get_rng_state()
        loss = deepcopy(self.loss) or torch.nn.CrossEntropyLoss()
        if hasattr(loss, "reduction"):
            loss.reduction = "none"
        model = _Module(module, optimiser, loss, schema.n_classes)
        return _TorchLearner(model, random, schema, self.chunk_size, is_trained=self.pretrained)

    def _build_module(self, torch: Any, schema: Schema) -> Any:  # noqa: ANN401
        if not isinstance(self.module, torch.nn.Module):
            return self.module(schema)
        module = deepcopy(self.module)
        if not self.pretrained:
            for layer in module.modules():
                if hasattr(layer, "reset_parameters"):
                    layer.reset_parameters()
        return module

    def _build_optimiser(self, torch: Any, module: Any) -> Any:  # noqa: ANN401
        if self.optimiser is None:
            return torch.optim.SGD(module.parameters(), lr=0.01)
        if isinstance(self.optimiser, torch.optim.Optimizer):
            return type(self.optimiser)(module.parameters(), **self.optimiser.defaults)
        return self.optimiser(module.parameters())


class _Module:
    """A module with its optimiser and loss, as a model of chunks."""

    any_number = False

    def __init__(self, module: Any, optimiser: Any, loss: Any, n_classes: int) -> None:  # noqa: ANN401
        self._torch = library("torch", "torch")
        self.module, self.optimiser = module, optimiser
        self._loss, self._n_classes = loss, n_classes
        self._dtype = next((weights.dtype for weights in module.parameters()), self._torch.float32)

    def _as_tensor(self, x: NDArray[np.float64]) -> Any:  # noqa: ANN401
        return self._torch.from_numpy(np.nan_to_num(x)).to(self._dtype)

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        self.module.eval()
        with self._torch.inference_mode():
            scores = self.module(self._as_tensor(x))
            if tuple(scores.shape) != (len(x), self._n_classes):
                msg = (
                    f"the module returns scores of shape {tuple(scores.shape)}; "
                    f"it must be [{len(x)}, {self._n_classes}] for {len(x)} row(s) and {self._n_classes} classes"
                )
                raise StreamgaugeError(msg)
            votes: NDArray[np.float64] = scores.double().softmax(dim=1).numpy()
        return clean_votes(votes)

    def predict_codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        return pick_winners(self.predict_votes(x))

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        torch = self._torch
        self.module.train()
        self.optimiser.zero_grad()
        losses = self._loss(self.module(self._as_tensor(x)), torch.from_numpy(y.astype(np.int64)))
        if weight is not None:
            losses = losses * torch.from_numpy(weight.copy()).to(losses.dtype)
        losses.mean().backward()
        self.optimiser.step()

    def save(self) -> Any:  # noqa: ANN401
        return {"module": self.module.state_dict(), "optimiser": self.optimiser.state_dict()}

    def load(self, state: Any) -> None:  # noqa: ANN401
        self.module.load_state_dict(state["module"])
        self.optimiser.load_state_dict(state["optimiser"])


class _TorchLearner(ChunkedLearner):
    """The learner of one fold, with its own random state."""

    def __init__(
        self,
        model: _Module,
        random: Any,  # noqa: ANN401
        schema: Schema,
        chunk_size: int,
        *,
        is_trained: bool,
    ) -> None:
        super().__init__(model, schema, chunk_size, "Torch", is_trained=is_trained)
        self._torch = library("torch", "torch")
        self._torch_model, self._random = model, random
        self._n_attributes = schema.n_attributes

    @contextmanager
    def _use_own_randomness(self) -> Iterator[None]:
        with _GLOBAL_RANDOMNESS:
            previous = self._torch.get_rng_state()
            self._torch.set_rng_state(self._random)
            try:
                yield
            finally:
                self._random = self._torch.get_rng_state()
                self._torch.set_rng_state(previous)

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        with self._use_own_randomness():
            super().learn(x, y, weight)

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        with self._use_own_randomness():
            return super().interleave(step, with_votes=with_votes)

    @property
    def n_bytes(self) -> int:
        """Bytes of the tensors of module and optimiser, and of the rows of the current chunk."""
        tensors = [*self._torch_model.module.state_dict().values()]
        tensors += [parameter.grad for parameter in self._torch_model.module.parameters() if parameter.grad is not None]
        for state in self._torch_model.optimiser.state_dict()["state"].values():
            tensors += [value for value in state.values() if hasattr(value, "nbytes")]
        return sum(int(tensor.nbytes) for tensor in tensors) + measure_size(self._chunk)

    def save(self) -> bytes:
        buffer = io.BytesIO()
        chunk = self._torch.from_numpy(np.column_stack(self._chunk.columns))
        state = {**self._torch_model.save(), "random": self._random, "learnt": self._is_trained, "chunk": chunk}
        self._torch.save(state, buffer)
        return seal("Torch", buffer.getvalue())

    def load(self, state: bytes) -> None:
        loaded = self._torch.load(io.BytesIO(unseal("Torch", state)), weights_only=True)
        self._torch_model.load(loaded)
        self._random, self._is_trained = loaded["random"], loaded["learnt"]
        rows = loaded["chunk"].numpy().reshape(-1, self._n_attributes + 2)
        self._chunk = RowBuffer(self._n_attributes)
        self._chunk.add(rows[:, :-2], rows[:, -2].astype(np.int32), rows[:, -1])
