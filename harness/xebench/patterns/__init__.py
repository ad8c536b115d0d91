"""The declarative side: what a benchmark file says, and what the harness reads from it."""
