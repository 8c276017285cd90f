"""Comparison of streamgauge with MOA, CapyMOA, River, stream-learn and scikit-learn on one machine: `make peers`."""
