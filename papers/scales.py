"""Every claim at every scale: one table, made from the pages of the folders `quick` and `paper`.

Run with ``python -m papers.scales docs/reproduction``.
"""

import re
import sys
from pathlib import Path

from papers.catalogue import REPRODUCTIONS
from papers.findings import Entry, Table
from streamgauge.streams.output_files import replace_atomically

__all__ = ["build_claims", "write_claims"]

SCALES = ("quick", "paper")
CLAIM = re.compile(r"^- (NOT seen|seen) at (?:quick|paper) scale: (.*)$", re.MULTILINE)
OURS = re.compile(r"(?:; here .*| \(here [^)]*\)|,? ?\(up to [^)]*\))")
"""What a claim says of our values, which differ between scales."""
NOT_RUN = "not run"


def _read_claims(page: Path) -> list[tuple[str, str]]:
    """Return whether each claim of a page was seen, and the claim without our values; none if there is no page."""
    if not page.is_file():
        return []
    found = CLAIM.findall(page.read_text(encoding="utf-8"))
    return [(OURS.sub("", text), seen) for seen, text in found]


def build_claims(folder: Path) -> str:
    """Return the page with all claims, and whether each was seen at each scale, from the pages in two folders."""
    rows: list[tuple[Entry, ...]] = []
    for name in REPRODUCTIONS:
        by_scale = [_read_claims(folder / scale / f"{name}.md") for scale in SCALES]
        for index in range(max(map(len, by_scale))):
            known = [claims[index] if index < len(claims) else ("", NOT_RUN) for claims in by_scale]
            text = next(text for text, seen in known if seen != NOT_RUN)
            cells = [
                seen if seen == NOT_RUN else f"[{seen}]({scale}/{name}.md)"
                for scale, (_, seen) in zip(SCALES, known, strict=True)
            ]
            rows.append((name, text, *cells))
    table = Table("claims", ("reproduction", "claim", *(f"at {scale} scale" for scale in SCALES)), tuple(rows))
    return f"# Claims by scale\n\n{table.markdown}\n"


def write_claims(folder: Path) -> Path:
    """Write the page with all claims into the folder that holds the folders of the scales."""
    path = folder / "claims.md"
    with replace_atomically(path) as temporary:
        temporary.write_text(build_claims(folder), encoding="utf-8")
    return path


if __name__ == "__main__":
    write_claims(Path(sys.argv[1]))
