"""Other people's systems: oracles in the tests, opponents in the benchmarks; no part of the package."""
