"""Analysis of samples: statistics, pairs, answers, comparisons. Pure numpy, pandas and scipy, no device."""

__all__ = [
    "answer",
    "claim",
    "compare",
    "intervals",
    "judge",
    "metrics",
    "moderation",
    "pairs",
    "points",
    "statistics",
    "summaries",
    "versions",
]
