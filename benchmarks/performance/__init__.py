"""Streamgauge beside MOA, CapyMOA, River, stream-learn and scikit-learn, in one run on one machine: `make peers`."""
