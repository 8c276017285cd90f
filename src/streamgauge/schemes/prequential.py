"""Prequential evaluation, and a warm-up before any scheme."""

from dataclasses import dataclass, replace

from streamgauge._foreign import adopt_scheme
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Scheme, SchemeBase
from streamgauge.records import Batch, Step
from streamgauge.schemes.folds import TestMode, check_test_mode
from streamgauge.schemes.wrapping import WrappingScheme, mask_tests, require_scheme

__all__ = ["Prequential", "WarmUp"]


@dataclass(frozen=True)
class Prequential(SchemeBase):
    """Test every row, then learn it; one fold.

    Parameters
    ----------
    test
        "all" or "training", which are the same here: nothing is held out.

    Examples
    --------
    >>> Prequential().n_folds
    1
    """

    test: TestMode = "all"

    def __post_init__(self) -> None:
        check_test_mode(self.test)
        if self.test == "held_out":
            msg = "Prequential learns every row, so test='held_out' would test none; use CrossValidation or Bootstrap"
            raise StreamgaugeError(msg)

    def step(self, batch: Batch, fold: int, seed: int) -> Step:  # noqa: ARG002
        """Test and learn every row."""
        return Step(batch)


@dataclass(frozen=True)
class WarmUp(WrappingScheme):
    """Learn the first rows as usual, but do not score them.

    Parameters
    ----------
    rows
        The number of rows.
    scheme
        The scheme whose first rows are not scored.

    Examples
    --------
    >>> import numpy as np
    >>> batch = Batch(0, np.zeros((3, 1)), np.zeros(3, dtype=np.int32))
    >>> WarmUp(2).step(batch, fold=0, seed=1).test.tolist()
    [False, False, True]
    """

    rows: int = 1000
    scheme: Scheme = Prequential()

    def __post_init__(self) -> None:
        require_at_least("rows", self.rows, 0)
        require_scheme(self.scheme)

    @property
    def inner(self) -> SchemeBase:
        """The scheme whose first rows are not scored."""
        return adopt_scheme(self.scheme)

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        """Test only the rows after the first ones."""
        step = self.scheme.step(batch, fold, seed)
        return step if batch.start >= self.rows else replace(step, test=mask_tests(step) & (batch.rows >= self.rows))

    def inserted_tests(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        """Return the tests of other rows between two rows, after the first rows."""
        return [(after, batch) for after, batch in super().inserted_tests(start, stop) if after >= self.rows]
