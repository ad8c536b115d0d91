"""Facts that are read from a module's instructions."""

from __future__ import annotations

import struct

import pytest

from xebench.dpex.spirv_facts import shifts_wide_products


def module(*instructions: tuple[int, ...]) -> bytes:
    words = [0x07230203, 0x00010400, 0, 100, 0]
    for code, *operands in instructions:
        words += [code | (len(operands) + 1) << 16, *operands]
    return struct.pack(f"<{len(words)}I", *words)


CONSTANT, CONVERT, MULTIPLY, SHIFT = 43, 113, 132, 194
WIDE = 1  # a type
PRODUCT = ((CONVERT, WIDE, 10, 2), (CONVERT, WIDE, 11, 3), (MULTIPLY, WIDE, 12, 10, 11))


@pytest.mark.parametrize(
    ("instructions", "found"),
    [
        (((CONSTANT, WIDE, 20, 15, 0), *PRODUCT, (SHIFT, WIDE, 13, 12, 20)), True),
        (((CONSTANT, WIDE, 20, 32, 0), *PRODUCT, (SHIFT, WIDE, 13, 12, 20)), False),  # the upper half is wanted
        (((CONSTANT, WIDE, 20, 15, 0), *PRODUCT), False),
        (((CONSTANT, WIDE, 20, 15, 0), (MULTIPLY, WIDE, 12, 2, 3), (SHIFT, WIDE, 13, 12, 20)), False),
        (((CONSTANT, WIDE, 20, 15, 0), PRODUCT[0], (MULTIPLY, WIDE, 12, 10, 20), (SHIFT, WIDE, 13, 12, 20)), True),
    ],
)
def test_wide_products_that_are_shifted_into_their_lower_half(
    instructions: tuple[tuple[int, ...], ...], found: bool
) -> None:
    assert shifts_wide_products(module(*instructions)) is found
