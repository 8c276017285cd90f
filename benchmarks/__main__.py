"""Run all benchmarks, or those named: ``python -m benchmarks [NAME ...]``."""

import sys
from importlib import import_module
from pkgutil import iter_modules

import benchmarks


def main() -> None:
    """Run the named benchmarks, or all of them."""
    modules = {module.name for module in iter_modules(benchmarks.__path__) if not module.ispkg}
    parts = {name for name in modules if name.startswith("fuzz_")} - {"fuzz_events"}
    known = sorted(modules - {"fault_table", "turns", "written_files", "__main__", *parts})
    wanted = sys.argv[1:] or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"there is no benchmark {unknown[0]!r}; there are {', '.join(known)}")
    for name in wanted:
        print(f"\n== {name}")
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
