"""The compilers that made a run's kernels."""

from __future__ import annotations

import json
from collections import Counter

import pandas as pd

from xebench.records.points import Row


def compilers_of(case: Row) -> frozenset[str]:
    """The compilers of one case; empty if it launched no kernel of Python, or an earlier run does not record them."""
    return frozenset(compiler for _, compiler in _made(case["kernels"]))


def _made(kernels: str | None) -> set[tuple[str, str]]:
    """Hash and compiler of each kernel whose compiler is named."""
    return {
        (kernel["spirv_sha256"], kernel["compiler"]) for kernel in json.loads(kernels or "[]") if kernel.get("compiler")
    }


def compilers(kernels: pd.Series[str]) -> dict[str, int]:
    """The number of kernels that each compiler made, largest first; a kernel of several cases counts once.

    Args:
        kernels: the column of a run's cases.
    """
    found = set().union(*map(_made, kernels.dropna().unique()))
    return dict(Counter(compiler for _, compiler in sorted(found)).most_common())


def short_name(compiler: str) -> str:
    """A compiler's name without its parts."""
    return compiler.partition(" (")[0]
