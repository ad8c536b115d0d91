"""The declarative side: what a benchmark file says, and what the harness reads from it."""

__all__ = [
    "conditions",
    "declaration",
    "pattern",
    "pattern_file",
    "plan",
    "problem",
    "registry",
    "two_versions",
    "variant_source",
]
