"""Zebins: ELF files in which Intel's compiler delivers a GPU program; only their sections are read."""

from __future__ import annotations

import struct
from typing import Final

#: Type of a section that has no bytes in the file, such as ``.bss`` with a program's own variables.
_NOBITS: Final = 8


def is_zebin(data: bytes) -> bool:
    """True if ``data`` is a 64-bit ELF file; old compilers also have a format of their own."""
    return data[:5] == b"\x7fELF\x02"


def zebin_sections(data: bytes) -> dict[str, bytes]:
    """Contents of an ELF file's sections by name.

    Raises:
        ValueError: this is no 64-bit ELF file, or it is cut short.
    """
    if not is_zebin(data):
        raise ValueError("not a 64-bit ELF file")
    try:
        (table,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQ", data, table + number * size) for number in range(count)]
    except struct.error as error:
        raise ValueError("the ELF file is cut short") from error
    names = _bytes_of(data, headers[names_at])
    return {names[at : names.index(b"\0", at)].decode(): _bytes_of(data, (at, *rest)) for at, *rest in headers[1:]}


def _bytes_of(data: bytes, header: tuple[int, ...]) -> bytes:
    offset, size = header[4], 0 if header[1] == _NOBITS else header[5]
    if offset + size > len(data):
        raise ValueError("the ELF file is cut short")
    return data[offset : offset + size]
