"""Make all pictures of the documentation, or those that are named, and record what they show."""

import sys
from collections.abc import Callable, Collection
from contextlib import ExitStack
from pathlib import Path

from PIL import Image

from docs.drawing import comparisons, costs, diagrams, evaluation, figures, learners, screens, streams, verdicts
from docs.drawing.record import PICTURES, Shown, describe_figure, write_record
from streamgauge.plots import Figure
from tests.support.chromium import start_chromium

MODULES = (streams, evaluation, comparisons, verdicts, learners, costs, diagrams, figures)
DRAWERS: dict[str, Callable[[], Figure]] = {
    name.removeprefix("draw_"): getattr(module, name) for module in MODULES for name in module.__all__
}
"""The functions that draw pictures, by the name of the picture."""

SHOOTERS: dict[str, Callable[..., screens.Shot]] = {
    name.removeprefix("shoot_"): getattr(screens, name) for name in screens.__all__ if name.startswith("shoot_")
}
"""The functions that take screenshots."""

MEASURED = ("cluster", "command_line", "libraries")
"""Drawn pictures with times, which differ on every machine."""


def reduce_colours(path: Path) -> None:
    """Reduce a picture to 128 colours, or fewer if it is large: it looks the same and takes a third of the bytes."""
    with Image.open(path) as picture:
        full = picture.convert("RGB")
    for n_colours in (128, 64, 32):
        full.quantize(n_colours, method=Image.Quantize.FASTOCTREE).save(path, optimize=True)
        if path.stat().st_size <= 100 * 1024:
            break
    print(f"{path.relative_to(PICTURES.parents[1])}: {path.stat().st_size / 1024:.0f} KB", flush=True)


def describe_drawn(name: str, figure: Figure) -> Shown:
    """Return what a drawn picture shows."""
    return describe_figure(figure, is_measured=name in MEASURED)


def make(names: Collection[str]) -> list[str]:
    """Write the named pictures and record what they show; return those that cannot be made here, and why."""
    missing = []
    for name in filter(DRAWERS.__contains__, names):
        try:
            figure = DRAWERS[name]()
        except ImportError as error:
            missing.append(f"{name}: {error}")
            continue
        reduce_colours(figure.save(PICTURES / f"{name}.png", dpi=150))
        write_record({name: describe_drawn(name, figure)})
    shooters = [name for name in names if name in SHOOTERS]
    with ExitStack() as stack:
        try:
            browser = stack.enter_context(start_chromium()) if shooters else None
        except (ImportError, LookupError) as error:
            return [*missing, *(f"{name}: {error}" for name in shooters)]
        for name in shooters:
            shot, path = SHOOTERS[name](browser), PICTURES / f"{name}.png"
            path.write_bytes(shot.picture)
            reduce_colours(path)
            write_record({name: shot.shown})
    return missing


def main(names: list[str]) -> None:
    """Write the named pictures, or all, to `docs/pictures`."""
    everything = [*DRAWERS, *SHOOTERS]
    unknown = sorted(set(names) - set(everything))
    if unknown:
        sys.exit(f"there is no picture {', '.join(unknown)}; choose from {', '.join(everything)}")
    if missing := make(names or everything):
        sys.exit("\n".join(["not made, since something is not installed:", *missing]))


if __name__ == "__main__":
    main(sys.argv[1:])
