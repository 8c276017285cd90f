"""Draws the pictures of the documentation: ``python -m docs.drawing``, or with the names of some of them.

Each is drawn from a run, or from what the parts themselves say, so that no picture shows what the code does not do.
"""
