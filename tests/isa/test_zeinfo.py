"""The binary's own description of its kernels, of both compiler generations."""

import isa_kit as kit
import pytest

from xebench.isa.compilation import KernelInfo, read_zeinfo


def info(name: str) -> KernelInfo:
    (kernel,) = read_zeinfo(kit.text(f"{name}.zeinfo")).values()
    return kernel


@pytest.mark.parametrize("generation", ["igc1", "igc2"])
def test_a_kernel_with_a_barrier(generation: str) -> None:
    found = info(f"{generation}/mixture.pvc")
    assert (found.name, found.simd_width, found.grf_count, found.barriers) == ("mixture", 32, 128, 1)
    # its shared local memory is an argument, whose size the host gives at the launch
    assert found.slm_bytes == 0


def test_spills_stand_in_new_binaries_only() -> None:
    assert info("igc2/spills.pvc").spill_bytes == 7296
    assert info("igc1/spills.pvc").spill_bytes is None


@pytest.mark.parametrize("generation", ["igc1", "igc2"])
def test_private_memory_per_work_item_counts_for_the_whole_thread(generation: str) -> None:
    # 32 counters of 4 bytes, 16 lanes; the binary says 128 bytes "per SIMT thread"
    assert info(f"{generation}/private.dg2").buffer_bytes == 2048


def test_the_compilers_own_symbol_table_is_no_kernel() -> None:
    entry = "  - name: {}\n    execution_env:\n      simd_size: 8\n      grf_count: 128\n"
    text = "kernels:\n" + entry.format("mine") + entry.format("Intel_Symbol_Table_Void_Program")
    assert list(read_zeinfo(text)) == ["mine"]


#: Every fixture, as the reader before this one (by hand, without a library) gave it.
EXPECTED = {
    "igc1/atomic.pvc": KernelInfo(32, 128, name="add_to_one"),
    "igc1/blocks.pvc": KernelInfo(16, 128, name="copy_blocks"),
    "igc1/blocks.tgllp": KernelInfo(16, 128, name="copy_blocks"),
    "igc1/engine.pvc": KernelInfo(16, 128, name="tile_product"),
    "igc1/mixture.dg2": KernelInfo(32, 128, name="mixture", barriers=1),
    "igc1/mixture.pvc": KernelInfo(32, 128, name="mixture", barriers=1),
    "igc1/mixture.tgllp": KernelInfo(16, 128, name="mixture", barriers=1),
    "igc1/private.dg2": KernelInfo(16, 128, name="histogram", buffer_bytes=2048),
    "igc1/private.tgllp": KernelInfo(16, 128, name="histogram"),
    "igc1/spills.pvc": KernelInfo(16, 128, name="eighty_doubles"),
    "igc2/atomic.pvc": KernelInfo(32, 128, name="add_to_one"),
    "igc2/blocks.pvc": KernelInfo(16, 128, name="copy_blocks"),
    "igc2/blocks.tgllp": KernelInfo(16, 128, name="copy_blocks"),
    "igc2/engine.pvc": KernelInfo(16, 128, name="tile_product"),
    "igc2/mixture.bmg": KernelInfo(32, 128, name="mixture", barriers=1),
    "igc2/mixture.dg2": KernelInfo(32, 128, name="mixture", barriers=1),
    "igc2/mixture.pvc": KernelInfo(32, 128, name="mixture", barriers=1),
    "igc2/mixture.tgllp": KernelInfo(16, 128, name="mixture", barriers=1),
    "igc2/private.dg2": KernelInfo(16, 128, name="histogram", private_bytes=2048, buffer_bytes=2048),
    "igc2/private.tgllp": KernelInfo(16, 128, name="histogram", private_bytes=2048),
    "igc2/spills.pvc": KernelInfo(16, 128, name="eighty_doubles", spill_bytes=7296),
}


def test_every_fixture_of_both_generations_is_read_whole() -> None:
    assert {name: info(name) for name in kit.ALL} == EXPECTED


def test_comments_unknown_keys_and_a_zero_byte_at_the_end_do_not_matter() -> None:
    text = """---
version:         '1.73'
kernels:
  - name:            no  # a name, not false
    future:
      order: [ 0, 1 ]
    execution_env:
      simd_size: 16
      grf_count: 256
      spill_size: 64
...
\0"""
    assert read_zeinfo(text) == {"no": KernelInfo(16, 256, name="no", spill_bytes=64)}


@pytest.mark.parametrize("text", ["", "---\n...\n", "version: '1.0'\nkernels:\n"])
def test_a_section_may_have_no_kernels(text: str) -> None:
    assert read_zeinfo(text) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\n    b: 2\n", r"ze_info, line 2: mapping values are not allowed"),
        ("- a: 1\n", r"ze_info: Expected `object`, got `array`"),
        ("kernels: 3\n", r"ze_info: Expected `array`, got `str`"),
        ("kernels:\n  - name: k\n", r"missing required field `execution_env`"),
        (
            "kernels:\n  - name: k\n    execution_env: {simd_size: x, grf_count: 128}\n",
            r"ze_info: Expected `int`, got `str` - at `\$\[0\].execution_env.simd_size`",
        ),
    ],
)
def test_other_forms_are_errors(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_zeinfo(text)
