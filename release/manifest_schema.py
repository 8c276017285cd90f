"""Write the JSON schema of ``manifest.json`` into the documentation: ``python -m release.manifest_schema``."""

import json
from pathlib import Path

from streamgauge.results.manifest_schema import build_manifest_schema

__all__ = ["PATH", "format_schema"]

PATH = Path(__file__).resolve().parent.parent / "docs" / "manifest.schema.json"


def format_schema() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(build_manifest_schema(), indent=2) + "\n"


if __name__ == "__main__":
    PATH.write_text(format_schema(), encoding="utf-8")
