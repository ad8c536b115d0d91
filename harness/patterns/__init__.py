"""The declarative side: what a benchmark file says, and what the harness reads from it."""

from harness.patterns.pattern import METRICS, ROLES, Pattern, Variant
from harness.patterns.problem import Problem, inout, output

__all__ = ["METRICS", "ROLES", "Pattern", "Problem", "Variant", "inout", "output"]
