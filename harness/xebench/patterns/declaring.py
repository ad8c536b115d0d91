"""The names with which benchmark files declare patterns, as `xebench` exports them."""

from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import Problem, fit, inout, output
from xebench.tables.analysis.claim import Claim, Figure

__all__ = ["Claim", "Figure", "Pattern", "Problem", "ceil_div", "fit", "inout", "output"]


def ceil_div(n: int, size: int) -> int:
    """The number of parts of ``size`` that hold ``n``; the last part may not be full."""
    return -(-n // size)
