"""Memory of a long run: 100 million rows, and how much the process grows after the first million.

``python -m benchmarks.endless 1000000000`` runs the given number of rows and stores the result in
``benchmarks/results/endless.md``. With a second argument ``counts``, every measure of counts is taken under every
forgetting (``counts.md``), with ``everything``, every measure (``everything.md``); a window by time is left out, since
it keeps the rows of its time.
"""

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import streamgauge as sg
from streamgauge.forgetting import EWMA, Tumbling
from streamgauge.measures import MEASURES, list_statistics, measure
from streamgauge.protocols import Forgetting

N_ROWS = 100_000_000
EVERY = 1_000_000
STORED = Path(__file__).parent / "results"
USUAL: tuple[Forgetting, ...] = (sg.Window(1000), sg.Fading(0.999), sg.AdwinWindow())
EVERY_FORGETTING: tuple[Forgetting, ...] = (sg.Landmark(), Tumbling(1000), EWMA(0.01), *USUAL)
COUNTS = [name for name in MEASURES if not list_statistics([measure(name)])]
MODES: dict[str, tuple[tuple[Forgetting, ...], list[str], str]] = {
    "endless": (
        USUAL,
        ["accuracy", "kappa", "kappa_m", "kappa_temporal"],
        "four measures over a window, with fading and over an ADWIN window",
    ),
    "counts": (
        EVERY_FORGETTING,
        COUNTS,
        f"all {len(COUNTS)} measures of counts under {len(EVERY_FORGETTING)} forgettings",
    ),
    "everything": (
        EVERY_FORGETTING,
        list(MEASURES),
        f"all {len(MEASURES)} measures under {len(EVERY_FORGETTING)} forgettings",
    ),
}
"""For each name of a result: forgettings, measures, and both in words."""
GOAL = 50


def measure_memory(process: int | str = "self") -> float:
    """Return the resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def run(n_rows: int, mode: str = "endless") -> Iterator[tuple[int, float]]:
    """Run two learners under several forgettings; yield the number of rows and the memory after every million rows."""
    forgettings, measures, _ = MODES[mode]
    evaluation = sg.Evaluation(
        sg.SEA(noise=0.1),
        [sg.NaiveBayes(), sg.MajorityClass()],
        forgetting=list(forgettings),
        measures=measures,
        every=EVERY,
        n_rows=n_rows,
    )
    last = 0
    for reading in evaluation:
        if reading.row > last:
            last = reading.row
            yield last, measure_memory()


def main(n_rows: int = N_ROWS, mode: str = "endless", *, stored: bool = False) -> None:
    """Print resident memory after 1, 2, 5, 10, ... million rows, and whether it stays flat."""
    shown = {power * step * EVERY for power in (1, 10, 100, 1000) for step in (1, 2, 5)} | {n_rows}
    lines, memory, cpu = [], [], time.process_time()
    for row, now in run(n_rows, mode):
        memory.append(now)
        if row in shown:
            lines.append(f"| {row:,} | {now:.1f} | {now - memory[0]:+.1f} |")
            print(f"{row:>14,} rows: {now:8.1f} MiB resident, {now - memory[0]:+.1f} since the first million")
    cpu = time.process_time() - cpu
    grown = max(memory) - memory[0]
    verdict = "met" if grown < GOAL else "MISSED"
    print(f"growth: at most {grown:.1f} MiB (goal: under {GOAL} MiB, {verdict}); {cpu:.0f} s of CPU time")
    if stored:
        command = f"python -m benchmarks.endless {n_rows}" + ("" if mode == "endless" else f" {mode}")
        head = (
            f"# A run of {n_rows:,} rows\n\n`{command}`: SEA with a tenth of the labels flipped, NaiveBayes and\n"
            f"MajorityClass, {MODES[mode][2]}, taken after every million rows.\n\n"
            "| rows | MiB resident | since the first million |\n|---:|---:|---:|\n"
        )
        tail = f"\nGrowth: at most {grown:.1f} MiB (goal: under {GOAL} MiB, {verdict}); {cpu:.0f} s of CPU time.\n"
        STORED.mkdir(exist_ok=True)
        (STORED / f"{mode}.md").write_text(head + "\n".join(lines) + "\n" + tail, encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:3], stored=True) if len(sys.argv) > 1 else main()
