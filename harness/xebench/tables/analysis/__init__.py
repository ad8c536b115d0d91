"""Analysis of samples: statistics, pairs, answers, comparisons. Pure numpy, pandas and scipy, no device."""

__all__ = [
    "answer",
    "claim",
    "compare",
    "concurrency",
    "intervals",
    "judge",
    "levels",
    "metrics",
    "moderation",
    "noise_floor",
    "pairs",
    "points",
    "statistics",
    "summaries",
    "unrecorded",
    "versions",
]
