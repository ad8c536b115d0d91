"""Analysis of samples: statistics, pairs, answers, comparisons. Pure numpy, pandas and scipy, no device."""

__all__ = [
    "answer",
    "claim",
    "compare",
    "device_facts",
    "intervals",
    "judge",
    "metrics",
    "moderation",
    "pairs",
    "points",
    "statistics",
    "summaries",
    "unrecorded",
    "versions",
]
