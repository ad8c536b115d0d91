"""What changed between two variants."""

from dataclasses import replace

import isa_kit as kit

from xebench.isa.collect import KernelLaunch, VariantWithoutKernel
from xebench.isa.compilation import Compiler, Target
from xebench.isa.kernel_code import KernelOnGpu, ListingLine, compare, pairs, side_by_side
from xebench.isa.text import as_html, as_json, folded
from xebench.isa.text import as_text as table_text

COMPILER = Compiler(("ocloc",), "1.0", "libigc.so.2.40.14")


def entry(
    variant: str, fixture: str | None, *, role: str = "optimized", gpu: str = "pvc", sha: str = "", local_bytes: int = 0
) -> KernelOnGpu:
    code = None if fixture is None else kit.code(fixture)
    name = "k" if code is None else code.info.name
    launch = KernelLaunch("pattern", "chapter", variant, role, "{}", name, sha or f"{variant}{name}", b"", (), (), None)
    launch = KernelLaunch(**{**launch.__dict__, "local_bytes": local_bytes})
    status = ("ok", "") if code else ("crashed", "ended by SIGSEGV")
    return KernelOnGpu(launch, Target(gpu), COMPILER, *status, code=code)


def test_the_figures_that_differ() -> None:
    before, after = entry("a", "igc2/blocks.pvc"), entry("b", "igc2/mixture.pvc", local_bytes=256)
    changes = {change.name: (change.before, change.after) for change in compare(before, after)}
    assert changes["SIMD width"] == (16, 32)
    assert changes["SLM bytes"] == (0, 256)
    assert changes["messages load.global.d32x64t"] == (4, 0)
    assert changes["messages load.slm.d32"] == (0, 1)
    assert "registers" not in changes and "spilled bytes" not in changes
    assert compare(before, before) == []


def test_variants_meet_the_naive_one() -> None:
    entries = [
        entry("fast", "igc2/blocks.pvc"),
        entry("slow", "igc2/mixture.pvc", role="naive"),
        entry("other", "igc2/engine.pvc"),
        entry("slow", "igc2/mixture.pvc", role="naive", gpu="dg2"),
        entry("fast", "igc2/blocks.pvc", gpu="dg2"),
    ]
    names = [
        (p.either.target.gpu, p.before and p.before.launch.variant, p.after and p.after.launch.variant)
        for p in pairs(entries)
    ]
    assert names == [("dg2", "slow", "fast"), ("pvc", "slow", "fast"), ("pvc", "slow", "other")]


def test_kernels_meet_by_name_and_shared_ones_are_left_out() -> None:
    entries = [
        entry("slow", "igc2/engine.pvc", role="naive", sha="same"),
        entry("slow", "igc2/blocks.pvc", role="naive"),
        entry("slow", "igc2/mixture.pvc", role="naive"),
        entry("fast", "igc2/engine.pvc", sha="same"),
        entry("fast", "igc2/mixture.pvc"),
    ]
    found = [(p.before and p.before.launch.kernel, p.after and p.after.launch.kernel) for p in pairs(entries)]
    assert found == [("mixture", "mixture"), ("copy_blocks", None)]


def test_the_same_module_with_other_options_is_not_shared() -> None:
    plain = entry("slow", "igc2/mixture.pvc", role="naive", sha="same")
    other = entry("fast", "igc2/mixture.pvc", sha="same")
    assert pairs([plain, other]) == []
    launch = replace(other.launch, build_options=("-cl-fast-relaxed-math",))
    (pair,) = pairs([plain, replace(other, launch=launch)])
    assert (pair.before and pair.before.launch, pair.after and pair.after.launch) == (plain.launch, launch)


def test_a_kernel_without_code_is_told_apart() -> None:
    (pair,) = pairs([entry("slow", "igc2/mixture.pvc", role="naive"), entry("fast", None)])
    assert pair.before is not None and pair.after is not None
    assert (pair.before.status, pair.after.status, pair.after.reason) == ("ok", "crashed", "ended by SIGSEGV")
    assert pair.after.code is None


def test_changes_are_told_with_both_figures_and_equal_kernels_have_none() -> None:
    kernels = [entry("slow", "igc2/mixture.pvc", role="naive"), entry("fast", "igc2/blocks.pvc")]
    assert "SIMD width 32 -> 16" in [change.text for change in compare(*kernels)]
    same = [entry("slow", "igc2/blocks.pvc", role="naive"), entry("fast", "igc2/blocks.pvc")]
    assert "<p>the same figures</p>" in as_html(same, pairs(same), [])


def test_side_by_side_keeps_every_line_of_both() -> None:
    before, after = kit.code("igc1/mixture.pvc"), kit.code("igc2/mixture.pvc")
    lines = side_by_side(before, after)
    assert sum(bool(line.before) for line in lines) == len(before.assembly.instructions)
    assert sum(bool(line.after) for line in lines) == len(after.assembly.instructions)
    assert any(line.tag == "same" for line in lines) and any(line.tag != "same" for line in lines)
    assert all(line.tag == "same" for line in side_by_side(before, before))


def test_long_equal_stretches_are_folded() -> None:
    lines = [ListingLine("same", str(n), str(n)) for n in range(20)] + [ListingLine("added", "", "x")]
    shown = folded(lines, context=3)
    assert [line.before for line in shown] == ["0", "1", "2", "... 14 alike ...", "17", "18", "19", ""]
    assert folded(lines[:7], context=3) == lines[:7]


def test_the_page_shows_figures_assembly_and_failures() -> None:
    entries = [
        entry("slow", "igc2/mixture.pvc", role="naive"),
        entry("fast", "igc2/blocks.pvc"),
        entry("broken", None, gpu="dg2"),
    ]
    page = as_html(entries, pairs(entries), [VariantWithoutKernel("pattern", "host", "launches <nothing>")])
    assert "SIMD width 32 -&gt; 16" in page
    assert "load.slm.d32.a32" in page and "load.ugm.d32x64t.a64" in page
    assert "dg2: all kernels: crashed: ended by SIGSEGV" in page
    assert "launches &lt;nothing&gt;" in page


def test_the_terminal_never_shortens_a_figure() -> None:
    entries = [
        entry("slow", "igc2/spills.pvc", role="naive"),
        entry("a_variant_with_a_long_name" * 4, "igc2/spills.pvc"),
    ]
    for line in table_text(entries, [], width=80).splitlines()[2:4]:
        assert "7296" in line
    assert "private" not in table_text(entries, [], width=80).splitlines()[1]


def test_json_has_the_rows_and_what_is_missing() -> None:
    import json

    data = json.loads(as_json([entry("slow", "igc2/spills.pvc")], [VariantWithoutKernel("p", "v", "why")]))
    assert data["rows"][0]["spill_bytes"] == 7296
    assert data["missing"] == [{"pattern": "p", "variant": "v", "reason": "why"}]
