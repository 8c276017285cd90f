"""A Java virtual machine that runs one program after another, for many short runs."""

import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO

__all__ = ["Machine"]


class Machine:
    """A Java virtual machine that runs programs; each run loads its own classes.

    Parameters
    ----------
    jar
        The class path of the programs.
    sources
        The programs and Machine.java. They are compiled once.
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
        self._process.communicate()  # closes its input, which ends it
        self._folder.cleanup()

    def run(self, program: str, arguments: Sequence[str], stdin: str) -> tuple[int, str, str]:
        """Run the main method of a class; return its status, output and errors."""
        texts = [text.encode() for text in (program, stdin, *arguments)]
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
        msg = "the Java virtual machine has exited"
        raise EOFError(msg)
    return content
