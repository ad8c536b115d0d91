"""What the samples say: statistics, pairs, verdicts, comparisons. Pure numpy, pandas and scipy, no device."""
