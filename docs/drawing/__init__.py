"""The pictures of the documentation: ``python -m docs.drawing`` draws all, or those that are named.

Each is drawn from a run or from the objects themselves, so that no picture shows what the code does not do.
"""
