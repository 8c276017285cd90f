"""The names under which learners appear in results."""

from collections.abc import Mapping

from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters import as_spec
from streamgauge.protocols import LearnerSpec

__all__ = ["name_learners"]


def name_learners(learners: object) -> dict[str, LearnerSpec]:
    """Return learners by name: the given name, or that of the class, with options if two would have the same name.

    Examples
    --------
    >>> from streamgauge import MajorityClass, NoChange
    >>> list(name_learners([MajorityClass(), NoChange()]))
    ['MajorityClass', 'NoChange']
    """
    if isinstance(learners, Mapping):
        named = {str(name): as_spec(learner) for name, learner in learners.items()}
    else:
        specs = [as_spec(learner) for learner in (learners if isinstance(learners, list | tuple) else (learners,))]
        short = [getattr(spec, "short_name", type(spec).__name__) for spec in specs]
        names = [name if short.count(name) == 1 else to_text(spec) for name, spec in zip(short, specs, strict=True)]
        named = dict(zip(names, specs, strict=True))
        if len(named) < len(specs):
            repeated = next(name for name in names if names.count(name) > 1)
            msg = f"two learners are the same: {repeated}; name them, as in {{'a': ..., 'b': ...}}, or change a seed"
            raise StreamgaugeError(msg)
    if not named:
        msg = "no learner to evaluate: give at least one"
        raise StreamgaugeError(msg)
    return named
