"""Functions that are no patterns: measured in the process that calls them (`functions`), and in tests of pytest."""

__all__ = ["functions"]
