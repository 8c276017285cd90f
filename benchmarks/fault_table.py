"""What the fault campaigns share: what must be the same after a fault, and the one table that all of them fill.

Each campaign replaces its own lines of ``benchmarks/results/faults.csv`` as it goes on; ``faults.md`` shows them all.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from streamgauge.results import Results

STORED = Path(__file__).parent / "results" / "faults.csv"
ABOUT = """# Runs that were killed and resumed

Each run is struck by faults at random moments and goes on; it is compared with one of the same rows that nobody
disturbed. Identical: readings, alarms, sums of pairs and description have the same bytes.

- Process: `python -m benchmarks faults`. Runs of 10,000 rows, two learners and up to three folds, with late or missing
  labels, three ways of forgetting and a detector, a checkpoint every 500 rows; killed (SIGKILL) up to three times each.
- Disk full, folder not writable: `python -m benchmarks disk_faults`. The same runs on a disk of their own that fills
  up, or into a folder that is closed to them at a random moment. Struck: the run ended with an error that names the
  folder and the reason. From a saved state: its last good checkpoint was whole; it went on from there.
- Ray: `python -m benchmarks ray_faults`. Runs of 40,000 rows, two learners and three folds, late labels, on a cluster
  of two nodes on one machine, states fetched every 0.1 s. An actor's process, or all processes of the node that does
  not host the driver, are killed (SIGKILL); actors also while they start.
- Broker: `python -m benchmarks broker_restarts`. Rows and labels come apart from a real broker into a process that
  writes a checkpoint every 1,000 rows. Up to three times in a run the broker is killed (SIGKILL) and started again, the
  process is killed and resumed, or both at once; the first time it is the broker. Events that were set aside are
  compared as well.

"""
HEAD = ("fault", "runs", "struck", "faults", "from a saved state", "identical")


@dataclass
class Campaign:
    """What became of the runs of one kind of fault.

    Parameters
    ----------
    kind
        What the fault is.
    n_runs
        How many runs there were.
    n_struck
        How many of them were struck before their end.
    n_faults
        How often, in all.
    n_resumed
        How many went on from a state that was saved before the fault, rather than from the first row.
    n_identical
        How many ended with the same bytes as a run that nobody disturbed.
    """

    kind: str
    n_runs: int = 0
    n_struck: int = 0
    n_faults: int = 0
    n_resumed: int = 0
    n_identical: int = 0

    @classmethod
    def stored(cls, kind: str) -> "Campaign":
        """Give a campaign as it stands in the table, to go on with it."""
        figures = next((line[1:] for line in _lines() if line[0] == kind), [])
        return cls(kind, *map(int, figures))

    def add(self, *, n_faults: int, resumed: bool, identical: bool) -> None:
        """Count a run."""
        self.n_runs += 1
        self.n_struck += n_faults > 0
        self.n_faults += n_faults
        self.n_resumed += resumed
        self.n_identical += identical

    def store(self) -> None:
        """Put it into the table, in place of an earlier campaign of its kind."""
        figures = (self.n_runs, self.n_struck, self.n_faults, self.n_resumed, self.n_identical)
        lines = {line[0]: line for line in _lines()} | {self.kind: [self.kind, *map(str, figures)]}
        with STORED.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *lines.values()])
        STORED.with_suffix(".md").write_text(ABOUT + table(), encoding="utf-8")


def _lines() -> list[list[str]]:
    """Give the lines of the table as it is stored, without its head."""
    if not STORED.exists():
        return []
    with STORED.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def table() -> str:
    """Give the table of all campaigns, with their sum."""
    lines = _lines()
    sums = [sum(int(line[column]) for line in lines) for column in range(1, len(HEAD))]
    rows = [*lines, ["in all", *map(str, sums)]]
    told = [f"| {kind} | " + " | ".join(f"{int(figure):,}" for figure in figures) + " |" for kind, *figures in rows]
    rule = "|---|" + "---:|" * (len(HEAD) - 1)
    return "\n".join(["| " + " | ".join(HEAD) + " |", rule, *told, ""])


def show(*campaigns: Campaign) -> None:
    """Print the table, and say which of some campaigns have missed their aim."""
    print(table())
    for campaign in campaigns:
        if campaign.n_identical < campaign.n_runs:
            print(f"MISSED: {campaign.n_runs - campaign.n_identical} runs of {campaign.kind!r} ended otherwise")


def bytes_of(results: Results) -> bytes:
    """Give all that must be the same."""
    description = {name: fact for name, fact in results.description.items() if name != "seconds"}
    parts = (results.rows.tobytes(), results.values.tobytes(), results.alarms, results.failures, description)
    pairs = [[np.asarray(value).tolist() for value in vars(pair).values()] for pair in results.pairs]
    return repr((parts, pairs, results.n_rows, results.complete)).encode()
