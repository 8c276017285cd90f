"""Compilation of the Java part of the MOA adapter into the jar of the package: ``python -m peers.java``."""

import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from peers import moa

__all__ = ["FOLDER", "JAR", "SOURCE", "compile_source"]

FOLDER = Path(__file__).resolve().parents[1] / "src" / "streamgauge" / "learners" / "adapters" / "java"
SOURCE, JAR = FOLDER / "Cell.java", FOLDER / "cell.jar"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Timestamp of all files in the jar, so that the same source gives the same jar."""


def compile_source() -> bytes:
    """Compile the source for Java 11 and later; needs a JDK and MOA's jar."""
    with TemporaryDirectory() as folder:
        command = ["javac", "--release", "11", "-g:none", "-cp", str(moa.find_jar()), "-d", folder, str(SOURCE)]
        subprocess.run(command, check=True)
        return Path(folder, "streamgauge", "Cell.class").read_bytes()


def main() -> None:
    """Write the jar, with its source."""
    reason = moa.explain_missing_jdk()
    if reason is not None:
        sys.exit(reason)
    with zipfile.ZipFile(JAR, "w") as jar:
        for name, content in (("Cell.class", compile_source()), ("Cell.java", SOURCE.read_bytes())):
            jar.writestr(zipfile.ZipInfo(f"streamgauge/{name}", LONG_AGO), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
