"""The base class of streams that are defined by options alone: generators and composed streams."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

from streamgauge.protocols import StreamBase
from streamgauge.records import Schema

__all__ = ["OptionStream"]


@dataclass(frozen=True)
class OptionStream(StreamBase, ABC):
    """A stream that is a frozen dataclass of its options; its fingerprint names class, version and every option."""

    version: ClassVar[int] = 1
    """Incremented when the same options yield other rows."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Schema of the rows."""

    @property
    def fingerprint(self) -> str:
        """Class name, version and every option."""
        options = []
        for field in fields(self):
            value = getattr(self, field.name)
            # A whole number passed for a float counts as that float.
            options.append(f"{field.name}={self._format_option(float(value) if field.type is float else value)}")
        return f"{type(self).__name__}/{self.version}({', '.join(options)})"

    def _format_option(self, value: object) -> str:
        return repr(value)
