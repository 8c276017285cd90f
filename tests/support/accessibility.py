"""Pages in a browser: violations of WCAG 2 (levels A and AA) by axe-core, and what makes a page scroll sideways."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "resultTypes": ["violations"]}

OVERFLOW = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
  .filter((node) => node.getBoundingClientRect().right > innerWidth && !node.parentElement.closest(".scroll"))
  .map((node) => `${node.localName}.${node.className} ends at ${node.getBoundingClientRect().right} of ${innerWidth}`)
  .concat(`the page is ${document.documentElement.scrollWidth} wide`)"""


def find_violations(page: Page) -> list[str]:
    """Return the violations on a page: the rule, the element, and what is wrong with it."""
    found: list[dict[str, Any]] = Axe().run(page, options=RULES).response["violations"]
    nodes = ((violation["id"], node) for violation in found for node in violation["nodes"])
    return [f"{rule}: {node['target']} {node['failureSummary']}" for rule, node in nodes]


def find_overflow(page: Page) -> list[str]:
    """Return the elements that make a page scroll sideways; empty if it fits its window."""
    found: list[str] = page.evaluate(OVERFLOW)
    return found
