"""The compiled kernels: columns in, columns out; every error is a ValueError.

A separate package, so that the import contract, which knows only Python files, sees where the native code is.
"""

from streamgauge._native._compiled import *  # noqa: F403
