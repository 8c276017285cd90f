"""Rules of the source that no other tool checks: words, layout of the package, probes. `make lint` runs it.

Each rule is a function that yields its violations as ``file:line: text``.
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "streamgauge"

WORDS = re.compile(r"\b(told|brought|anew|so many|nobody|goes on|taken for)\b", re.IGNORECASE)
OPENERS = re.compile(r'(?:"""|^\s*//[/!] )(Gives?|Says?|Tells?|Puts?|Lets?)\b')
SUFFIXES = {".css", ".html", ".java", ".js", ".md", ".py", ".pyi", ".rs", ".toml", ".yml"}
EXEMPT = {"CHANGELOG.md", "release/rules.py", "src/streamgauge/reports/assets/uPlot.iife.min.js"}
"""The changelog quotes old names, this file quotes the words, uPlot is not ours."""

MAX_ROOT_ENTRIES = 32
FAMILIES = (
    "backends",
    "drift",
    "experiments",
    "forgetting",
    "labelling",
    "learners",
    "measures",
    "plots",
    "protocols",
    "records",
    "reports",
    "results",
    "schemes",
    "significance",
    "store",
    "streams",
)

PROBES_ALLOWED = ("_foreign.py", "learners/adapters/", "compat/")
"""Where an object may be asked what it can do: the module at the door, and the adapters to other libraries."""


def main() -> None:
    """Check all rules; end with status 1 if one is broken."""
    rules = (find_words, find_root_entries, find_repeated_files, find_repeated_classes, find_probes)
    violations = [violation for rule in rules for violation in rule()]
    print("\n".join(violations), end="\n" if violations else "")
    sys.exit(bool(violations))


def find_words() -> Iterator[str]:
    """Find words and openings of docstrings that are hard to read or to search for."""
    for name in list_files():
        path = ROOT / name
        if path.suffix not in SUFFIXES or name in EXEMPT or name.startswith("tests/data/"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = WORDS.search(line) or OPENERS.search(line)
            if match:
                yield f"{name}:{number}: '{match[1]}': use the engineer's word (see CONTRIBUTING.md)"


def list_files() -> list[str]:
    """Return the files under version control, or all files of an unpacked sdist."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in found.stdout.splitlines() if (ROOT / name).is_file()]


def find_root_entries() -> Iterator[str]:
    """Check that the package root shows few entries."""
    entries = {path.name for path in PACKAGE.iterdir()} - {"__init__.py", "__pycache__", "py.typed"}
    if len(entries) > MAX_ROOT_ENTRIES:
        yield f"src/streamgauge: {len(entries)} entries at the package root; at most {MAX_ROOT_ENTRIES}"


def find_repeated_files() -> Iterator[str]:
    """Check that no base name of a file occurs twice within a room of the package."""
    for room in sorted(path for path in PACKAGE.iterdir() if path.is_dir()):
        paths = defaultdict(list)
        for path in sorted(room.rglob("*.py")):
            paths[path.name].append(str(path.relative_to(ROOT)))
        for name, found in paths.items():
            if name != "__init__.py" and len(found) > 1:
                yield f"{found[1]}: the name is used by {found[0]}, too"


def find_repeated_classes() -> Iterator[str]:
    """Check that a public class name exists once over all families."""
    homes = defaultdict(set)
    for family in FAMILIES:
        module = import_module(f"streamgauge.{family}")
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, type):
                homes[name].add(f"{thing.__module__}.{thing.__qualname__}")
    for name, classes in homes.items():
        if len(classes) > 1:
            yield f"src/streamgauge: {name} is {' and '.join(sorted(classes))}"


def find_probes() -> Iterator[str]:
    """Find `hasattr` and `getattr` with a default outside the modules that may ask what an object can do."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(PROBES_ALLOWED):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3):
                yield f"src/streamgauge/{name}:{node.lineno}: {node.func.id} asks what an object can do"


if __name__ == "__main__":
    main()
