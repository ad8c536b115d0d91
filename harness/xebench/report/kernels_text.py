"""The contents of a pack of kernels, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

import msgspec
from rich.table import Table

from xebench.report.console import draw, plain_table, terminal_width
from xebench.system.kernel_pack import Index, PackedKernel

ROWS: Final = "kernels"
SHOWN: Final = ("origin", "kernel", "signature", "options", "source", "spirv")

#: Digits of a digest that tell it from others.
_DIGITS = 12


def as_json(index: Index) -> str:
    """The index as the pack has it."""
    return msgspec.json.format(msgspec.json.encode(index), indent=2).decode()


def as_text(index: Index) -> str:
    """The kernels of each file, with their signatures, options and digests."""
    return draw(_parts(index), terminal_width(120, 160))


def _parts(index: Index) -> Iterator[str | Table]:
    by_origin = sorted(index.kernels, key=lambda kernel: kernel.origin)
    for origin, kernels in groupby(by_origin, key=lambda kernel: kernel.origin):
        yield origin
        table = plain_table()
        for heading in ("  kernel", "signature", "options", "source", "SPIR-V"):
            table.add_column(heading, overflow="fold")
        # most are there twice: for devices with 64-bit atomics and for those without
        for row in dict.fromkeys(map(_row, kernels)):
            table.add_row(*row)
        yield table
    modules = len({kernel.spirv for kernel in index.kernels})
    versions = ", ".join(f"{name} {version}" for name, version in index.versions.items())
    yield f"{len(index.kernels)} kernels, {modules} modules, made by {versions}"


def _row(kernel: PackedKernel) -> tuple[str, ...]:
    options = "" if kernel.options == "{}" else kernel.options
    return f"  {kernel.kernel}", kernel.signature, options, kernel.source[:_DIGITS], kernel.spirv[:_DIGITS]
