"""The speed-ups of a pattern as a picture, by matplotlib, which is an extra: ``pip install 'xebench[plot]'``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from xebench.errors import XebenchError, suggestion
from xebench.results.analysis import points
from xebench.vocabulary import State

#: The axis covers at least 1 / this to this, so that noise does not look like a difference.
SPAN: Final = 2.2


def draw(pairs: pd.DataFrame, pattern: str, along: str | None = None, ax: Any = None) -> Any:
    """The speed-ups over the baseline: curves along a parameter, or else a point a variant; with 95 % intervals.

    Args:
        pairs: pairs of the pattern, with a column for each parameter.
        pattern: name of the pattern.
        along: parameter on the x axis; by default the one with the most values, if any varies.
        ax: axes of matplotlib; new ones by default.

    Returns:
        The axes.

    Raises:
        XebenchError: matplotlib is not installed, no pair has a speed-up, or none has such a parameter.
    """
    try:
        from matplotlib import pyplot
        from matplotlib.ticker import LogLocator, NullLocator
    except ImportError as error:
        raise XebenchError(f"a plot needs matplotlib ({error}): pip install 'xebench[plot]'") from None
    known = pairs.dropna(subset=["speedup"])
    if known.empty:
        raise XebenchError(f"{pattern} has no speed-up to draw: 'xebench report' shows what became of it")
    along = _parameter(known, along)
    axes = ax if ax is not None else pyplot.subplots(layout="constrained")[1]
    for name, group in known.groupby(_names(known, along), sort=False):
        _series(axes, str(name), group.sort_values(along) if along else group, along)
    (axes.axhline if along else axes.axvline)(1, color="0.6", linewidth=1)
    axes.set(**{"yscale" if along else "xscale": "log", "ylabel" if along else "xlabel": "speed-up", "title": pattern})
    scale = axes.yaxis if along else axes.xaxis
    scale.set_major_locator(LogLocator(base=2))
    scale.set_major_formatter(lambda value, _: f"{value:g}x")
    scale.set_minor_locator(NullLocator())
    low, high = scale.get_view_interval()
    (axes.set_ylim if along else axes.set_xlim)(min(low, 1 / SPAN), max(high, SPAN))
    if along:
        axes.set_xlabel(along.removeprefix(points.PREFIX))
        axes.legend()
    else:
        axes.invert_yaxis()
    return axes


def _parameter(known: pd.DataFrame, along: str | None) -> str | None:
    """The column on the x axis; None where variants stand beside one another."""
    columns = [name for name in map(str, known) if name.startswith(points.PREFIX)]
    if along is None:
        varied = [name for name in columns if known[name].nunique() > 1]
        return max(varied, key=lambda name: known[name].nunique(), default=None)
    column = points.PREFIX + along.removeprefix(points.PREFIX)
    if column not in columns:
        names = [name.removeprefix(points.PREFIX) for name in columns]
        raise XebenchError(f"no parameter {along!r}: {suggestion(along, names)}")
    return column


def _names(known: pd.DataFrame, along: str | None) -> list[str]:
    """The name of a series, or of a point without an axis: all that distinguishes it from others."""
    varied = [
        name
        for name in map(str, known)
        if name.startswith(points.PREFIX) and name != along and known[name].nunique() > 1
    ]
    named = []
    for _, pair in known.iterrows():
        against = f" over {pair['baseline']}" if known["baseline"].nunique() > 1 else ""
        point = [f"{name.removeprefix(points.PREFIX)}={pair[name]}" for name in varied]
        cold = ["cold"] if known["state"].nunique() > 1 and pair["state"] == State.COLD else []
        named.append(", ".join([f"{pair['variant']}{against}", *point, *cold]))
    return named


def _series(axes: Any, name: str, group: pd.DataFrame, along: str | None) -> None:
    middle = group["speedup"].to_numpy(float)
    low, high = (group[end].fillna(group["speedup"]).to_numpy(float) for end in ("speedup_low", "speedup_high"))
    reach = np.maximum([middle - low, high - middle], 0)
    marks = {"marker": "o", "capsize": 3, "label": name}
    if along:
        axes.errorbar(group[along].tolist(), middle, yerr=reach, **marks)
    else:
        axes.errorbar(middle, [name] * len(group), xerr=reach, linestyle="none", color="C0", **marks)
