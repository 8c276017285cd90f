"""The screenshots of the documentation show the pages of today: `make pictures` takes them again."""

import pytest

pytest.importorskip("PIL", reason="Pillow is not installed")
pytest.importorskip("river", reason="River is not installed")
pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("playwright", reason="Playwright, which drives a browser, is not installed")

from playwright.sync_api import Browser

from docs.drawing.__main__ import SHOOTERS
from docs.drawing.record import read_record


@pytest.mark.parametrize("name", SHOOTERS)
def test_a_screenshot_is_not_stale(browser: Browser, name: str) -> None:
    recorded = read_record()[name]
    shot = SHOOTERS[name](browser)
    stale = f"docs/pictures/{name}.png is stale: run `python -m docs.drawing {name}` and look at it"
    assert shot.shown["answers"] == recorded["answers"], stale
    words, n = recorded["words"], len(recorded["words"])
    assert n > 10
    if not any(shot.words[start : start + n] == words for start in range(len(shot.words) - n + 1)):
        assert shot.words == words, stale  # which shows where they part
