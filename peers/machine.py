"""One Java virtual machine that runs program after program, for those who need many short runs."""

import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO

__all__ = ["Machine"]


class Machine:
    """A Java virtual machine to which programs are sent; each runs in classes loaded for it alone.

    Parameters
    ----------
    jar
        What the programs need.
    sources
        The programs, one of which is Machine.java. They are compiled once.
    """

    def __init__(self, jar: Path, sources: Sequence[Path]) -> None:
        self._folder = TemporaryDirectory(prefix="streamgauge-java-")
        compiler = ["javac", "-nowarn", "-cp", str(jar), "-d", self._folder.name, *map(str, sources)]
        subprocess.run(compiler, check=True, capture_output=True)
        command = ["java", "-cp", self._folder.name, "Machine", self._folder.name, str(jar)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> "Machine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.communicate()  # it ends with its input
        self._folder.cleanup()

    def run(self, program: str, arguments: Sequence[str], given: str) -> tuple[int, str, str]:
        """Run the main method of a class; returns its status, output and errors."""
        texts = [text.encode() for text in (program, given, *arguments)]
        message = struct.pack(">i", len(texts)) + b"".join(struct.pack(">i", len(text)) + text for text in texts)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(message)
        self._process.stdin.flush()
        (status,) = struct.unpack(">i", _read(self._process.stdout, 4))
        output, errors = (
            _read(self._process.stdout, *struct.unpack(">i", _read(self._process.stdout, 4))).decode() for _ in range(2)
        )
        return status, output, errors


def _read(file: IO[bytes], n_bytes: int) -> bytes:
    content = file.read(n_bytes)
    if len(content) < n_bytes:
        msg = "the Java virtual machine has ended"
        raise EOFError(msg)
    return content
