"""Analysis of samples: statistics, pairs, answers, comparisons. Pure numpy, pandas and scipy, no device."""
