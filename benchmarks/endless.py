"""Memory of a run that never ends: 100 million rows, and how much the process grows after the first million."""

import resource
from pathlib import Path

import streamgauge as sg

N_ROWS = 100_000_000
EVERY = 1_000_000


def resident_mib() -> float:
    """Tell the memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> None:
    """Print resident memory after 1, 10, 50 and 100 million rows."""
    run = sg.Evaluation(
        sg.SEA(noise=0.1),
        [sg.NaiveBayes(), sg.MajorityClass()],
        forgetting=[sg.Landmark(), sg.Window(1000), sg.Fading(0.999), sg.Adwin()],
        measures=["accuracy", "kappa", "kappa_m", "kappa_temporal"],
        every=EVERY,
        n_rows=N_ROWS,
    )
    first, shown = None, 0
    for reading in run:
        if reading.row == shown:
            continue
        shown = reading.row
        now = resident_mib()
        first = now if first is None else first
        if reading.row // EVERY in {1, 10, 50, 100}:
            print(f"{reading.row:>12,} rows: {now:8.1f} MiB resident, {now - first:+.1f} since the first million")
    grown = resident_mib() - (first or 0.0)
    print(f"grown by {grown:.1f} MiB; the goal is under 50 MiB: {'met' if grown < 50 else 'MISSED'}")


if __name__ == "__main__":
    main()
