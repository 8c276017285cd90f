"""Half a million damaged inputs over all readers: each is refused by name, or read as an independent reader reads it.

``python -m benchmarks.fuzzing [N] [SEED] [more] [READER ...]``: N inputs in all, or for the named readers their share
of N; ``more`` adds to the stored counts. Files are mutated bytes, or structures changed where it hurts with checksums
that are right; requests, events and texts are treated alike. Every input has a seed of its own. Inputs are read in
processes of their own, so that a crash and an endless loop are seen. Tried and failed by reader are stored in
``benchmarks/results/fuzzing.md``; inputs that were treated wrongly are printed, to be made again from their seed.
"""

import csv
import mmap
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["OUTCOMES", "Misread", "Reader", "Try", "fuzz", "naming", "per_input"]

Try = Callable[[Random], bool | None]
"""Makes an input and reads it; returns whether an independent reader found the same, None without one."""

N_INPUTS = 500_000
BATCH = 500
"""Inputs read by one process."""
SECONDS = 5.0
"""The most seconds of CPU that an input may take; a process that is silent for six times as long is killed."""
MEGABYTES = 512
"""The most memory by which an input may let a process grow."""
STORED = Path(__file__).parent / "results" / "fuzzing.csv"
OUTCOMES = ("refused", "read alike", "read", "misread", "raw exception", "too slow", "memory", "crash")
N_SOUND = 3
ABOUT = """# Fuzzed readers

Damaged inputs of every kind that is read (`python -m benchmarks.fuzzing N SEED`): mutated bytes, or structures changed
where it hurts, with checksums that are right. Each was refused (an error of one line names the input), read alike (an
independent reader found the same), or read (the independent reader refuses it, or there is none). Failed: misread, a
raw exception, a crash, more than 5 seconds of CPU or 30 on the clock, or more than 512 MB.

"""


class Misread(AssertionError):  # noqa: N818  (the name of an outcome)
    """An input was read differently from what it holds."""


@dataclass(frozen=True)
class Reader:
    """A reader that is tried.

    Parameters
    ----------
    name
        Its name in the table.
    share
        Its share of the inputs.
    open
        Returns a context with a function that makes an input, reads it, and returns whether an independent reader
        found the same (None if it refused, or there is none). It raises `Misread` if that found something else.
    beside
        The independent reader.
    """

    name: str
    share: float
    open: Callable[[Path], AbstractContextManager[Try]]
    beside: str = ""


def per_input(read: Try) -> Callable[[Path], AbstractContextManager[Try]]:
    """Return the `open` of a reader that needs no preparation."""
    return lambda _: nullcontext(read)


@contextmanager
def naming(name: str) -> "Iterator[None]":
    """Fail if an input is refused without its name."""
    try:
        yield
    except StreamgaugeError as error:
        if name not in str(error):
            msg = f"{name} is not named: {error}"
            raise AssertionError(msg) from error
        raise


def judge(read: Try, random: Random) -> str:
    """Return the outcome of making and reading an input."""
    try:
        alike = read(random)
    except StreamgaugeError as error:
        if len(str(error).splitlines()) == 1:
            return "refused"
        traceback.print_exc()
        return "raw exception"
    except Misread:
        traceback.print_exc()
        return "misread"
    except Exception:
        traceback.print_exc()
        return "raw exception"
    return "read alike" if alike else "read"


def _read_batch(reader: Reader, numbers: range, seed: int, board: mmap.mmap) -> None:
    """Read some inputs; note on the board which one, when it began, and the outcome of each."""
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder, reader.open(Path(folder)) as read:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for place, number in enumerate(numbers):
            started = time.process_time()
            board[:8] = round(time.monotonic() * 1000).to_bytes(8, "little")
            outcome = judge(read, Random(f"{reader.name} {seed} {number}"))
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if time.process_time() - started > SECONDS:
                outcome = "too slow"
            elif grown - before > 1024 * MEGABYTES:
                outcome = "memory"
            before = grown
            if outcome in OUTCOMES[N_SOUND:]:
                print(f"{reader.name}, input {number} of seed {seed}: {outcome}", file=sys.stderr, flush=True)
            board[8 + place] = OUTCOMES.index(outcome) + 1


def _watch(process: int, board: mmap.mmap) -> bool:
    """Wait for a process; return whether it had to be killed because an input took too long."""
    while not os.waitpid(process, os.WNOHANG)[0]:
        time.sleep(0.01)
        began = int.from_bytes(board[:8], "little") / 1000
        if began and time.monotonic() - began > 6 * SECONDS:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return True
    return False


