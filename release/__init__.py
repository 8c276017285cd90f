"""Checks that a release must pass: ``make check-release``."""
