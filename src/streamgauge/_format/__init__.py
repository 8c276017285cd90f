"""Formatting for people: numbers, text, markup, colours and progress bars. Private."""
