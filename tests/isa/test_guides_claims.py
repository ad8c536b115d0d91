"""What the guide says of generated code is claimed by patterns, with its lines, and both compilers have answered it."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from optional import needs

from tools.pages.claims import all_said
from xebench.cli.gpu_commands import collect_with_progress, plan_for
from xebench.isa import text as isa_text
from xebench.isa.ocloc import find_compiler
from xebench.isa.table import code_answers, compile_launches, targets
from xebench.patterns.registry import discover
from xebench.report.page import code

#: Entries of the catalogue, the pattern that asks, the word of its claim, and the lines of the guide.
ASKED: Final = (
    ("E14", "subgroup_vector_payload", "messages", "G 1295"),
    ("E15", "subgroup_block_io", "addresses", "G 1303, 2343"),
    ("E20", "histogram_in_registers", "spills", "G 2191 to 2197"),
    ("E22", "grf_mode_and_unrolling", "spills", "G 1869"),
    ("E24", "private_histogram", "spilling_kernels", "G 1968 to 1970"),
    ("E25", "volatile_and_addresses", "spills", "G 2070"),
    ("E26a", "volatile_and_addresses", "spills", "G 2131 to 2133"),
    ("E27", "histogram_in_registers", "spills", "G 2191 to 2197"),
    ("E28", "block_io_registers", "addresses", "G 2299 to 2343"),
    ("E29", "high_register_pressure", "spills", "G 2553 to 2573"),
    ("E37", "restrict_and_unroll", "late_loads", "G 3413"),
    ("E39", "atomics_dtype", "branches", "G 3592 to 3596, 3673 to 3678"),
    ("E56", "matrix_engine", "additions", "G 5370"),
    ("E75", "specialized_triad", "additions", "G 8641"),
    ("E76", "log_precision", "instructions", "G 9246"),
)
SAID: Final = [said for said in all_said(discover()) if said.claim.of_code]
KEPT: Final = code.read()


def answers(told: list[Any]) -> dict[tuple[str, ...], str]:
    return {
        (one["pattern"], one["variant"], json.dumps(one["claim"]), one["gpu"], one["axes"]): one["answer"]
        for one in told
    }


@pytest.mark.parametrize(("entry", "pattern", "word", "source"), ASKED)
def test_a_sentence_of_the_guide_is_a_claim_of_a_pattern(entry: str, pattern: str, word: str, source: str) -> None:
    info = next(info for info in discover() if info.name == pattern)
    assert entry in info.catalogue
    (said, *_) = [s for s in SAID if (s.pattern, s.claim.word, s.claim.source) == (pattern, word, source)]
    for compiler in KEPT:
        found = [one for one in compiler["claims"] if (one["pattern"], one["variant"]) == (pattern, said.variant)]
        assert word in {one["claim"]["word"] for one in found}, "renew it: make isa-current"


def test_claims_that_gained_nothing_say_so() -> None:
    """Known of these compilers: they keep the loads behind the store."""
    told = {one["answer"] for compiler in KEPT for one in compiler["claims"] if one["claim"]["word"] == "late_loads"}
    assert {"holds", "no effect"} <= told


@needs("ocloc")
@pytest.mark.device
@pytest.mark.slow
@pytest.mark.numba_dpex
def test_this_compiler_gives_the_kept_answers() -> None:
    compiler = find_compiler()
    kept = {each["version"]: each["claims"] for each in KEPT}
    if compiler.version not in kept:
        pytest.skip(f"no answers are kept of {compiler.label}: make isa-current renews them")
    plan = plan_for(sorted({pattern for _, pattern, *_ in ASKED}), (), "smoke")
    launched = collect_with_progress(plan)
    kernels = compile_launches(launched.launches, targets(("pvc", "dg2")), compiler)
    found = answers([isa_text.plain(one) for one in code_answers(plan, launched, kernels)])
    assert found and found.items() <= answers(kept[compiler.version]).items()
