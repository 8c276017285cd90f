"""Interfaces of other tools, for code that was written for them."""
