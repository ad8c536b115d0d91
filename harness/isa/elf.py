"""The sections of a zebin, the ELF file in which Intel's compiler delivers a GPU program."""

from __future__ import annotations

import struct
from collections.abc import Iterator

# Notes of .note.intelgt.compat (owner IntelGT) that identify who made the file for what.
_PRODUCT_FAMILY = 1
_ZEBIN_VERSION = 4


def is_zebin(data: bytes) -> bool:
    """Whether ``data`` is a 64-bit ELF file; old compilers also know a format of their own."""
    return data[:5] == b"\x7fELF\x02"


def sections(data: bytes) -> dict[str, bytes]:
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
    names = _content(data, headers[names_at])
    return {_text_at(names, header[0]): _content(data, header) for header in headers[1:]}


def _content(data: bytes, header: tuple[int, ...]) -> bytes:
    offset, size = header[4], header[5]
    if offset + size > len(data):
        raise ValueError("the ELF file is cut short")
    return data[offset : offset + size]


def _text_at(names: bytes, offset: int) -> str:
    return names[offset : names.index(b"\0", offset)].decode()


def identity(found: dict[str, bytes]) -> dict[str, str]:
    """Who a zebin was made for, from its notes: ``product_family`` and ``zebin_version``, where they are given."""
    values = dict(_notes(found.get(".note.intelgt.compat", b"")))
    known = {}
    if _PRODUCT_FAMILY in values:
        known["product_family"] = f"0x{int.from_bytes(values[_PRODUCT_FAMILY], 'little'):x}"
    if _ZEBIN_VERSION in values:
        known["zebin_version"] = values[_ZEBIN_VERSION].rstrip(b"\0").decode()
    return known


def _notes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and description of each ELF note; names and descriptions are padded to four bytes."""
    at = 0
    while at + 12 <= len(data):
        name_size, size, kind = struct.unpack_from("<III", data, at)
        at += 12 + _padded(name_size)
        yield kind, data[at : at + size]
        at += _padded(size)


def _padded(size: int) -> int:
    return (size + 3) & ~3
