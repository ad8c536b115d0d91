"""The declarative side: what a benchmark file says, and what the harness reads from it."""

from harness.patterns.pattern import Pattern, Variant
from harness.patterns.problem import Problem, inout, output

__all__ = ["Pattern", "Problem", "Variant", "inout", "output"]
