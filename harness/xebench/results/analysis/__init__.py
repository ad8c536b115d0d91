"""Analysis of samples: statistics, pairs, answers, comparisons. Pure numpy, pandas and scipy, no device."""

__all__ = [
    "answer",
    "compare",
    "compilers",
    "intervals",
    "judge",
    "metrics",
    "moderation",
    "noise",
    "pairs",
    "speedups",
    "statistics",
    "summaries",
    "versions",
]
