"""What tells learners apart wherever they are drawn: a colour and a dash each."""

__all__ = ["COLOURS", "DARK_COLOURS", "DASHES"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8558f", "#c28400", "#3a97d0", "#4a4f57")
"""On white: after Okabe and Ito, so that people who see colours differently can tell them apart, too."""

DARK_COLOURS = ("#4aa8e8", "#ff8c50", "#2fcb9c", "#e69ac6", "#f0b030", "#9bd3f5", "#c9ced6")
"""The same on black."""

DASHES = ((), (9, 4), (2, 3), (10, 3, 2, 3), (16, 4), (5, 2, 1, 2))
"""Lengths of dash and gap in turn; their number shares no factor with that of the colours, so 42 learners differ."""
