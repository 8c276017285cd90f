"""Orders: what a run does next, batch by batch."""

from collections.abc import Callable, Generator, Mapping

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
        self._start = 0
        self._kept: dict[int, dict[str, bytes]] = {}

    def of_rows(
        self,
        size: int,
        n_rows: int | None,
        every: int,
        *,
        ahead: bool = False,
        keeps: Callable[[int], bool] | None = None,
    ) -> Generator[Order]:
        """Give the orders of up to `n_rows` rows, `size` at a time, with a stop after every so many.

        Where `keeps` says, after so many rows, that a checkpoint is due, the order asks for the states of all cells,
        and what the orders behind it need is kept for `states`. One without a plan says that no rows came for a while.
        """
        for batch, arrivals in self.feed.batches(size, n_rows, self._start, ahead=ahead):
            if not len(batch):
                yield Order([], max(0, batch.start), self._sequencer.counts)
                continue
            plan = self._sequencer.plan(batch, arrivals)
            start, stop = batch.start, batch.start + len(batch)
            stops = list(range((start // every + 1) * every, stop + 1, every)) if start >= 0 else []
            kept = keeps is not None and stop > 0 and self.feed.is_whole and keeps(stop)
            if kept:
                self._kept[stop] = self._states()
            yield Order(stops, max(0, stop), self._sequencer.counts, plan, batch, kept)

    def _states(self) -> dict[str, bytes]:
        states = {"sequencer": self._sequencer.save()}
        return states if self.feed.live is None else {**states, "stream": self.feed.live.state()}

    def states(self, n_rows: int) -> dict[str, bytes]:
        """Give what the orders behind a row need, once: the labels still owed, and where a live stream stands."""
        return self._kept.pop(n_rows)

    def load(self, n_rows: int, states: Mapping[str, bytes]) -> None:
        """Go on behind a row, where `states` were taken."""
        self._sequencer.load(states["sequencer"])
        if self.feed.live is not None:
            self.feed.live.restore(states["stream"])
        self._start = n_rows

    def committed(self, states: Mapping[str, bytes]) -> None:
        """Tell a live stream that states are safe on disk."""
        if self.feed.live is not None:
            self.feed.live.committed(states["stream"])

    def last(self, n_done: int, every: int) -> Order | None:
        """Give what is to be done after the last row: the last part of a stream has a reading, too."""
        plan = self._sequencer.at_end(n_done) if n_done else None
        if plan is None and n_done % every == 0:
            return None
        return Order([n_done], n_done, self._sequencer.counts, plan)
