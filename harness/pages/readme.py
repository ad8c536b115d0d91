"""The table of results in README.md, made from a run: ``python -m harness.pages.readme README.md RUN``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from harness.records import Run, load_run
from harness.report.formats import markdown
from harness.report.result_rows import device_line, noise_line, result_rows

BEGIN: Final = "<!-- results: made by python -m harness.pages.readme -->"
END: Final = "<!-- end of results -->"

#: What a reader should see first.
PATTERNS: Final = (
    "kernel_fusion",
    "allocation_in_loop",
    "redundant_queue_construction",
    "reduction_sum",
    "slm_convolution_cache",
    "tiled_matmul",
    "subgroup_shuffle_transpose",
    "subgroup_vector_payload",
)


def results(run: Run) -> str:
    """The rows of `PATTERNS`, then the device and the noise floor."""
    rows = result_rows(run)
    shown = [row for name in PATTERNS for row in rows if row.pattern == name]
    notes = [line for line in (device_line(run), noise_line(run)) if line]
    return "\n".join([*markdown.results(shown, with_axes=False), "", *(f"{line}." for line in notes)])


def renewed(text: str, run: Run) -> str:
    """A page with what is between the two marks made anew.

    Raises:
        ValueError: It has not both marks.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} with {END} after it")
    return f"{before}{BEGIN}\n\n{results(run)}\n\n{END}{after}"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renewed(page.read_text(encoding="utf-8"), load_run(sys.argv[2])), encoding="utf-8")
