"""The text format of Prometheus, in which others read metrics."""

from collections.abc import Iterable, Iterator, Mapping

__all__ = ["TYPE", "Sample", "format_samples"]

TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The content type of the text."""

Sample = tuple[str, Mapping[str, str], float]
"""The family of a metric, the labels, and the value."""


def format_samples(families: Mapping[str, tuple[str, str]], samples: Iterable[Sample]) -> str:
    r"""Return samples as text, those of a family together; `families` has the type and the help of each, in order.

    Examples
    --------
    >>> print(format_samples({"rows_total": ("counter", "Rows.")}, [("rows_total", {"model": 'a "b"'}, 7)]), end="")
    # HELP rows_total Rows.
    # TYPE rows_total counter
    rows_total{model="a \"b\""} 7
    """
    by_family: dict[str, list[Sample]] = {family: [] for family in families}
    for sample in samples:
        by_family[sample[0]].append(sample)
    lines = []
    for family, (kind, help_text) in families.items():
        if by_family[family]:
            lines += [f"# HELP {family} {help_text}", f"# TYPE {family} {kind}", *_format_family(by_family[family])]
    return "\n".join(lines) + "\n"


def _format_family(samples: Iterable[Sample]) -> Iterator[str]:
    for family, labels, value in samples:
        text = ",".join(f'{name}="{_escape(label)}"' for name, label in labels.items())
        yield f"{family}{{{text}}} {_format_number(value)}" if text else f"{family} {_format_number(value)}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _format_number(value: float) -> str:
    return "NaN" if value != value else f"{value:.10g}"  # noqa: PLR0124
