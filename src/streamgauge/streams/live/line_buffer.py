"""Splitting of byte chunks into lines, in bounded memory."""

__all__ = ["MAX_LINE_BYTES", "LineBuffer", "find_too_long"]

MAX_LINE_BYTES = 1 << 20
"""The most bytes of a line; a longer line is a fault, and the rest of it is skipped."""


class LineBuffer:
    r"""Splits chunks of bytes into lines.

    Examples
    --------
    >>> buffer = LineBuffer()
    >>> buffer.add(b"a,1\nb,")
    >>> buffer.take(10)
    [b'a,1']
    >>> buffer.add(b"2\r\n\n")
    >>> buffer.take(10), buffer.n_bytes
    ([b'b,2'], 0)
    """

    def __init__(self) -> None:
        self._bytes = b""
        self._skipping = False
        self.n_taken = 0

    @property
    def n_bytes(self) -> int:
        """Number of buffered bytes."""
        return len(self._bytes)

    def add(self, chunk: bytes) -> None:
        """Append a chunk."""
        self._bytes = self._bytes + chunk if self._bytes else chunk

    def take(self, limit: int) -> list[bytes]:
        """Remove and return up to `limit` complete lines, without blank ones; a line that is too long is truncated.

        The list is empty only if no complete line is left. `n_taken` counts the bytes removed, including line ends.
        """
        n_before = None
        lines: list[bytes] = []
        while not lines and self.n_taken != n_before:
            n_before = self.n_taken
            lines = self._split(limit)
        return lines

    def _split(self, limit: int) -> list[bytes]:
        """Remove up to `limit` lines and return those that are not blank."""
        *lines, rest = self._bytes.split(b"\n", limit)
        self.n_taken += len(self._bytes) - len(rest)
        is_last = len(lines) < limit
        if self._skipping and lines:
            lines, self._skipping = lines[1:], False
        if len(rest) > MAX_LINE_BYTES and is_last:
            if not self._skipping:
                lines.append(rest[: MAX_LINE_BYTES + 1])
            self._skipping = True
            self.n_taken += len(rest)
            rest = b""
        self._bytes = rest
        return [line.removesuffix(b"\r") for line in lines if line.strip()]

    def cut_off(self) -> list[bytes]:
        """Remove and return the unterminated last line, if there is one; complete lines stay."""
        complete, end, rest = self._bytes.rpartition(b"\n")
        self._bytes = complete + end
        skipping, self._skipping = self._skipping and not end, self._skipping and bool(end)
        return [rest] if rest.strip() and not skipping else []

    def finish(self) -> list[bytes]:
        """Remove and return the unterminated last line, if there is one."""
        rest, self._bytes = self._bytes, b""
        skipping, self._skipping = self._skipping, False
        self.n_taken += len(rest)
        return [rest] if rest.strip() and not skipping else []


def find_too_long(lines: list[bytes]) -> list[tuple[int, str]]:
    """Return the indexes of lines that are too long, each with the reason."""
    return [
        (i, f"the line has more than {MAX_LINE_BYTES} bytes")
        for i, line in enumerate(lines)
        if len(line) > MAX_LINE_BYTES
    ]
