"""Facts about the kernels of a SPIR-V module."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from numba_sycl.spirv_module import instructions

_OP_ENTRY_POINT, _OP_EXECUTION_MODE = 15, 16
_KERNEL_MODEL: Final = 6
_LOCAL_SIZE, _SUBGROUP_SIZE = 17, 35
_OP_TYPE_FLOAT = 22
_OP_CONSTANT, _OP_U_CONVERT, _OP_I_MUL, _OP_SHIFT_RIGHT_LOGICAL = 43, 113, 132, 194
#: OpFNegate, OpFAdd, OpFSub, OpFMul, OpFDiv, OpFRem, OpFMod, OpExtInst.
_FLOAT_ARITHMETIC: Final = frozenset((127, 129, 131, 133, 136, 140, 141, 12))


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
    for code, words in instructions(module):
        if code == _OP_ENTRY_POINT and words[0] == _KERNEL_MODEL:
            names[words[1]] = struct.pack(f"<{len(words) - 2}I", *words[2:]).partition(b"\0")[0].decode()
        elif code == _OP_EXECUTION_MODE and words[1] == _SUBGROUP_SIZE:
            sub_groups[words[0]] = words[2]
        elif code == _OP_EXECUTION_MODE and words[1] == _LOCAL_SIZE:
            work_groups[words[0]] = tuple(words[2:5])
    return [EntryPoint(name, sub_groups.get(of), work_groups.get(of)) for of, name in names.items()]


def computes_doubles(module: bytes) -> bool:
    """True if an instruction of a module adds, multiplies, divides or calls a function in double precision."""
    doubles: set[int] = set()
    for code, words in instructions(module):
        if code == _OP_TYPE_FLOAT and words[1] == 64:
            doubles.add(words[0])
        elif code in _FLOAT_ARITHMETIC and words[0] in doubles:
            return True
    return False


def shifts_wide_products(module: bytes) -> bool:
    """True if a product of widened integers is shifted right by less than 32 bits, as no 32-bit product would be.

    numba computes ``uint32 * uint32`` in 64 bits. Code that wants the upper half shifts by 32 or more.
    """
    constants: dict[int, int] = {}
    widened: set[int] = set()
    products: set[int] = set()
    for code, words in instructions(module):
        if code == _OP_CONSTANT:
            constants[words[1]] = words[2]
        elif code == _OP_U_CONVERT:
            widened.add(words[1])
        elif code == _OP_I_MUL and widened & {*words[2:]} and {*words[2:]} <= widened | constants.keys():
            products.add(words[1])
        elif code == _OP_SHIFT_RIGHT_LOGICAL and words[2] in products and constants.get(words[3], 32) < 32:
            return True
    return False
