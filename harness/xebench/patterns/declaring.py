"""What benchmark files declare patterns with: the names that `xebench` gives them."""

from xebench.patterns.fit import fit
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import Problem, inout, output
from xebench.tables.analysis.claim import Claim, Figure

__all__ = ["Claim", "Figure", "Pattern", "Problem", "ceil_div", "fit", "inout", "output"]


def ceil_div(n: int, size: int) -> int:
    """How many parts of ``size`` hold ``n``: the last one may not be full."""
    return -(-n // size)
