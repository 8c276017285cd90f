"""Adapters: everyone else's learners on the same terms, recognised on sight."""

from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters.scikit_learn import ScikitLearn
from streamgauge.protocols import LearnerSpec

__all__ = ["ScikitLearn", "as_spec"]


def as_spec(learner: object) -> LearnerSpec:
    """Turn a learner of any known library into a specification that builds fresh copies of it.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> as_spec(SGDClassifier()).build
    <bound method ScikitLearn.build of ScikitLearn(estimator=SGDClassifier(), seed=1)>
    """
    if isinstance(learner, LearnerSpec) and not isinstance(learner, type):
        return learner
    if hasattr(learner, "partial_fit") and hasattr(learner, "predict") and not isinstance(learner, type):
        return ScikitLearn(learner)
    kind = f"the class {learner.__name__}: give an instance of it" if isinstance(learner, type) else repr(learner)
    msg = (
        f"this is not a learner: {kind}; "
        "a learner is one of streamgauge.learners, or a scikit-learn classifier with partial_fit"
    )
    raise StreamgaugeError(msg)
