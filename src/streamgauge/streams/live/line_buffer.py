"""Lines of bytes, however they are cut into chunks, in bounded memory."""

__all__ = ["LONGEST", "Lines"]

LONGEST = 1 << 20
"""A line of more bytes is a fault; what stands behind the last of them is passed over."""


class Lines:
    r"""Cuts chunks of bytes into lines.

    Examples
    --------
    >>> lines = Lines()
    >>> lines.add(b"a,1\nb,")
    >>> lines.take(10)
    [b'a,1']
    >>> lines.add(b"2\r\n\n")
    >>> lines.take(10), lines.n_bytes
    ([b'b,2'], 0)
    """

    def __init__(self) -> None:
        self._bytes = b""
        self._skipping = False
        self.n_taken = 0

    @property
    def n_bytes(self) -> int:
        """How many bytes it holds."""
        return len(self._bytes)

    def add(self, chunk: bytes) -> None:
        """Add a chunk."""
        self._bytes = self._bytes + chunk if self._bytes else chunk

    def take(self, most: int) -> list[bytes]:
        """Take up to `most` lines that are complete, without those that are blank; a line too long is cut short.

        There are none only where no complete line is left. `n_taken` counts the bytes that they and their ends took.
        """
        before = None
        lines: list[bytes] = []
        while not lines and self.n_taken != before:
            before = self.n_taken
            lines = self._cut(most)
        return lines

    def _cut(self, most: int) -> list[bytes]:
        """Cut off up to `most` lines; gives those that are not blank."""
        *lines, rest = self._bytes.split(b"\n", most)
        self.n_taken += len(self._bytes) - len(rest)
        is_last = len(lines) < most
        if self._skipping and lines:
            lines, self._skipping = lines[1:], False
        if len(rest) > LONGEST and is_last:
            if not self._skipping:
                lines.append(rest[: LONGEST + 1])
            self._skipping = True
            self.n_taken += len(rest)
            rest = b""
        self._bytes = rest
        return [line.removesuffix(b"\r") for line in lines if line.strip()]

    def finish(self) -> list[bytes]:
        """Take what stands behind the last end of a line."""
        rest, self._bytes = self._bytes, b""
        skipping, self._skipping = self._skipping, False
        self.n_taken += len(rest)
        return [rest] if rest.strip() and not skipping else []


def too_long(lines: list[bytes]) -> list[tuple[int, str]]:
    """Tell which lines are too long."""
    return [(i, f"the line has more than {LONGEST} bytes") for i, line in enumerate(lines) if len(line) > LONGEST]
