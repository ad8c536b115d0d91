"""The table of results in README.md, made from a run: ``python -m harness.pages.readme README.md RUN``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.records import Run, load_run
from harness.report.formats import markdown
from harness.report.remarks import noise_line
from harness.report.result_rows import device_line, result_rows
from harness.report.run_summary import answer_sentence

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

#: And of what: `harness.report.formats.markdown.COLUMNS` has all. Who claims it is shown where anyone is named.
COLUMNS: Final = ("pattern", "variant", "answer", "speed-up", "95 % interval", "of roof")


def results(run: Run) -> str:
    """What became of all claims, the rows of `PATTERNS`, then the device and the noise floor."""
    rows = result_rows(run)
    shown = [replace(row, axes="") for name in PATTERNS for row in rows if row.pattern == name]
    columns = [*COLUMNS, "claimed by"] if any(row.source for row in shown) else COLUMNS
    notes = [line for line in (device_line(run), noise_line(run)) if line]
    table = markdown.results(shown, columns)
    return "\n".join([answer_sentence(run), "", *table, "", *(f"{line}." for line in notes)])


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
