"""The compiled kernels: columns in, columns out; every error is a ValueError.

A package of its own so that the import contract, which knows only Python files, sees where the native code stands.
"""

from streamgauge._native._compiled import *  # noqa: F403
