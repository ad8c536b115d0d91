"""The results in README.md, made from a run: ``python -m tools.pages.readme README.md RUN``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from tools import pages
from xebench.cli.output import run_program
from xebench.report.formats.text import excerpt
from xebench.tables import Run, load_run

BEGIN: Final = "<!-- results: made by python -m tools.pages.readme -->"
END: Final = "<!-- end of results -->"

#: What a reader should see first.
PATTERNS: Final = (
    "kernel_fusion",
    "usm_vs_buffers",
    "redundant_queue_construction",
    "atomics_global_vs_local",
    "slm_convolution_cache",
    "tiled_matmul",
    "partial_subgroups",
    "subgroup_vector_payload",
)

#: Columns, as many as most pages show without a scroll bar.
WIDTH: Final = 88


def results(run: Run) -> str:
    """The device, what became of all claims, and the rows of `PATTERNS`, as a terminal shows them."""
    return f"```text\n{excerpt(run, PATTERNS, WIDTH)}\n```"


def renewed(text: str, run: Run) -> str:
    """A page with what is between the two marks made again.

    Raises:
        ValueError: It has not both marks.
    """
    return pages.renewed(text, BEGIN, END, results(run))


@click.command()
@click.argument("page", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("run", type=click.Path(path_type=Path))
def main(page: Path, run: Path) -> None:
    """Put the results of a run into a page."""
    page.write_text(renewed(page.read_text(encoding="utf-8"), load_run(run)), encoding="utf-8")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.readme")
