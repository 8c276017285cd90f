"""Draw all pictures of the documentation, or those that are named."""

import sys
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from docs.drawing import comparing, costs, diagrams, evaluating, learning, streaming
from streamgauge.plots import Figure

PICTURES = Path(__file__).parents[1] / "pictures"
FAMILIES = (streaming, evaluating, comparing, learning, costs, diagrams)
DRAWN: dict[str, Callable[[], Figure]] = {name: getattr(family, name) for family in FAMILIES for name in family.__all__}


def smaller(path: Path) -> Path:
    """Keep 128 colours of a picture: nobody sees the difference, and it takes a third of the bytes."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(128, method=Image.Quantize.FASTOCTREE)
    few.save(path, optimize=True)
    return path


def main(names: list[str]) -> None:
    """Write the pictures with these names, or all, beside the pages."""
    unknown = sorted(set(names) - set(DRAWN))
    if unknown:
        sys.exit(f"there is no picture {', '.join(unknown)}; there are {', '.join(DRAWN)}")
    for name in names or DRAWN:
        path = smaller(DRAWN[name]().save(PICTURES / f"{name}.png", dpi=150))
        print(f"{path.relative_to(PICTURES.parents[1])}: {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
