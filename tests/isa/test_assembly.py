"""Instructions of the fixtures, which both generations of the compiler made of kernels of ours."""

import re

import isa_kit as kit
import pytest

from xebench.isa.assembly import CLASSES, read_assembly

GENERATIONS = ("igc1", "igc2")


def listing(*lines: str, platform: str = "PVCXT") -> str:
    return "\n".join([f"//.kernel k\n//.platform {platform}\n//.thread_config numGRF=256, numAcc=4\n", *lines])


def classes(*lines: str, platform: str = "PVCXT") -> list[str]:
    return [i.kind for i in read_assembly(listing(*lines, platform=platform)).instructions]


@pytest.mark.parametrize("name", kit.ALL)
def test_every_instruction_that_the_compiler_counts_is_read(name: str) -> None:
    text = kit.text(f"{name}.asm")
    (counted,) = map(int, re.findall(r"^//\.instCount (\d+)", text, re.MULTILINE))
    after_the_end = [line for line in text[text.rindex("EOT") :].splitlines()[1:] if re.match(r"\(W\)|\s+nop", line)]
    assert len(read_assembly(text).instructions) == counted - len(after_the_end)


@pytest.mark.parametrize("name", kit.ALL)
def test_classes_partition_the_instructions(name: str) -> None:
    assembly = kit.code(name).assembly
    assert set(assembly.by_class) == set(CLASSES)
    assert sum(assembly.by_class.values()) == len(assembly.instructions)
    assert assembly.by_class["send"] == len(assembly.messages)
    assert assembly.count("end") == 1


@pytest.mark.parametrize("name", kit.ALL)
def test_no_message_of_a_kernel_of_ours_is_unknown(name: str) -> None:
    for message in kit.code(name).assembly.messages:
        assert message.kind != "other"
        if message.kind in {"load", "store", "atomic"}:
            assert message.bytes > 0 and message.address_registers > 0 and message.width


@pytest.mark.parametrize("name", kit.ALL)
def test_metadata_and_assembly_agree(name: str) -> None:
    code = kit.code(name)
    assert code.info.name == code.assembly.kernel
    assert code.info.grf_count == code.assembly.grf_count
    assert code.info.barriers == min(1, code.assembly.count("barrier"))


@pytest.mark.parametrize("name", ["igc1/mixture.pvc", "igc2/mixture.pvc", "igc2/mixture.bmg"])
def test_memory_traffic_of_a_gpu_with_32_lanes(name: str) -> None:
    assert kit.code(name).messages == {
        "atomic.global.d32": 1,
        "barrier": 1,
        "end": 1,
        "fence.global": 1,
        "fence.slm": 1,
        "load.global.d32": 1,
        "load.global.d64x2": 1,
        "load.slm.d32": 1,
        "store.global.d32x2": 1,
        "store.slm.d32": 1,
    }


@pytest.mark.parametrize("generation", GENERATIONS)
def test_float_atomics_of_xe_lp_are_a_loop(generation: str) -> None:
    assembly = kit.code(f"{generation}/mixture.tgllp").assembly
    assert assembly.count("atomic", "global") == 4
    # the kernel's own loop, and one of compare and swap
    assert [each.opcode for each in assembly.instructions].count("while") == 2


@pytest.mark.parametrize("generation", GENERATIONS)
def test_64_bits_are_native_on_pvc_and_emulated_on_dg2(generation: str) -> None:
    pvc, dg2 = (kit.code(f"{generation}/mixture.{gpu}").assembly.by_class for gpu in ("pvc", "dg2"))
    assert pvc["int64"] > 5 and dg2["int64"] == 0
    assert dg2["int64_emulation"] > 5 * pvc["int64_emulation"]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_logarithm_is_one_instruction_of_the_math_unit(generation: str) -> None:
    assembly = kit.code(f"{generation}/mixture.pvc").assembly
    assert [each.opcode for each in assembly.instructions if each.kind == "math"] == ["math.log"]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_block_messages(generation: str) -> None:
    pvc, tgllp = (kit.code(f"{generation}/blocks.{gpu}").messages for gpu in ("pvc", "tgllp"))
    assert pvc["load.global.d32x64t"] == 4 and pvc["store.global.d64x64t"] == 2
    assert tgllp["load.global.d32x32t"] == tgllp["store.global.d32x32t"] == 8


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_block_has_one_address_and_lanes_have_one_each(generation: str) -> None:
    blocks, lanes = (kit.code(f"{generation}/{name}.pvc").assembly for name in ("blocks", "mixture"))
    assert blocks.address_registers == 1
    # 32 lanes of 8 bytes in registers of 64
    assert lanes.address_registers == 4


