"""Which learners hold Python's global interpreter lock, so that threads cannot run them in parallel."""

from dataclasses import fields, is_dataclass

from streamgauge.learners.adapters import Moa
from streamgauge.protocols import LearnerSpec

__all__ = ["holds_gil"]

_OURS = "streamgauge.learners."


def holds_gil(spec: LearnerSpec) -> bool:
    """Return whether a learner, or one inside it, is written in Python and can run in parallel only in a process.

    Native learners and those of MOA release the lock. A class from elsewhere is assumed to hold it, unless it has an
    attribute ``holds_gil = False``.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from streamgauge.learners import NaiveBayes, OzaBag, as_spec
    >>> holds_gil(NaiveBayes()), holds_gil(as_spec(SGDClassifier())), holds_gil(OzaBag(SGDClassifier()))
    (False, True, True)
    """
    declared = getattr(spec, "holds_gil", None)
    if declared is not None:
        return bool(declared)
    if isinstance(spec, Moa):
        return False
    module = type(spec).__module__
    if not is_dataclass(spec) or not module.startswith(_OURS) or module.startswith(f"{_OURS}adapters."):
        return True
    options = (getattr(spec, field.name) for field in fields(spec))
    return any(holds_gil(option) for option in options if isinstance(option, LearnerSpec))
