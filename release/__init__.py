"""What a release must pass before it goes out: ``make check-release``."""
