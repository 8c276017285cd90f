"""Which learners are written in Python, so that threads cannot run them side by side."""

from dataclasses import fields, is_dataclass

from streamgauge.learners.adapters import Moa
from streamgauge.protocols import LearnerSpec

__all__ = ["holds_gil"]

_OURS = "streamgauge.learners."


def holds_gil(spec: LearnerSpec) -> bool:
    """Say whether a learner, or one inside of it, is written in Python: it then runs beside others only in a process.

    Native learners and those of MOA are not; for any other class that builds learners it is taken for granted, unless
    it has an attribute ``holds_gil = False``.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from streamgauge.learners import NaiveBayes, OzaBag, as_spec
    >>> holds_gil(NaiveBayes()), holds_gil(as_spec(SGDClassifier())), holds_gil(OzaBag(SGDClassifier()))
    (False, True, True)
    """
    said = getattr(spec, "holds_gil", None)
    if said is not None:
        return bool(said)
    if isinstance(spec, Moa):
        return False
    if not is_dataclass(spec) or not type(spec).__module__.startswith(_OURS):
        return True
    if type(spec).__module__.startswith(f"{_OURS}adapters."):
        return True
    inner = [getattr(spec, field.name) for field in fields(spec)]
    return any(holds_gil(part) for part in inner if isinstance(part, LearnerSpec))
