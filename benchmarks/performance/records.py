"""What is known of each section of a folder: when, at what size and on how busy a machine it was measured."""

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["Record", "Records", "now"]

FILE = "sections.json"


@dataclass(frozen=True)
class Record:
    """How a section was measured."""

    size: str
    at: str
    cpu_seconds: int
    """Of the whole section, all systems and virtual machines together."""
    load: float
    """How many processes wanted to run on the machine, on average over the last minute of the section."""
    without: list[str]
    """Systems that could not be had, and why."""


@dataclass
class Records:
    """All sections of a folder, and when the last run began."""

    begun: str = ""
    done: dict[str, Record] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """Sections that could not be measured, and why; an older table of them stays."""

    @classmethod
    def load(cls, folder: Path) -> "Records":
        """Read what a folder tells; nothing where it tells nothing."""
        path = folder / FILE
        if not path.exists():
            return cls()
        told = json.loads(path.read_text(encoding="utf-8"))
        return cls(told["begun"], {name: Record(**each) for name, each in told["done"].items()}, told["failed"])

    def save(self, folder: Path) -> None:
        """Write it; the file appears whole or not at all."""
        whole = folder / f"{FILE}.part"
        whole.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        whole.replace(folder / FILE)

    def is_done(self, name: str, size: str) -> bool:
        """Tell whether the last run has measured a section at a size."""
        record = self.done.get(name)
        return record is not None and record.size == size and record.at >= self.begun


def now() -> str:
    """Give the time, in UTC."""
    return datetime.now(tz=UTC).isoformat(timespec="seconds")
