"""Learners by name."""

from collections.abc import Mapping

from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters import as_spec
from streamgauge.protocols import LearnerSpec

__all__ = ["named_learners"]


def name_learners(learners: object) -> dict[str, LearnerSpec]:
    """Give every learner a name: the given one, or its class's, with its options where two would be the same.

    Examples
    --------
    >>> from streamgauge import MajorityClass, NoChange
    >>> list(name_learners([MajorityClass(), NoChange()]))
    ['MajorityClass', 'NoChange']
    """
    if isinstance(learners, Mapping):
        named = {str(name): as_spec(learner) for name, learner in learners.items()}
    else:
        specs = [as_spec(one) for one in (learners if isinstance(learners, list | tuple) else (learners,))]
        short = [getattr(spec, "short_name", type(spec).__name__) for spec in specs]
        names = [name if short.count(name) == 1 else to_text(spec) for name, spec in zip(short, specs, strict=True)]
        named = dict(zip(names, specs, strict=True))
        if len(named) < len(specs):
            repeated = next(name for name in names if names.count(name) > 1)
            msg = (
                f"two learners are the same: {repeated}; give them names, as in {{'a': ..., 'b': ...}}, or other seeds"
            )
            raise StreamgaugeError(msg)
    if not named:
        msg = "there is no learner to evaluate"
        raise StreamgaugeError(msg)
    return named
