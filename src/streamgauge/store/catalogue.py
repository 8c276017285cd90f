"""The catalogue of a store: an SQLite file in WAL mode, which many processes can use at once."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamgauge.errors import StreamgaugeError
from streamgauge.records.locks import lock_folder

__all__ = ["connect", "create", "write"]

FORMAT = 1

TABLES = """
create table runs (
  run text primary key,      -- the folder is runs/run=RUN
  experiment text not null,
  condition text not null,   -- equal for runs whose learners can be compared
  stream text not null, fingerprint text not null, scheme text not null, labelling text not null, score text not null,
  seed integer not null, rows integer, every integer, time_budget real,
  test_balance real, labelled real, sample text not null,  -- how a sample was drawn; empty for other streams
  asked text not null,       -- measures, forgettings and so on, as JSON
  n_rows integer, n_folds integer, seconds real,
  status text not null,      -- finished or failed
  error text not null,
  version text not null, host text not null, finished_at text not null
) strict;
create table cells (
  run text not null references runs on delete cascade,
  learner text not null, spec text not null, status text not null, error text not null,
  primary key (run, learner)
) strict;
create table finals (        -- the last readings: mean and standard deviation over the folds
  run text not null, learner text not null, measure text not null, forgetting text not null,
  mean real, spread real, greater_is_better integer not null,
  primary key (run, learner, measure, forgetting),
  foreign key (run, learner) references cells on delete cascade
) strict;
create table claims (        -- evaluations in progress
  cell text primary key, run text not null, label text not null,
  host text not null, pid integer not null, born integer not null, last_sign real not null,
  n_rows integer not null
) strict, without rowid;
create index runs_of_condition on runs (condition);
"""


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
                    catalogue.execute(f"pragma user_version = {FORMAT}")
            temporary.replace(path)
    except OSError as error:
        msg = f"cannot create a store in {path.parent}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """Connect to the catalogue for the length of a block; errors name its path."""
    if not path.is_file():
        msg = f"{path.parent} is not a store of results: it has no {path.name}"
        raise StreamgaugeError(msg)
    with _open(path) as catalogue:
        version = catalogue.execute("pragma user_version").fetchone()[0]
        if version != FORMAT:
            msg = f"{path} has format {version}, but this version of streamgauge reads format {FORMAT}"
            raise StreamgaugeError(msg)
        yield catalogue


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        catalogue = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        try:
            catalogue.row_factory = sqlite3.Row
            catalogue.execute("pragma foreign_keys = on")
            yield catalogue
        finally:
            catalogue.close()
    except sqlite3.Error as error:
        msg = f"{path}: {error}"
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
