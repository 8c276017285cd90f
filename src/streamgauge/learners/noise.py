"""A learner made worse on purpose."""

from dataclasses import dataclass
from typing import ClassVar

from streamgauge import _native
from streamgauge.errors import require_between
from streamgauge.learners.adapters import as_spec
from streamgauge.learners.bayes import NaiveBayes
from streamgauge.learners.composition import make_builder
from streamgauge.learners.native import NativeLearner
from streamgauge.protocols import LearnerSpec
from streamgauge.randomness import fold_seed
from streamgauge.records import Schema

__all__ = ["NoiseFilter"]


@dataclass(frozen=True)
class NoiseFilter:
    """Switches each prediction of a learner, with probability p, to a class drawn uniformly from all.

    With it a difference of known size is put between two learners, to see whether a test finds it. Of accuracy a there
    remains ``a * (1 - p) + p / c`` with c classes: the drawn class may be the predicted one. What the learner learns is
    not touched; a switched prediction gets the votes of the winner.

    Which predictions are switched is addressed by the row's values and by how many rows were learnt before.

    Parameters
    ----------
    learner
        Any learner, also one of another library.
    p
        The probability with which a prediction is switched.
    seed
        Decides what is switched, and the learner's randomness together with the learner's own seed.

    References
    ----------
    A. Bifet, G. de Francisci Morales, J. Read, G. Holmes and B. Pfahringer, Efficient online evaluation of big data
    stream classifiers, KDD 2015, section 4.1.

    Examples
    --------
    >>> from streamgauge import HoeffdingTree
    >>> NoiseFilter(HoeffdingTree(), p=0.1).p
    0.1
    """

    learner: LearnerSpec = NaiveBayes()
    p: float = 0.05
    seed: int = 1
    seedless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", as_spec(self.learner))
        require_between("p", self.p, 0.0, 1.0, open_low=False)

    def build(self, schema: Schema, seed: int) -> NativeLearner:
        """Build a filter round a learner that has seen nothing."""
        base = make_builder(self.learner, schema)
        base_seed = fold_seed(seed, 0, self.learner.seed)
        kernel = _native.noise_filter(schema.n_values, schema.n_classes, base, base_seed, self.p, seed)
        return NativeLearner(kernel)
