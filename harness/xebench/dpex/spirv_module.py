"""Properties of kernels in a SPIR-V module: their names, the sub-group and work-group sizes that they require.

And a module without its facts for optimizers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_MAGIC: Final = 0x07230203
_HEADER_WORDS: Final = 5
_OP_ENTRY_POINT, _OP_EXECUTION_MODE = 15, 16
_KERNEL_MODEL: Final = 6
_LOCAL_SIZE, _SUBGROUP_SIZE = 17, 35
# SPV_KHR_expect_assume
_OP_EXTENSION, _OP_CAPABILITY, _OP_ASSUME_TRUE = 10, 17, 5630
_EXPECT_ASSUME: Final = 5629


@dataclass(frozen=True)
class EntryPoint:
    """A kernel of a module; sizes are None where it requires none, extents have dimension 0 first."""

    name: str
    sub_group_size: int | None
    work_group_size: tuple[int, ...] | None


def entry_points(module: bytes) -> list[EntryPoint]:
    """The kernels of a module, in its order.

    Raises:
        ValueError: it is no SPIR-V, or cut short.
    """
    names: dict[int, str] = {}
    sub_groups: dict[int, int] = {}
    work_groups: dict[int, tuple[int, ...]] = {}
    for code, words in _instructions(module):
        if code == _OP_ENTRY_POINT and words[0] == _KERNEL_MODEL:
            names[words[1]] = struct.pack(f"<{len(words) - 2}I", *words[2:]).partition(b"\0")[0].decode()
        elif code == _OP_EXECUTION_MODE and words[1] == _SUBGROUP_SIZE:
            sub_groups[words[0]] = words[2]
        elif code == _OP_EXECUTION_MODE and words[1] == _LOCAL_SIZE:
            work_groups[words[0]] = tuple(words[2:5])
    return [EntryPoint(name, sub_groups.get(of), work_groups.get(of)) for of, name in names.items()]


def without_assumptions(module: bytes) -> bytes:
    """The module without its facts for optimizers (``SPV_KHR_expect_assume``), which not every driver takes."""
    kept = [module[: 4 * _HEADER_WORDS]]
    for code, words in _instructions(module):
        data = struct.pack(f"<{len(words)}I", *words)
        of_facts = code == _OP_EXTENSION and data.rstrip(b"\0") == b"SPV_KHR_expect_assume"
        of_facts |= (code == _OP_CAPABILITY and words == (_EXPECT_ASSUME,)) or code == _OP_ASSUME_TRUE
        if not of_facts:
            kept += [struct.pack("<I", code | (len(words) + 1) << 16), data]
    return b"".join(kept)


def _instructions(module: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    if len(module) % 4 or len(module) < 4 * _HEADER_WORDS or struct.unpack_from("<I", module)[0] != _MAGIC:
        raise ValueError("no SPIR-V of this machine's byte order")
    words = struct.unpack(f"<{len(module) // 4}I", module)
    at = _HEADER_WORDS
    while at < len(words):
        code, length = words[at] & 0xFFFF, words[at] >> 16
        if length == 0 or at + length > len(words):
            raise ValueError("SPIR-V that is cut short")
        yield code, words[at + 1 : at + length]
        at += length
