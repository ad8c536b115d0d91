"""The speed-ups of a pattern as a chart for notebooks and pages, from the specifications of the HTML report."""

from __future__ import annotations

import json
from base64 import b64encode
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pandas as pd

from xebench.errors import XebenchError, suggestion
from xebench.records import points
from xebench.results.files import replace, write_text
from xebench.results.speedup_charts import Curve, Estimate, Point, Spec, colours, curves, forest
from xebench.vocabulary import State

#: Functions of vl-convert by the ending of a picture.
_PICTURES: Final = {".png": "vegalite_to_png", ".svg": "vegalite_to_svg"}
_PAGE = """<!doctype html><meta charset="utf-8"><title>xebench</title><div id="chart"></div>
<script>{library}
vegaEmbed("#chart", {spec}, {{actions: false, renderer: "svg"}});</script>
"""


#: Width of a chart's plot in pixels.
_WIDTH: Final = 420


def vega() -> str:
    """The script of Vega, Vega-Lite and vega-embed, which draws charts in a page without a network."""
    return resources.files("xebench.results").joinpath("vega.js").read_text(encoding="utf-8")


class Plot:
    """A chart, which notebooks show. Altair opens ``spec``, too: ``altair.Chart.from_dict(plot.spec)``."""

    def __init__(self, spec: Spec) -> None:
        """Take a specification in Vega-Lite."""
        self.spec = spec

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The chart, and as a picture for what draws no Vega-Lite, such as nbconvert, where vl-convert is there."""
        shown = {"application/vnd.vegalite.v5+json": self.spec, "text/plain": self.spec["description"]}
        if find_spec("vl_convert") is not None:
            shown["image/png"] = b64encode(self._picture(".png")).decode()
        return shown

    def _picture(self, ending: str) -> bytes:
        try:
            vl_convert = import_module("vl_convert")
        except ImportError:
            raise XebenchError(f"a plot is saved as {ending} by vl-convert: pip install vl-convert-python") from None
        made = getattr(vl_convert, _PICTURES[ending])(self.spec)
        return made if isinstance(made, bytes) else str(made).encode()

    def save(self, path: str | Path) -> None:
        """Write a picture (.png, .svg), a page that needs nothing else (.html), or the specification (.json).

        Raises:
            XebenchError: the name has another ending, a picture needs vl-convert, or the file cannot be written.
        """
        ending = Path(path).suffix
        spec = json.dumps(self.spec).replace("<", r"\u003c")
        known = (".html", ".json", *_PICTURES)
        if ending not in known:
            raise XebenchError(f"a plot is saved as {', '.join(known)}, not {ending or 'without an ending'}")
        if ending in _PICTURES:
            picture = self._picture(ending)
            replace(Path(path), lambda temporary: temporary.write_bytes(picture))
        else:
            write_text(Path(path), spec if ending == ".json" else _PAGE.format(library=vega(), spec=spec))


def draw(pairs: pd.DataFrame, pattern: str, along: str | None = None) -> Plot:
    """The speed-ups over the baseline: curves along a parameter, or else a row a variant; with 95 % intervals.

    Args:
        pairs: pairs of the pattern, with a column for each parameter.
        pattern: name of the pattern.
        along: parameter on the x axis; by default the one with the most values, if any varies.

    Raises:
        XebenchError: no pair has a speed-up, or none has such a parameter with numbers.
    """
    known = pairs.dropna(subset=["speedup"])
    if known.empty:
        raise XebenchError(f"{pattern} has no speed-up to draw: 'xebench report' shows what became of it")
    along = _parameter(known, along)
    named = known.assign(name=_names(known, along))
    if along is None:
        spec = forest(
            [*filter(None, (Estimate.of(row, row["name"]) for row in named.to_dict("records")))], width=_WIDTH
        )
    else:
        by_variant = colours(named["variant"])
        series = [
            Curve(
                str(name),
                [_point(row, along) for row in group.sort_values(along).to_dict("records")],
                by_variant[group["variant"].iloc[0]],
            )
            for name, group in named.groupby("name", sort=False)
        ]
        spec = curves(series, along.removeprefix(points.PREFIX), "speed-up", is_ratio=True, width=_WIDTH)
    return Plot({"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "title": pattern, **spec})


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _point(row: dict[Any, Any], along: str) -> Point:
    return Point(float(row[along]), row["speedup"], _number(row["speedup_low"]), _number(row["speedup_high"]))


def _parameter(known: pd.DataFrame, along: str | None) -> str | None:
    """The column on the x axis; None where variants stand beside one another."""
    columns = [
        name
        for name in map(str, known)
        if name.startswith(points.PREFIX) and pd.to_numeric(known[name], errors="coerce").notna().all()
    ]
    if along is None:
        varied = [name for name in columns if known[name].nunique() > 1]
        return max(varied, key=lambda name: known[name].nunique(), default=None)
    column = points.PREFIX + along.removeprefix(points.PREFIX)
    if column not in columns:
        names = [name.removeprefix(points.PREFIX) for name in columns]
        raise XebenchError(f"no parameter {along!r} with numbers: {suggestion(along, names)}")
    return column


def _names(known: pd.DataFrame, along: str | None) -> list[str]:
    """The name of a series, or of a row without an axis: all that distinguishes it from others."""
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
