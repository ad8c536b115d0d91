"""Robust descriptions of a series of times, each with its source. No statistic drops a sample.

Series are 1-D, finite, and in the order in which they were measured.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: Modified z-score above which a sample counts as an outlier (Iglewicz and Hoaglin 1993).
OUTLIER_SCORE: Final = 3.5

#: Lag-1 autocorrelations above this are not told apart: the series hardly says anything then.
MAX_AUTOCORRELATION: Final = 0.9

#: Digits after which two logarithms of times count as equal, so that rounding does not order ties.
_TIE_DIGITS: Final = 12


def series(values: ArrayLike) -> Floats:
    """``values`` as a 1-D float array.

    Raises:
        ValueError: They are not 1-D or not all finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError("a series must be one-dimensional and finite")
    return array


def mad(values: ArrayLike) -> float:
    """Median absolute deviation from the median, in the unit of ``values`` (Hampel 1974); NaN if empty.

    It is not scaled: times 1.4826 it estimates the standard deviation of normal noise.
    """
    array = series(values)
    return float(np.median(np.abs(array - np.median(array)))) if array.size else math.nan


def modified_z_scores(values: ArrayLike) -> Floats:
    """0.6745 (x - median) / MAD of each sample (Iglewicz and Hoaglin 1993, "Detect and Handle Outliers").

    When more than half of the samples are equal the MAD is 0; the mean absolute deviation takes its place,
    scaled to agree for normal noise. When all are equal the scores are 0.
    """
    array = series(values)
    if not array.size:
        return array
    deviations = array - np.median(array)
    scale = float(np.median(np.abs(deviations))) / 0.6745
    if scale == 0:
        scale = float(np.mean(np.abs(deviations))) * 1.2533
    return deviations / scale if scale else np.zeros_like(array)


def outliers(values: ArrayLike) -> int:
    """The number of samples whose modified z-score exceeds `OUTLIER_SCORE` in size."""
    return int(np.count_nonzero(np.abs(modified_z_scores(values)) > OUTLIER_SCORE))


def autocorrelation(values: ArrayLike) -> float:
    """Lag-1 autocorrelation of the ranks of ``values``, corrected for its bias in short series.

    Ranks, because one spike would hide the correlation of all other samples. The estimate of a short series
    is too low by about (1 + 3 r) / n (Kendall 1954, "Note on Bias in the Estimation of Autocorrelation"),
    which is added.

    Returns:
        The estimate within -0.9 to 0.9; 0 with fewer than three samples or when all are equal.
    """
    array = series(values)
    if array.size < 3:
        return 0.0
    # equal samples share the mean of their ranks
    _, group, sizes = np.unique(np.round(array, _TIE_DIGITS), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[group] - (array.size + 1) / 2
    spread = float(ranks @ ranks)
    if spread == 0:
        return 0.0
    estimate = float(ranks[1:] @ ranks[:-1]) / spread
    corrected = estimate + (1 + 3 * estimate) / array.size
    return min(max(corrected, -MAX_AUTOCORRELATION), MAX_AUTOCORRELATION)


def variance_inflation(values: ArrayLike) -> float:
    """The variance of a location estimate divided by that for independent samples; at least 1.

    (1 + r) / (1 - r) for lag-1 autocorrelation r, as for a first-order autoregression (Bayley and Hammersley
    1946, "The Effective Number of Independent Observations"). Negative correlation would make it smaller;
    that is not believed.
    """
    correlation = max(autocorrelation(values), 0.0)
    return (1 + correlation) / (1 - correlation)
