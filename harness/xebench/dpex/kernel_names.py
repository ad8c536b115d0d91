"""Names of `xebench.dpex.kernel_api` that mean something in kernels only, where none is compiled.

A pattern file can be read with them, and a kernel that uses them is told from others by them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NoReturn

from xebench.dpex.dpex_errors import NeedsCompiler


class AddressSpace(IntEnum):
    """SYCL's address spaces."""

    PRIVATE = 0
    GLOBAL = 1
    CONSTANT = 2
    LOCAL = 3
    GENERIC = 4


class MemoryOrder(IntEnum):
    """SYCL's memory orders."""

    RELAXED = 0
    ACQUIRE = 1
    CONSUME_UNSUPPORTED = 2
    RELEASE = 3
    ACQ_REL = 4
    SEQ_CST = 5


class MemoryScope(IntEnum):
    """SYCL's memory scopes."""

    WORK_ITEM = 0
    SUB_GROUP = 1
    WORK_GROUP = 2
    DEVICE = 3
    SYSTEM = 4


class _Name:
    """A type or function of kernels."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *arguments: Any, **options: Any) -> NoReturn:
        raise NeedsCompiler(f"kernel_api.{self.__name__}")

    def __repr__(self) -> str:
        return f"<kernel_api.{self.__name__}>"


Item, NdItem, Group = _Name("Item"), _Name("NdItem"), _Name("Group")
AtomicRef, PrivateArray = _Name("AtomicRef"), _Name("PrivateArray")
atomic_fence, group_barrier = _Name("atomic_fence"), _Name("group_barrier")
call_kernel = _Name("call_kernel")
