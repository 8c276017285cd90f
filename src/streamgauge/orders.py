"""Orders: what a run does next, batch by batch."""

from collections.abc import Generator, Sequence

from streamgauge.counting import LabelCounter, confusion_stride
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
        self._labels = LabelCounter(feed.schema.n_classes)
        self._sequencer = Sequencer(feed.scheme, score)
        self._before = (0, self._sequencer.counts, self._labels.totals)  # the last batch that was planned

    def of_rows(self, size: int, n_rows: int | None, every: int, *, ahead: bool = False) -> Generator[Order]:
        """Give the orders of up to `n_rows` rows, `size` at a time, with a stop after every so many."""
        for batch, arrivals in self.feed.batches(size, n_rows, ahead=ahead):
            self._before = (max(0, batch.start), self._sequencer.counts, self._labels.totals)
            plan = self._sequencer.plan(batch, arrivals)
            start, stop = batch.start, batch.start + len(batch)
            stops = list(range((start // every + 1) * every, stop + 1, every)) if start >= 0 else []
            labels = self._labels.count(batch, plan, self._sequencer.hidden, stops)
            counts, confused = self._sequencer.counts, self._confused(stops, every)
            yield Order(stops, max(0, stop), counts, plan, batch, labels=labels, confused=confused)

    def _confused(self, stops: Sequence[int], every: int) -> list[int]:
        """Choose the stops at which confusion matrices are kept, fewer as the run goes on."""
        n_classes = self.feed.schema.n_classes
        strides = [confusion_stride(stop // every, n_classes) for stop in stops]
        numbered = enumerate(zip(stops, strides, strict=True))
        return [place for place, (stop, stride) in numbered if stride and stop // every % stride == 0]

    def last(self, n_done: int, every: int) -> Order | None:
        """Give what is to be done after the last row: the last part of a stream has a reading, too."""
        plan = self._sequencer.at_end(n_done) if n_done else None
        if plan is None and n_done % every == 0:
            return None
        confused = [] if confusion_stride(1, self.feed.schema.n_classes) is None else [0]
        n_before, counts, labels = self._before
        if n_done > n_before:  # else a batch was planned that nobody ran
            counts, labels = self._sequencer.counts, self._labels.totals
        return Order([n_done], n_done, counts, plan, labels=labels[None], confused=confused)
