"""The catalogue of a store: an SQLite file in WAL mode, which many processes can use at once.

Every row of a run has a checksum of its values, and ``totals`` has the number of rows and the sum of their checksums,
so that a row that is damaged or lost is noticed when it is read.
"""

import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

from streamgauge._format.text import count
from streamgauge.errors import DamageWarning, StreamgaugeError
from streamgauge.records.locks import lock_folder

__all__ = ["connect", "create", "read_table", "replace_run", "write"]

FORMAT = 2

TABLES = """
create table runs (
  run text primary key,      -- the folder is runs/run=RUN
  experiment text not null,
  condition text not null,   -- equal for runs whose learners can be compared
  stream text not null, fingerprint text not null, scheme text not null, labelling text not null, score text not null,
  seed integer not null, rows integer, every integer, time_budget real,
  test_balance real, labelled real,  -- of a sample
  manifest text not null,    -- what was run, as in its folder; empty if it failed
  n_rows integer, n_folds integer, seconds real,
  status text not null,      -- finished or failed
  error text not null,
  host text not null, finished_at text not null, checksum integer
) strict;
create table cells (
  run text not null references runs on delete cascade,
  learner text not null, spec text not null, status text not null, error text not null,
  checksum integer,
  primary key (run, learner)
) strict;
create table finals (        -- the last readings: mean and standard deviation over the folds
  run text not null, learner text not null, measure text not null, forgetting text not null,
  mean real, spread real, greater_is_better integer not null, checksum integer,
  primary key (run, learner, measure, forgetting),
  foreign key (run, learner) references cells on delete cascade
) strict;
create table totals (name text primary key, n integer not null, checksum integer not null) strict, without rowid;
create table claims (        -- evaluations in progress
  cell text primary key, run text not null, label text not null,
  host text not null, pid integer not null, born integer not null, last_sign real not null,
  n_rows integer not null
) strict, without rowid;
create index runs_of_condition on runs (condition);
"""

COLUMNS = {
    "runs": (
        *("run", "experiment", "condition", "stream", "fingerprint", "scheme", "labelling", "score", "seed", "rows"),
        *("every", "time_budget", "test_balance", "labelled", "manifest", "n_rows", "n_folds", "seconds"),
        *("status", "error", "host", "finished_at"),
    ),
    "cells": ("run", "learner", "spec", "status", "error"),
    "finals": ("run", "learner", "measure", "forgetting", "mean", "spread", "greater_is_better"),
}
"""The tables whose rows have checksums, and what these are of."""


def create(path: Path) -> None:
    """Create the catalogue if it is missing. It appears atomically, and once if two processes create it."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with lock_folder(path.parent, "catalogue", patience=60.0):
            if path.is_file():
                return
            for left in path.parent.glob(f"{temporary.name}*"):  # of a process that was killed
                left.unlink()
            with _open(temporary) as catalogue:
                catalogue.execute("pragma journal_mode = wal")
                with write(catalogue):
                    for statement in TABLES.split(";\n"):
                        catalogue.execute(statement)
                    catalogue.executemany("insert into totals values (?, 0, 0)", [(name,) for name in COLUMNS])
                    catalogue.execute(f"pragma user_version = {FORMAT}")
            temporary.replace(path)
    except OSError as error:
        msg = f"cannot create a store in {path.parent}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None


@contextmanager
def connect(path: Path, *, read_only: bool = False) -> Iterator[sqlite3.Connection]:
    """Connect to the catalogue for the length of a block; errors name its path."""
    if not path.is_file():
        msg = f"{path.parent} is not a store of results: it has no {path.name}"
        raise StreamgaugeError(msg)
    with _open(path, read_only=read_only) as catalogue:
        version = catalogue.execute("pragma user_version").fetchone()[0]
        if version != FORMAT:
            msg = f"{path} has format {version}, but this version of streamgauge reads format {FORMAT}"
            raise StreamgaugeError(msg)
        yield catalogue


@contextmanager
def _open(path: Path, *, read_only: bool = False) -> Iterator[sqlite3.Connection]:
    address = path.resolve().as_uri() + ("?mode=ro" if read_only else "")
    try:
        catalogue = sqlite3.connect(address, uri=True, timeout=1.0 if read_only else 60.0, isolation_level=None)
        try:
            catalogue.create_function("checksum", -1, _compute_checksum, deterministic=True)
            catalogue.row_factory = sqlite3.Row
            catalogue.execute("pragma foreign_keys = on")
            yield catalogue
        finally:
            catalogue.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the second in the schema or an error of a damaged file
        first_line = next(iter(str(error).splitlines()), "it is damaged")  # the second may be the rest of the schema
        msg = f"{path}: {first_line}"
        raise StreamgaugeError(msg) from error


@contextmanager
def write(catalogue: sqlite3.Connection) -> Iterator[None]:
    """Run a block as one exclusive transaction."""
    catalogue.execute("begin immediate")
    try:
        yield
    except BaseException:
        catalogue.rollback()
        raise
    catalogue.commit()


def read_table(
    catalogue: sqlite3.Connection, name: str, condition: str = "", values: Sequence[object] = ()
) -> list[dict[str, Any]]:
    """Return the rows of a table in the order of their entry, or those that fulfil a condition.

    Rows that are damaged are left out, with a `DamageWarning`; so are missing ones, if all are read.
    """
    columns = COLUMNS[name]
    rows = catalogue.execute(f"select {', '.join(columns)}, checksum from {name} {condition} order by rowid", values)
    whole, found = [], []
    for *facts, checksum in rows:
        found.append(checksum)
        if checksum == _compute_checksum(*facts):
            whole.append(dict(zip(columns, facts, strict=True)))
    path = catalogue.execute("pragma database_list").fetchone()["file"]
    if len(whole) < len(found):
        damaged = count(len(found) - len(whole), "row")
        warnings.warn(f"{path} is damaged: {damaged} of the table {name} left out", DamageWarning, stacklevel=3)
    elif not condition and (len(found), sum(found)) != _read_total(catalogue, name):
        warnings.warn(f"{path} is damaged: rows of the table {name} are missing", DamageWarning, stacklevel=3)
    return whole


def _read_total(catalogue: sqlite3.Connection, name: str) -> tuple[int, int] | None:
    row = catalogue.execute("select n, checksum from totals where name = ?", (name,)).fetchone()
    return None if row is None else tuple(row)


@contextmanager
def replace_run(catalogue: sqlite3.Connection, run: str) -> Iterator[None]:
    """Remove the rows of a run, and give those that the block enters in their place checksums."""
    before = [_sum_checksums(catalogue, name, run) for name in COLUMNS]
    catalogue.execute("delete from runs where run = ?", (run,))
    yield
    for (name, columns), (n_before, sum_before) in zip(COLUMNS.items(), before, strict=True):
        catalogue.execute(f"update {name} set checksum = checksum({', '.join(columns)}) where run = ?", (run,))
        n, total = _sum_checksums(catalogue, name, run)
        change = (n - n_before, total - sum_before, name)
        catalogue.execute("update totals set n = n + ?, checksum = checksum + ? where name = ?", change)


def _sum_checksums(catalogue: sqlite3.Connection, name: str, run: str) -> tuple[int, int]:
    row = catalogue.execute(f"select count(*), coalesce(sum(checksum), 0) from {name} where run = ?", (run,)).fetchone()
    return tuple(row)


def _compute_checksum(*values: object) -> int:
    return crc32(repr(values).encode(errors="surrogatepass"))
