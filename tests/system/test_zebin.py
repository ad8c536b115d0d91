"""Sections and notes of the ELF files that the compiler writes."""

import struct

import isa_kit as kit
import pytest

from xebench.system.zebin import is_zebin, zebin_sections


def test_sections_by_name() -> None:
    data = kit.zebin({".ze_info": b"kernels:", ".text.k": bytes(40)})
    assert is_zebin(data)
    found = zebin_sections(data)
    assert found[".ze_info"] == b"kernels:"
    assert found[".text.k"] == bytes(40)


def test_a_section_without_bytes_in_the_file_is_empty() -> None:
    """As ``.bss`` of a program with variables of its own."""
    data = bytearray(kit.zebin({".bss": b"", ".text.k": bytes(40)}))
    (table,) = struct.unpack_from("<Q", data, 0x28)
    struct.pack_into("<I", data, table + 64 + 4, 8)
    struct.pack_into("<Q", data, table + 64 + 32, 1 << 20)
    assert zebin_sections(bytes(data))[".bss"] == b""


@pytest.mark.parametrize("size", [5, 63, 70, 200])
def test_a_file_that_was_cut_short_is_an_error(size: int) -> None:
    data = kit.zebin({".ze_info": b"kernels:" * 20})
    with pytest.raises(ValueError, match="cut short"):
        zebin_sections(data[:size])


def test_a_format_of_the_old_compiler_is_no_zebin() -> None:
    assert not is_zebin(b"CTNI" + bytes(100))
    with pytest.raises(ValueError, match="not a 64-bit ELF"):
        zebin_sections(b"CTNI" + bytes(100))
