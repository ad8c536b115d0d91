"""The binary's own description of its kernels, of both compiler generations."""

import isa_kit as kit
import pytest

from harness.isa.zeinfo import KernelInfo, parse_yaml, read_zeinfo


def info(name: str) -> KernelInfo:
    (found,) = read_zeinfo(kit.text(f"{name}.zeinfo")).values()
    return found


@pytest.mark.parametrize("generation", ["igc1", "igc2"])
def test_a_kernel_with_a_barrier(generation: str) -> None:
    found = info(f"{generation}/mixture.pvc")
    assert (found.name, found.simd_width, found.grf_count, found.barriers) == ("mixture", 32, 128, 1)
    # its shared local memory is an argument, whose size the host gives at the launch
    assert found.slm_bytes == 0
    assert found.required_sub_group_size is None
    assert not found.stack_calls


def test_spills_stand_in_new_binaries_only() -> None:
    assert info("igc2/spills.pvc").spill_bytes == 7296
    assert info("igc1/spills.pvc").spill_bytes is None
    assert info("igc1/spills.pvc").scratch_bytes == 16384


@pytest.mark.parametrize("generation", ["igc1", "igc2"])
def test_private_memory_per_work_item_counts_for_the_whole_thread(generation: str) -> None:
    # 32 counters of 4 bytes, 16 lanes; the binary says 128 bytes "per SIMT thread"
    assert info(f"{generation}/private.dg2").buffer_bytes == 2048
    assert info(f"{generation}/private.tgllp").scratch_bytes == 2048


def test_a_required_sub_group_size_is_kept() -> None:
    assert info("igc1/blocks.pvc").required_sub_group_size == 16
    assert info("igc2/blocks.pvc").required_sub_group_size == 16


def test_the_compilers_own_symbol_table_is_no_kernel() -> None:
    entry = "  - name: {}\n    execution_env:\n      simd_size: 8\n      grf_count: 128\n"
    text = "kernels:\n" + entry.format("mine") + entry.format("Intel_Symbol_Table_Void_Program")
    assert list(read_zeinfo(text)) == ["mine"]


def test_the_subset_of_yaml() -> None:
    text = """---
version:         '1.73'
kernels:
  - name:            k  # a comment
    env:
      flag: true
      order: [ 0, 1, 0x10 ]
    args:
      - index: 0
        type_name: 'long;8'
      - index: 1
    nothing:
plain:
- one
- two
...
"""
    assert parse_yaml(text) == {
        "version": "1.73",
        "kernels": [
            {
                "name": "k",
                "env": {"flag": True, "order": [0, 1, 16]},
                "args": [{"index": 0, "type_name": "long;8"}, {"index": 1}],
                "nothing": None,
            }
        ],
        "plain": ["one", "two"],
    }


@pytest.mark.parametrize("text", ["a: 1\n    b: 2\n", "a:\n  nonsense\n", "- a: 1\n"])
def test_other_forms_are_errors(text: str) -> None:
    with pytest.raises(ValueError, match="ze_info"):
        parse_yaml(text)
