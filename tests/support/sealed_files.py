"""Changing saved results with their checksums, so that they count as whole."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamgauge.records.checksums import compute_file_checksum, seal_json


def edit_manifest(folder: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> None:
    """Change the manifest of saved results, and list the checksums of the tables as they are now."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["checksum"]
    change(manifest)
    manifest["files"] = {name: compute_file_checksum(folder / name) for name in manifest["files"]}
    path.write_text(seal_json(manifest))
