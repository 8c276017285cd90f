"""Other systems (MOA, Kafka, Redis): oracles in tests and opponents in benchmarks, not part of the package."""
