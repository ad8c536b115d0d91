"""A plugin for pytest: benchmarks by the device's clock, comparisons with an interval, patterns as tests."""
