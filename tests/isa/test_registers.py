"""Registers that instructions name, from lines of assembly as both compilers write them."""

from __future__ import annotations

import isa_kit as kit
import pytest

from xebench.isa.assembly import read_assembly
from xebench.isa.kernel_code import registers_named


@pytest.mark.parametrize(
    ("line", "registers"),
    [
        # 16 lanes of 4 bytes are one register of 64 bytes, of 8 bytes two
        ("add (16|M0)  r6.0<1>:d  r8.0<1;1,0>:d  r4.4<0;1,0>:d", 3),
        ("add (16|M0)  r6.0<1>:q  r8.0<1;1,0>:q  r4.4<0;1,0>:q", 5),
        # every second element, and one element for all lanes
        ("mov (16|M0)  r13.0<2>:ud  r3.0<1;1,0>:ud", 3),
        ("mov (16|M0)  r13.0<1>:ud  r3.15<0;1,0>:ud", 2),
        # three sources have regions of one or two numbers
        ("mad (16|M0)  r1.0<1>:f  r2.0<1;0>:f  r3.0<0;0>:f  r4.0<1>:f", 4),
        ("(W) mul (1|M0)  acc0.0<1>:ud  r4.3<0;1,0>:ud  r0.2<0;1,0>:uw", 2),
        ("(W&~f0.0) or (1|M0)  cr0.0<1>:ud  cr0.0<0;1,0>:ud  0x4C0:uw", 0),
        ("load.ugm.d64x4.a64 (16|M0)  r33:8  [r1:2]  {I@1,$3} // ex_desc:0x0; r99", 10),
        ("store.ugm.d32.a32 (16|M0)  bti[1][r5:2]  r8:2", 4),
        ("send.dc0 (16|M0)  r1  r0  null:0  0x0  0x024C31A0 // wr:1h+0, rd:4; hword scratch block read x8", 5),
        ("send.dc1 (16|M0)  null  r5  r8  0x80  0x04025E01 // wr:2+2, rd:0; untyped surface write with x", 4),
        ("send.gtwy (8|M0)  null  r127  null:0  0x0  0x02000010 // wr:1+0, rd:0; end of thread", 1),
        ("sync.nop  null  {Compacted,$2.dst}", 0),
    ],
)
def test_operands_span_registers(line: str, registers: int) -> None:
    assert registers_named(read_assembly(f"//.kernel k\n//.platform PVCXT\n{line}\n"), 64) == registers


def test_the_end_of_a_work_item_is_the_end_of_what_is_counted() -> None:
    lines = ["//.kernel k", "mov (8|M0) r1.0<1>:f r1.0<1;1,0>:f", "send.gtwy (8|M0) null r2 null:0 {EOT}", "mov r9 r8"]
    assert registers_named(read_assembly("\n".join(lines)), 32) == 2


@pytest.mark.parametrize("name", kit.ALL)
def test_no_kernel_uses_more_than_the_file_holds_but_by_spilling(name: str) -> None:
    code = kit.code(name)
    named = code.registers_used - code.spilled_registers
    assert 0 < named <= code.info.grf_count


def test_spilled_registers_are_used_too() -> None:
    assert kit.code("igc2/spills.pvc").registers_used == 128 + 114