def test_loads_behind_a_store_are_late() -> None:
    def late(order: str) -> int:
        messages = {"L": "load.ugm.d32.a64 (16|M0) r1:1 [r2:2]", "S": "store.ugm.d32.a64 (16|M0) [r2:2] r1:1"}
        return read_assembly(listing(*(messages[each] for each in order))).late_loads

    assert [late(order) for order in ("", "LL", "LLSLLS", "LLLLSS", "SL")] == [0, 0, 2, 0, 1]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_matrix_engine_adds_without_additions(generation: str) -> None:
    assert kit.code(f"{generation}/engine.pvc").assembly.additions == 0
    loop = kit.code(f"{generation}/mixture.tgllp").assembly
    # value += log(value), and the sum that is tried until it fits: twice, for lanes 0 to 15 and 16 to 31
    assert 0 < loop.additions <= loop.by_class["float"]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_matrix_engine(generation: str) -> None:
    assert kit.code(f"{generation}/engine.pvc").assembly.by_class["dpas"] == 1


@pytest.mark.parametrize(("generation", "size", "registers"), [("igc1", 13824, 216), ("igc2", 7296, 114)])
def test_spills(generation: str, size: int, registers: int) -> None:
    code = kit.code(f"{generation}/spills.pvc")
    # the compiler's own warning named this number of registers
    assert (code.spill_bytes, code.spilled_registers) == (size, registers)
    spills = code.assembly.count("store", purpose="spill")
    fills = code.assembly.count("load", purpose="fill")
    assert spills == kit.text(f"{generation}/spills.pvc.asm").count("scratch space spill:")
    assert fills == kit.text(f"{generation}/spills.pvc.asm").count("scratch space fill:")
    assert spills > 0 and fills > 0


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("gpu", ["dg2", "tgllp"])
def test_private_memory(generation: str, gpu: str) -> None:
    assert kit.code(f"{generation}/private.{gpu}").private_bytes == 2048


def test_arithmetic_by_type() -> None:
    assert classes(
        "        mad (32|M0)  r1.0<1>:f  r2.0<1;0>:f  r3.0<1;0>:f  r4.0<1>:f  {F@1} // $1",
        "(W)     add (1|M0)   r1.0<1>:df r2.0<0;1,0>:df r3.0<0;1,0>:df",
        "(f0.0)  sel (16|M0)  r28.0<1>:d r4.2<0;1,0>:w 0:w",
        "        cmp (32|M0)  (gt)f0.0  null<2>:uw r1.0<1;1,0>:uw 0x3F:uw",
        "        add (16|M0)  r10.0<1>:q r52.0<1;1,0>:q r4.6<0;1,0>:q",
        "        mov (16|M0)  r[a0.0]<1>:d r3.0<1;1,0>:d",
        "        bfn.(s0&s1|~s0&s2) (1|M0) r6.0<1>:ud r3.1<0;0>:ud r3.0<0;0>:ud r86.1<0>:ud",
        "        math.inv (16|M0) r1.0<1>:f r2.0<1;1,0>:f",
        "        dpas.8x8 (16|M0) r1:f r2:f r3:bf r4.0:bf",
        "        sync.nop null {Compacted,$1.dst}",
        "(~f0.0) while (16|M0) _0_004",
        "        nop",
    ) == [
        *("float", "float", "int", "int", "int64", "move", "int"),
        *("math", "dpas", "sync", "control", "other"),
    ]


def test_carries_and_high_halves_are_emulation() -> None:
    carry = "        addc (8|M0) r13.0<1>:ud r7.0<0;1,0>:ud r11.0<8;8,1>:ud {AccWrEn,@2}"
    take_it = "        add (8|M0) r15.0<1>:ud acc0.0<8;8,1>:ud r8.0<0;1,0>:ud"
    high = "(W)     mach (1|M0) r8.0<1>:ud r5.0<0;1,0>:ud r2.1<0;1,0>:ud {AccWrEn}"
    plain = "(W)     mach (1|M0) r3.0<1>:d r10.0<0;1,0>:d r2.1<0;1,0>:d {Compacted}"
    assert classes(carry, take_it, high, platform="TGLLP") == ["int64_emulation"] * 3
    # on Xe-LP the lower half of a product is spelled mach, too
    assert classes(plain, platform="TGLLP") == ["int"]
    assert classes(plain, platform="PVCXT") == ["int64_emulation"]


def test_padding_after_the_end_of_the_thread_is_left_out() -> None:
    end = "(W)     send.gtwy (1|M0) null r127 null:0 0x0 0x02000010 {EOT,$12} // wr:1+0, rd:0; end of thread"
    padding = "(W)     mov (16|M0) null<1>:ud 0x4C6BD94:ud"
    assert classes("        nop", end, "L1008:", "        nop", padding) == ["other", "send"]


def test_a_line_that_is_no_instruction_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"line 5 of the assembly.*\?\?\?"):
        classes("??? what is this")


def test_a_file_of_another_origin_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"//\.kernel is missing"):
        read_assembly("mov r1 r2\n")
