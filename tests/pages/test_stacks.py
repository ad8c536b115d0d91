"""Two stacks beside one another: what they share, and never other stacks or devices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from changed_run import changed
from synthetic import Synthetic, noisy

from tools.pages import renewed
from tools.pages.measured import STACKS_BEGIN, STACKS_END, found_on_stacks
from xebench.errors import XebenchError
from xebench.results import Run

ROOT = Path(__file__).parents[2]


def run_of(stack: str, *, speedup: float = 2.0, digest: str = "same", **device: Any) -> Run:
    """A run of a stack with a pair, and a variant that the current stack skips."""
    made = Synthetic(**device)
    kernels = json.dumps([{"spirv_sha256": digest}])
    made.times(made.case("plain", "naive", kernels=kernels), noisy(20_000))
    made.times(made.case("fused", "optimized", kernels=kernels), noisy(20_000 / speedup, seed=1))
    skipped = {"status": "skipped", "reason": "needs numba-dpex"} if stack == "current" else {}
    own = made.case("own", "optimized", claims="[]", kernels="[]", **skipped)
    if not skipped:
        made.times(own, noisy(30_000, seed=2))
    packages = {"dpctl": "0.17.0" if stack == "pinned" else "0.22.1"}
    manifest = {"state": "complete", "stack": stack, "created": "2026-01-01T12:00:00", "python": "3.11.7"}
    return changed(made.run(), manifest={**manifest, "packages": packages})


def test_equal_kernels_and_equal_answers_are_counted() -> None:
    text = found_on_stacks(run_of("pinned"), run_of("current"))
    assert "| dpctl | 0.17.0 | 0.22.1 |" in text
    assert "Measured on Test CPU. SPIR-V is equal in all 2 cases that launched kernels on both (1 modules)." in text
    assert "Both stacks answered 1 claims, and decided 1 of them, all alike." in text


def test_other_kernels_and_other_answers_are_named() -> None:
    text = found_on_stacks(run_of("pinned"), run_of("current", speedup=0.5, digest="other"))
    assert "SPIR-V differs in 2 of 2 cases: p/fused/" in text
    assert "1 of these have two answers:" in text and "| `p/fused` | holds | inverts | 1 |" in text


@pytest.mark.parametrize(
    ("second", "words"),
    [(run_of("pinned"), "give a pinned and a current one"), (run_of("current", name="Other"), "two of one device")],
)
def test_runs_that_are_not_of_two_stacks_of_one_device_are_refused(second: Run, words: str) -> None:
    with pytest.raises(XebenchError, match=words):
        found_on_stacks(run_of("pinned"), second)


def test_the_page_has_the_marks() -> None:
    page = (ROOT / "docs" / "stacks.md").read_text(encoding="utf-8")
    assert f"{STACKS_BEGIN}\n\nhere\n\n{STACKS_END}" in renewed(page, STACKS_BEGIN, STACKS_END, "here")
