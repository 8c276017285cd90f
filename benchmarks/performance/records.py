"""Records of the sections of a folder: when, at what size and under what load each was measured."""

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["Record", "Records", "describe_machine", "get_time"]

FILE = "sections.json"


@dataclass(frozen=True)
class Record:
    """How a section was measured."""

    size: str
    at: str
    cpu_seconds: int
    """CPU seconds of the whole section, for all systems and virtual machines."""
    load: float
    """Load average of the last minute of the section."""
    without: list[str]
    """Missing systems, and why."""
    machine: str = ""


@dataclass
class Records:
    """All sections of a folder, and when the last run began."""

    begun: str = ""
    done: dict[str, Record] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """Sections that failed, and why; their older tables stay."""

    @classmethod
    def load(cls, folder: Path) -> "Records":
        """Read the records of a folder; none if there is no file."""
        path = folder / FILE
        if not path.exists():
            return cls()
        content = json.loads(path.read_text(encoding="utf-8"))
        done = {name: Record(**record) for name, record in content["done"].items()}
        return cls(content["begun"], done, content["failed"])

    def save(self, folder: Path) -> None:
        """Write the records atomically."""
        temporary = folder / f"{FILE}.part"
        temporary.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        temporary.replace(folder / FILE)

    def is_done(self, name: str, size: str) -> bool:
        """Return whether the last run has measured a section at a size."""
        record = self.done.get(name)
        return record is not None and record.size == size and record.at >= self.begun


def get_time() -> str:
    """Return the current time, in UTC."""
    return datetime.now(tz=UTC).isoformat(timespec="seconds")


def describe_machine() -> str:
    """Return the processor and the version of Python."""
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}"
