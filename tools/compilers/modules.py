"""Compile every Python kernel of the suite into a folder: ``python -m tools.compilers.modules FOLDER``.

The folder has a file for each module and each narrowed one, and ``kernels.json``. Folders of the same compiler are
equal byte for byte, whatever Python made them (docs/compiler.md).
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from numba_sycl.identity import Identity

INDEX: Final = "kernels.json"


class Module(msgspec.Struct, frozen=True):
    """A kernel for one signature, and its module ``KEY.spv``; ``KEY.narrow.spv`` has indices in 32 bits.

    Attributes:
        key: `source_key`, the same for every compiler.
        kernel: name in the module.
        origin: file of the kernel, below the project's folder.
        signature: index space and argument types.
        options: those of the kernel, as JSON.
    """

    key: str
    kernel: str
    origin: str
    signature: str
    options: str


class Index(msgspec.Struct, frozen=True):
    """The content of ``kernels.json``.

    Attributes:
        versions: those of the compiler, by package.
        kernels: sorted by file.
    """

    versions: Mapping[str, str]
    kernels: Sequence[Module]


def read_index(folder: Path) -> Index:
    """The index of a folder."""
    return msgspec.json.decode((folder / INDEX).read_bytes(), type=Index)


class _OfSource(Identity):
    """Text in the place of code, which differs between versions of Python."""

    def add_code(self, function: Any) -> None:
        self._token("source", textwrap.dedent(inspect.getsource(function)))


def source_key(kernel: Any, signature: Any) -> str:
    """The identity of a kernel's source text for a signature, hexadecimal.

    Raises:
        UnknownIdentity: it has none.
    """
    identity = _OfSource()
    identity.add(kernel)
    return hashlib.sha256(f"{identity.hexdigest()} {signature!r}".encode()).hexdigest()


def compile_suite(folder: Path) -> list[str]:
    """Compile the kernels; return a line for each variant that fails."""
    from xebench.system import runtime

    runtime.load()
    from numba_sycl import options_of
    from numba_sycl.compiler import compile_for
    from numba_sycl.signature import signature_of
    from numba_sycl.stacks import compiler_versions
    from tools.compilers.suite_kernels import NotingStore, collect_kernels
    from xebench.dpex import ForeignKernel
    from xebench.patterns.registry import builtin_files, portable_source, read

    found: dict[str, Module] = {}

    def note(kernel: Any, index_space: Any, arguments: Sequence[Any]) -> None:
        if isinstance(kernel, ForeignKernel):
            return
        signature = signature_of(kernel, index_space, arguments)
        key = source_key(kernel, signature)
        if key in found:
            return
        compiled = compile_for(kernel, signature, None)
        (folder / f"{key}.spv").write_bytes(compiled.spirv)
        if compiled.narrow:
            (folder / f"{key}.narrow.spv").write_bytes(compiled.narrow)
        origin = portable_source(kernel.py_func.__code__.co_filename)
        found[key] = Module(key, compiled.name, origin, str(signature), options_of(kernel).text())

    folder.mkdir(parents=True)
    failures = list(collect_kernels(NotingStore(note), read(builtin_files()), lambda: len(found)))
    kernels = sorted(
        found.values(), key=lambda each: (each.origin, each.kernel, each.signature, each.options, each.key)
    )
    index = Index(compiler_versions(), kernels)
    (folder / INDEX).write_bytes(msgspec.json.format(msgspec.json.encode(index), indent=1))
    print(f"{folder}: {len(found)} kernels")
    return failures


if __name__ == "__main__":
    sys.exit("\n".join(compile_suite(Path(sys.argv[1]))) or None)
