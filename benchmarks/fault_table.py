"""The table of all fault campaigns, and the comparison of results after a fault.

Each campaign updates its own line of ``benchmarks/results/faults.csv`` after every run; ``faults.md`` shows them all.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from streamgauge.results import Results

STORED = Path(__file__).parent / "results" / "faults.csv"
ABOUT = """# Runs that were killed and resumed

Each run is hit by faults at random moments and resumes; it is compared with an undisturbed run on the same rows.
Identical, where nothing else is said: readings, alarms, sums of pairs and description have the same bytes.

- Commands: `python -m benchmarks kills`. Every command that writes files, or reads them for long; runs of 4,000 to
  5,000 rows, with all recorders and a checkpoint every 500 rows where the line says nothing else. Killed (SIGKILL) up
  to four times each, half of them at a random moment, half before a random operation on files; where a command has
  processes of its own, some kills hit one of those, or all at once. Then the same command runs to its end. Identical:
  all files, those of recorders, the journal and the store included, hold what they hold without kills, times and costs
  apart, and nothing is left behind: no temporary file, no shared memory, no lock, no claim and no process.
- Disk full, folder not writable: `python -m benchmarks disk_faults`. Runs of 10,000 rows on a separate disk that
  fills up, or with a folder that becomes read-only at a random moment. Hit: the run ended with an error that names the
  folder and the reason. From a saved state: its last good checkpoint was intact, and the run resumed from it.
- Ray: `python -m benchmarks ray_faults`. Runs of 40,000 rows, two learners and three folds, late labels, on a cluster
  of two nodes on one machine, states fetched every 0.1 s. An actor's process, or all processes of the node that does
  not host the driver, are killed (SIGKILL); actors also while they start.
- Clock set: `python -m benchmarks clock_jumps`. The clock jumps back or ahead at random calls, by up to ten years, and
  with it the times of files. Also compared: the states that the dashboard shows, durations, the order of a store.
- Broker: `python -m benchmarks broker_restarts`. Rows and labels come separately from a real broker into a process that
  writes a checkpoint every 1,000 rows. Up to three times per run the broker is killed (SIGKILL) and restarted, the
  process is killed and resumed, or both at once; the first fault always hits the broker. Dead letters, late labels
  and labels without a row included, are compared as well.

"""
HEAD = ("fault", "runs", "hit", "faults", "from a saved state", "identical")


@dataclass
class Campaign:
    """Counts of the runs with one kind of fault.

    Parameters
    ----------
    kind
        The fault.
    n_runs
        Number of runs.
    n_hit
        Runs that were hit before their end.
    n_faults
        Faults of all runs.
    n_resumed
        Runs that resumed from a state saved before the fault, not from the first row.
    n_identical
        Runs that ended with the same bytes as an undisturbed run.
    """

    kind: str
    n_runs: int = 0
    n_hit: int = 0
    n_faults: int = 0
    n_resumed: int = 0
    n_identical: int = 0

    @classmethod
    def start(cls, kind: str, *, more: bool = False) -> "Campaign":
        """Start a campaign, or continue the stored one."""
        counts = next((line[1:] for line in _read_lines() if line[0] == kind), []) if more else []
        return cls(kind, *map(int, counts))

    def add(self, *, n_faults: int, resumed: bool, identical: bool) -> None:
        """Count a run."""
        self.n_runs += 1
        self.n_hit += n_faults > 0
        self.n_faults += n_faults
        self.n_resumed += resumed
        self.n_identical += identical

    def store(self) -> None:
        """Write it to the table, in place of an earlier campaign of its kind."""
        counts = (self.n_runs, self.n_hit, self.n_faults, self.n_resumed, self.n_identical)
        lines = {line[0]: line for line in _read_lines()} | {self.kind: [self.kind, *map(str, counts)]}
        with STORED.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *lines.values()])
        STORED.with_suffix(".md").write_text(ABOUT + build_table(), encoding="utf-8")


def _read_lines() -> list[list[str]]:
    """Return the lines of the stored table, without its head."""
    if not STORED.exists():
        return []
    with STORED.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def build_table() -> str:
    """Return the table of all campaigns, with their sum."""
    lines = _read_lines()
    sums = [sum(int(line[column]) for line in lines) for column in range(1, len(HEAD))]
    rows = [*lines, ["total", *map(str, sums)]]
    texts = [f"| {kind} | " + " | ".join(f"{int(count):,}" for count in counts) + " |" for kind, *counts in rows]
    rule = "|---|" + "---:|" * (len(HEAD) - 1)
    return "\n".join(["| " + " | ".join(HEAD) + " |", rule, *texts, ""])


def show(*campaigns: Campaign) -> None:
    """Print the table, and which of the given campaigns have runs with different results."""
    print(build_table())
    for campaign in campaigns:
        if campaign.n_identical < campaign.n_runs:
            n_different = campaign.n_runs - campaign.n_identical
            print(f"MISSED: {n_different} runs of {campaign.kind!r} ended with different results")


def count_saved_rows(folder: Path) -> int:
    """Return the number of rows of the newest checkpoint in a folder or below."""
    return max((int(path.stem[5:]) for path in folder.rglob("*.checkpoint")), default=0)


def serialise(results: Results) -> bytes:
    """Return everything that must be identical, as bytes."""
    # The call says whether the run was resumed.
    description = {name: fact for name, fact in results.description.items() if name not in ("seconds", "call")}
    parts = (results.rows.tobytes(), results.values.tobytes(), results.alarms, results.failures, description)
    pairs = [[np.asarray(value).tolist() for value in vars(pair).values()] for pair in results.pairs]
    return repr((parts, pairs, results.n_rows, results.complete)).encode()
