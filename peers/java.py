"""Compilation of the Java part of the MOA adapter into the jar of the package: ``python -m peers.java``."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from peers import moa

__all__ = ["FOLDER", "JAR", "SOURCES", "compile_sources"]

FOLDER = Path(__file__).resolve().parents[1] / "src" / "streamgauge" / "learners" / "adapters" / "java"
SOURCES, JAR = (FOLDER / "Cell.java", FOLDER / "Fitted.java"), FOLDER / "cell.jar"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Timestamp of all files in the jar, so that the same source gives the same jar."""


def compile_sources() -> dict[str, bytes]:
    """Compile the sources for Java 11 and later, by name of class; needs a JDK and the jars of MOA and WEKA."""
    class_path = os.pathsep.join(map(str, (moa.find_jar(), *moa.find_weka_jars())))
    with TemporaryDirectory() as folder:
        command = ["javac", "--release", "11", "-g:none", "-cp", class_path, "-d", folder, *map(str, SOURCES)]
        subprocess.run(command, check=True)
        return {source.stem: Path(folder, "streamgauge", f"{source.stem}.class").read_bytes() for source in SOURCES}


def main() -> None:
    """Write the jar, with its source."""
    reason = moa.explain_missing_jdk()
    if reason is not None:
        sys.exit(reason)
    with zipfile.ZipFile(JAR, "w") as jar:
        files = {f"{name}.class": content for name, content in compile_sources().items()}
        files |= {source.name: source.read_bytes() for source in SOURCES}
        for name, content in files.items():
            jar.writestr(zipfile.ZipInfo(f"streamgauge/{name}", LONG_AGO), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
