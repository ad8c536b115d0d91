"""The declarative side: the contents of a benchmark file, as the harness reads them."""

__all__ = [
    "conditions",
    "declaration",
    "installed",
    "pattern",
    "pattern_file",
    "plan",
    "problem",
    "registry",
    "two_versions",
    "variant_source",
]
