"""Colours and dashes that distinguish learners in every drawing."""

__all__ = ["COLOURS", "DARK_COLOURS", "DASHES"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8558f", "#c28400", "#3a97d0", "#4a4f57")
"""On white: after Okabe and Ito, so that they remain distinct for colour-blind readers."""

DARK_COLOURS = ("#4aa8e8", "#ff8c50", "#2fcb9c", "#e69ac6", "#f0b030", "#9bd3f5", "#c9ced6")
"""The same on black."""

DASHES = ((), (9, 4), (2, 3), (10, 3, 2, 3), (16, 4), (5, 2, 1, 2))
"""Alternating lengths of dash and gap. Six dashes and seven colours are coprime, so 42 learners differ."""
