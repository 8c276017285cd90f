"""Run all tutorials, or those that are named, and store what they show."""

import sys

from docs.tutorials.running import list_notebooks, read_notebook, run_notebook, write_notebook


def main(names: list[str]) -> None:
    """Run the named notebooks, or all, and write their outputs into them."""
    paths = {path.stem: path for path in list_notebooks()}
    unknown = sorted(set(names) - set(paths))
    if unknown:
        sys.exit(f"there is no tutorial {', '.join(unknown)}; choose from {', '.join(paths)}")
    for name in names or paths:
        write_notebook(run_notebook(read_notebook(paths[name])), paths[name])
        print(f"{paths[name].name}: {paths[name].stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
