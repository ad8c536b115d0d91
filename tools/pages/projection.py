"""What the roofs of a GPU allow, as a page: the roof model held against figures that the guide prints.

``python -m tools.pages.projection > docs/projection.md``
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xebench.report import units
from xebench.report.table_forms import fill, table
from xebench.system.gpu_model.gpus import find_gpu
from xebench.system.gpu_model.roof_model import MEMORY, GuideFigure, guide_figures
from xebench.tables.device_facts import RATE_ROOFS, Roof

HEADINGS: Final = ("entry", "what", "GPU", "roof", "measured", "fraction", "error", "beside the model")


def markdown(figures: Sequence[GuideFigure]) -> str:
    """The page."""
    lines = table(HEADINGS, map(_row, figures))
    return fill("tools.pages", "projection.md.j2", table=lines, summary=summary(figures)) + "\n"


def _row(figure: GuideFigure) -> tuple[str, ...]:
    unit = (Roof.BANDWIDTH if figure.roof == MEMORY else RATE_ROOFS[figure.roof]).unit
    assert figure.roof_rate is not None and figure.fraction is not None
    return (
        figure.id,
        figure.what,
        find_gpu(figure.gpu).product.name,
        f"{figure.roof}, {units.figure(figure.roof_rate, 4)} {unit}",
        f"{units.figure(figure.rate, 4)} {unit}",
        f"{figure.fraction:.2f}",
        f"{1 / figure.fraction - 1:+.0%}",
        figure.beside,
    )


def summary(figures: Sequence[GuideFigure]) -> str:
    """The error in one paragraph."""
    fractions = [figure.fraction for figure in figures if figure.fraction is not None]
    plain = sorted(figure.fraction for figure in figures if figure.fraction is not None and not figure.beside)
    middle = plain[len(plain) // 2]
    broken = sum(fraction > 1 for fraction in fractions)
    return (
        f"{broken} of {len(fractions)} figures break the bound. Where nothing stands beside the model (streams from "
        f"memory), kernels reach {plain[0]:.0%} to {plain[-1]:.0%} of it, {middle:.0%} in the middle: expect "
        f"{1 / plain[-1]:.1f} to {1 / plain[0]:.1f} times the bound of a case that streams. The others are up to "
        f"{1 / min(fractions):.0f} times as long as the bound, for the reasons named."
    )


if __name__ == "__main__":
    print(markdown(guide_figures()), end="")
