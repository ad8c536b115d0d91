"""What the samples say: statistics, pairs, answers, comparisons. Pure numpy, pandas and scipy, no device."""
