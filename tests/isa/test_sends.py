"""Messages as both generations write them, one line of ours each."""

import pytest

from xebench.isa.assembly import SendMessage, is_message, read_message

# opcode, lanes, operands, comment; what it is
LINES = [
    ("load.ugm.d32.a64", 32, "r12:2 [r8:4] {I@1,$3}", "ex_desc:0x0", SendMessage("load", "global", "d32", 128, 4)),
    ("load.ugm.d32x4.a64", 16, "r4:4 [r8:2] {I@1}", "", SendMessage("load", "global", "d32x4", 256, 2)),
    ("load.ugm.d8u32.a64", 16, "r4:1 [r8:2]", "", SendMessage("load", "global", "d8", 16, 2)),
    ("store.ugm.d64x64t.a64", 1, "[r9:1] r17:8 {A@1}", "", SendMessage("store", "global", "d64x64t", 512, 1)),
    ("load.ugm.d32.a32.ca.ca", 16, "r18:2 bti[1][r14:2]", "", SendMessage("load", "global", "d32", 64, 2)),
    ("load.ugm.d32.a32.ca.ca", 16, "r18:1 bss[a0.2][r14:1]", "", SendMessage("load", "global", "d32", 64, 1)),
    ("load.ugm.d64x2.a32.ca.ca", 32, "r5:8 ss[a0.2][r3:2]", "", SendMessage("load", "scratch", "d64x2", 512, 2)),
    ("load.slm.d32.a32", 32, "r30:2 [r28:2] {I@1}", "", SendMessage("load", "slm", "d32", 128, 2)),
    ("atomic_fadd.ugm.d32.a64", 32, "null:0 [r42:4] r46:2", "", SendMessage("atomic", "global", "d32", 128, 4)),
    ("atomic_iadd.slm.d32.a32", 16, "null:0 [r4:1] r6:1", "", SendMessage("atomic", "slm", "d32", 64, 1)),
    (
        "send.dc1",
        16,
        "r13 r11 null 0x0 0x04205E01 {@1,$0}",
        "wr:2+0, rd:2; untyped surface read with x // $9",
        SendMessage("load", "global", "d32", 64, 2),
    ),
    (
        "send.dc1",
        16,
        "null r15 r13 0x80 0x04025CFE {@4}",
        "wr:2+2, rd:0; untyped surface write with xy",
        SendMessage("store", "slm", "d32x2", 128, 2),
    ),
    (
        "send.dc1",
        8,
        "r43 r39 r45 0x80 0x0414AEFF {$9}",
        "wr:2+2, rd:1; untyped a64 atomic int32 integer compare and swap",
        SendMessage("atomic", "global", "d32", 32, 2),
    ),
    (
        "send.dc0",
        8,
        "r1 r127 null 0x0 0x024844FD",
        "wr:1h+0, rd:4; oword aligned block read x8",
        SendMessage("load", "global", "d32x32t", 128, 1),
    ),
    (
        "send.dc0",
        16,
        "null r0 r5:4 0x0 0x020F3000 {$6}",
        "wr:1h+4, rd:0; hword scratch block write x8 //  scratch space spill:  from offset[0x32]",
        SendMessage("store", "scratch", "d32x64t", 256, 1, "spill"),
    ),
    (
        "send.dc0",
        16,
        "r83 r0 null:0 0x0 0x022C200C {$5}",
        "wr:1h+0, rd:2; hword scratch block read x4 //  scratch space fill:  from offset[12x32]",
        SendMessage("load", "scratch", "d32x32t", 128, 1, "fill"),
    ),
    ("send.dc0", 16, "r4 r6 null 0x0 0x04140A00", "byte gathering read 8b", SendMessage("load", "global", "d8", 16)),
    ("send.dc0", 8, "r8 r2 null 0x0 0x0219E0FE", "synchronized SLM fence", SendMessage("fence", "slm")),
    ("send.ugm", 1, "r5 r0 null:0 0x0 0x0210271F", "fence.ugm.invalidate.gpu", SendMessage("fence", "global")),
    ("send.gtwy", 1, "null r6 null:0 0x0 0x02000004", "wr:1+0, rd:0; signal barrier", SendMessage("barrier", "")),
    ("send.gtwy", 1, "null r127 null:0 0x0 0x02000010 {EOT,$12}", "end of thread", SendMessage("end", "")),
    ("send.ts", 8, "null r127 null 0x0 0x02000010 {EOT,@1}", "wr:1+0, rd:0; end of thread", SendMessage("end", "")),
]


@pytest.mark.parametrize(("opcode", "lanes", "operands", "comment", "expected"), LINES)
def test_a_message_is_read(opcode: str, lanes: int, operands: str, comment: str, expected: SendMessage) -> None:
    assert is_message(opcode)
    assert read_message(opcode, lanes, operands, comment) == expected


def test_arguments_are_fetched_in_the_prolog() -> None:
    found = read_message("load.ugm.d32x16t.a32.ca.ca", 1, "r3:1 bti[255][r127:1]", "", in_prolog=True)
    assert (found.space, found.bytes) == ("argument", 64)


def test_a_message_of_unknown_kind_is_other() -> None:
    assert read_message("send.smpl", 16, "r1 r2 null 0x0 0x02106E00", "sample").kind == "other"


def test_labels_join_kind_space_and_width() -> None:
    assert read_message("load.slm.d32x2.a32", 16, "r30:2 [r28:1]", "").label == "load.slm.d32x2"
    assert SendMessage("end", "").label == "end"


@pytest.mark.parametrize("opcode", ["mov", "mad", "sync.nop", "math.log"])
def test_arithmetic_is_no_message(opcode: str) -> None:
    assert not is_message(opcode)
