"""Orders: what a run does next, batch by batch."""

from collections.abc import Generator

from streamgauge.feeding import Feed
from streamgauge.groups import Order
from streamgauge.sequencing import Score, Sequencer

__all__ = ["Orders"]


class Orders:
    """Makes orders of the rows of a feed, each planned when it is asked for.

    Parameters
    ----------
    feed
        Gives the rows.
    score
        Which prediction of a row is scored.

    Examples
    --------
    >>> from streamgauge import SEA, Prequential
    >>> from streamgauge.labelling import AllLabels
    >>> orders = Orders(Feed(SEA(), Prequential(), AllLabels(), seed=1))
    >>> [(order.n_done, order.stops) for order in orders.of_rows(100, 250, every=50)]
    [(100, [50, 100]), (200, [150, 200]), (250, [250])]
    >>> orders.last(250, every=50) is None
    True
    """

    def __init__(self, feed: Feed, score: Score = "first") -> None:
        self.feed = feed
        self._sequencer = Sequencer(feed.scheme, score)

    def of_rows(self, size: int, n_rows: int | None, every: int, *, ahead: bool = False) -> Generator[Order]:
        """Give the orders of up to `n_rows` rows, `size` at a time, with a stop after every so many.

        One without a plan says that no rows came for a while.
        """
        for batch, arrivals in self.feed.batches(size, n_rows, ahead=ahead):
            if not len(batch):
                yield Order([], max(0, batch.start), self._sequencer.counts)
                continue
            plan = self._sequencer.plan(batch, arrivals)
            start, stop = batch.start, batch.start + len(batch)
            stops = list(range((start // every + 1) * every, stop + 1, every)) if start >= 0 else []
            yield Order(stops, max(0, stop), self._sequencer.counts, plan, batch)

    def last(self, n_done: int, every: int) -> Order | None:
        """Give what is to be done after the last row: the last part of a stream has a reading, too."""
        plan = self._sequencer.at_end(n_done) if n_done else None
        if plan is None and n_done % every == 0:
            return None
        return Order([n_done], n_done, self._sequencer.counts, plan)
