"""Predictions that learners did not make, which count as errors."""

from collections.abc import Iterator

import numpy as np

from streamgauge._format.numbers import format_value
from streamgauge.records import RunData

__all__ = ["abstentions"]

WORTH_TELLING = 0.005


def abstentions(results: RunData) -> Iterator[str]:
    """Say of each learner that often had nothing to say, a sentence each, how much of its errors that is.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> from streamgauge.labelling import Delayed
    >>> (sentence,) = abstentions(evaluate(SEA(n_rows=2000), NaiveBayes(), labelling=Delayed(499)))
    >>> sentence.partition(",")[0]
    'NaiveBayes did not predict 25.00 % of the rows over Landmark()'
    """
    if results.confusions is None or not len(results.confusions.rows):
        return
    last = results.confusions.weights[-1]  # [learners, forgettings, true, predicted]
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(last[..., -1].sum(axis=-1) / last.sum(axis=(-2, -1)))
    for learner, of_learner in zip(results.learners, shares, strict=True):
        place = int(of_learner.argmax())
        if of_learner[place] > WORTH_TELLING:
            rows = f"{format_value(of_learner[place])} % of the rows over {results.forgettings[place]}"
            yield (
                f"{learner} did not predict {rows}, most likely because it had seen no label yet: they count as errors."
                " WarmUp(rows) leaves the first ones out."
            )