def fuzz(reader: Reader, n: int, seed: int, start: int = 0) -> Counter[str]:
    """Read `n` inputs in processes of their own; return the number of each outcome."""
    counts: Counter[str] = Counter()
    number, end = start, start + n
    while number < end:
        numbers = range(number, min(end, number + BATCH))
        with mmap.mmap(-1, 8 + len(numbers)) as board:
            process = os.fork()
            if process == 0:
                status = 1
                try:
                    _read_batch(reader, numbers, seed, board)
                    status = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(status)
            is_slow = _watch(process, board)
            outcomes = [OUTCOMES[code - 1] for code in board[8:] if code]
        counts.update(outcomes)
        number += len(outcomes)
        if len(outcomes) < len(numbers):
            outcome = "too slow" if is_slow else "crash"
            print(f"{reader.name}, input {number} of seed {seed}: {outcome}", file=sys.stderr, flush=True)
            counts[outcome] += 1
            number += 1
    return counts


def list_readers() -> list[Reader]:
    """Return all readers."""
    from benchmarks import fuzz_events, fuzz_files, fuzz_records, fuzz_services, fuzz_tables, fuzz_texts  # noqa: PLC0415

    modules = (fuzz_files, fuzz_tables, fuzz_texts, fuzz_records, fuzz_events, fuzz_services)
    return [reader for module in modules for reader in module.READERS]


def build_table(counts: dict[str, Counter[str]], beside: dict[str, str]) -> str:
    """Return a table of tried and failed by reader."""
    head = ("reader", "beside", "tried", *OUTCOMES[:N_SOUND], "failed")
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "---:|" * (len(head) - 2)]
    for name, found in (*counts.items(), ("total", sum(counts.values(), Counter[str]()))):
        sound = [found[outcome] for outcome in OUTCOMES[:N_SOUND]]
        numbers = (found.total(), *sound, found.total() - sum(sound))
        lines.append(f"| {name} | {beside.get(name, '')} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    return "\n".join([*lines, ""])


@contextmanager
def _open_counts() -> "Iterator[dict[str, Counter[str]]]":
    """Yield the stored counts; they are written when the block ends."""
    counts: dict[str, Counter[str]] = {}
    if STORED.exists():
        with STORED.open(encoding="utf-8", newline="") as file:
            for name, outcome, count in list(csv.reader(file))[1:]:
                counts.setdefault(name, Counter())[outcome] = int(count)
    yield counts
    lines = [
        (name, outcome, found[outcome]) for name, found in counts.items() for outcome in OUTCOMES if found[outcome]
    ]
    with STORED.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("reader", "outcome", "inputs"), *lines])


def store(name: str, found: Counter[str], readers: list[Reader], *, more: bool) -> str:
    """Store the counts of a reader, in place of earlier ones or added to them; return the table."""
    known = {reader.name: reader.beside for reader in readers}
    with _open_counts() as counts:
        counts[name] = counts.get(name, Counter()) + found if more else found
        for other in [other for other in counts if other not in known]:
            del counts[other]
        table = build_table({each: counts[each] for each in known if each in counts}, known)
    STORED.with_suffix(".md").write_text(ABOUT + table, encoding="utf-8")
    return table


def main(n: int = N_INPUTS, seed: int = 1, *names: str) -> None:
    """Fuzz all readers, or those named; print the table and store it."""
    readers = list_readers()
    more, names = "more" in names, tuple(name for name in names if name != "more")
    unknown = [name for name in names if name not in {reader.name for reader in readers}]
    if unknown:
        sys.exit(f"there is no reader {unknown[0]!r}; there are {', '.join(reader.name for reader in readers)}")
    shares, table, failed = sum(reader.share for reader in readers), "", False
    for reader in readers:
        if names and reader.name not in names:
            continue
        started, found = time.monotonic(), fuzz(reader, round(n * reader.share / shares), seed)
        table = store(reader.name, found, readers, more=more)
        problems = {outcome: found[outcome] for outcome in OUTCOMES[N_SOUND:] if found[outcome]}
        failed |= bool(problems)
        print(
            f"{reader.name}: {found.total():,} in {time.monotonic() - started:.0f} s, {problems or 'none failed'}",
            flush=True,
        )
    print(table)
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    # The readers raise the `Misread` of the imported module, not that of this one.
    with suppress(KeyboardInterrupt):
        import_module("benchmarks.fuzzing").main(*map(int, sys.argv[1:3]), *sys.argv[3:])
