"""Benchmarks; `make bench` runs them all. Values are CPU time, the best of several, compared within one process."""
