"""Sections of the report model as JSON values, for the dashboard."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from streamgauge.reports.model import Claims, Estimate, Grid, Section, list_titled

__all__ = ["to_data"]


def to_data(sections: Sequence[Section]) -> list[dict[str, Any]]:
    """Return sections of a report as JSON values; what only a page can show is left out.

    Examples
    --------
    >>> from streamgauge.reports.model import Sentences
    >>> to_data([Section("Limitations", (Sentences("", ("One fold.",)),))])[0]["blocks"]
    [{'kind': 'sentences', 'title': 'Limitations', 'sentences': ('One fold.',)}]
    """
    return [
        {
            "kind": section.kind,
            "notes": list(section.notes),
            "blocks": [_describe_block(title, block) for title, block in list_titled(section)],
        }
        for section in sections
    ]


def _describe_block(title: str, block: Any) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(block, Claims):
        claims = [
            {"sentence": claim.sentence, "outcome": claim.outcome, "estimate": _describe_estimate(claim.estimate)}
            for claim in block.claims
        ]
        return {"kind": "claims", "title": title, "claims": claims, "n_open": block.n_open, "noun": block.noun}
    facts = {**asdict(block), "title": title}
    if isinstance(block, Grid):
        rows = [[name, [{**asdict(cell), "text": cell.whole} for cell in cells]] for name, cells in block.rows]
        return {"kind": "grid", **facts, "links": dict(block.links), "rows": rows}
    return {"kind": "sentences", **facts}


def _describe_estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    *ends, middle = estimate.bounds or (None,)
    facts = {"value": estimate.value, "interval": estimate.interval, "margin": estimate.margin}
    return {**facts, "ends": ends or None, "estimate": middle, "middle": estimate.middle, "is_clear": estimate.is_clear}
