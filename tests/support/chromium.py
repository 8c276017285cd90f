"""A headless Chromium, for the tests of pages and for the screenshots of the documentation."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["start_chromium"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")


@contextmanager
def start_chromium() -> Iterator["Browser"]:
    """Yield a headless Chromium that resolves no name; raise LookupError if none can be started."""
    from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415

    installed = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=installed, args=ARGUMENTS)
        except Error as error:
            msg = f"no Chromium can be started: install chromium, or name one in CHROMIUM ({error.message[:80]})"
            raise LookupError(msg) from None
        yield started
        started.close()
