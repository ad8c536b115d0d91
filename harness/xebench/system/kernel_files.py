"""Files of kernels: a pack, which has SPIR-V of many, and a zebin, in which Intel's compiler delivers a GPU program.

A pack is a zip with ``index.json`` and one file a module, each kernel under its key, with what it was made of. The same
kernels give the same bytes: nothing in a pack depends on the time, place or order of its making, and it is not
compressed, since compressors differ. A zebin is an ELF file; only its sections are read.
"""

from __future__ import annotations

import hashlib
import struct
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from xebench.errors import BrokenEnvironment, first_line
from xebench.system import PACKAGE

#: The project's own pack.
OWN_PACK: Final = PACKAGE / "shipped_kernels.zip"
#: What stands for ``.py`` in the name of a pattern file's own pack.
SUFFIX: Final = ".kernels.zip"

#: Compilers of Python kernels, as packages name them; what else a pack's versions name are their parts, and ocloc.
COMPILERS: Final = ("numba-dpex", "xebench")
#: In a pack's versions: Intel's offline compiler, which made the modules of kernels in OpenCL C alone.
OCLOC: Final = "ocloc"

_INDEX = "index.json"
_FIRST_DATE_OF_ZIP = (1980, 1, 1, 0, 0, 0)


class PackedKernel(msgspec.Struct, frozen=True, order=True):
    """One kernel for one signature.

    Attributes:
        kernel: its name in the SPIR-V.
        origin: the file that it is in, below the project's folder.
        signature: index space and argument types.
        atomic64: whether it is for devices with 64-bit atomics.
        options: its options for the compilers, as JSON.
        source: `xebench.dpex.shipped.source_digest`.
        key: `xebench.dpex.shipped.shipped_key`.
        spirv: SHA-256 of the module.
        narrow: of the module with index arithmetic in 32 bits; "" where there is none.
        limit: of the launches that may take that one.
    """

    kernel: str
    origin: str
    signature: str
    atomic64: bool
    options: str
    source: str
    key: str
    spirv: str
    narrow: str = ""
    limit: int = 0


class Index(msgspec.Struct, frozen=True):
    """The index of a pack.

    Attributes:
        versions: of what made it, by package.
        kernels: sorted.
    """

    versions: Mapping[str, str]
    kernels: tuple[PackedKernel, ...]


@dataclass(frozen=True)
class Pack:
    """A pack on disk."""

    path: Path
    index: Index

    @classmethod
    def open(cls, path: Path) -> Pack:
        """Read a pack's index.

        Raises:
            BrokenEnvironment: it is damaged.
            OSError: there is none, or it cannot be opened.
        """
        content = path.open("rb")
        try:
            with content, zipfile.ZipFile(content) as file:
                return cls(path, msgspec.json.decode(file.read(_INDEX), type=Index))
        except Exception as error:  # whatever zipfile and its decoders raise of a bit that was flipped
            raise _damaged(path, error) from error

    def module(self, digest: str) -> bytes:
        """A module by its SHA-256; nothing for "".

        Raises:
            BrokenEnvironment: it is damaged.
        """
        if not digest:
            return b""
        try:
            with zipfile.ZipFile(self.path) as file:
                module = file.read(_member(digest))
        except Exception as error:
            raise _damaged(self.path, error) from error
        if hashlib.sha256(module).hexdigest() != digest:
            raise _damaged(self.path, ValueError(digest))
        return module


def _damaged(path: Path, error: Exception) -> BrokenEnvironment:
    return BrokenEnvironment(f"{path} is damaged ({first_line(error)}): install xebench again, or run make pack")


def compiler_label(versions: Mapping[str, str]) -> str:
    """The compiler of Python kernels, in words: ``numba-dpex 0.23.0 (llvmlite 0.42.0, numba 0.59.1)``.

    Args:
        versions: by package, as a pack's index has them.
    """
    whole = [f"{name} {versions[name]}" for name in COMPILERS if name in versions]
    parts = [f"{name} {version}" for name, version in sorted(versions.items()) if name not in (*COMPILERS, OCLOC)]
    return f"{', '.join(whole)} ({', '.join(parts)})"


def pack_beside(file: Path) -> Path:
    """The path of a pattern file's pack."""
    return file.with_name(file.stem + SUFFIX)


def write_pack(path: Path, versions: Mapping[str, str], kernels: Iterable[tuple[PackedKernel, bytes, bytes]]) -> None:
    """Write a pack.

    Args:
        path: of the file, which is replaced.
        versions: of what made it.
        kernels: each with its module, and that with narrowed indices.
    """
    packed = list(kernels)
    index = Index(dict(sorted(versions.items())), tuple(sorted(kernel for kernel, *_ in packed)))
    members = {_member(kernel.spirv): module for kernel, module, _ in packed}
    members |= {_member(kernel.narrow): narrow for kernel, _, narrow in packed if narrow}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        _add(file, _INDEX, msgspec.json.format(msgspec.json.encode(index), indent=1) + b"\n")
        for name, module in sorted(members.items()):
            _add(file, name, module)


def _member(digest: str) -> str:
    return f"{digest}.spv"


def _add(file: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _FIRST_DATE_OF_ZIP)
    info.create_system, info.external_attr = 3, 0o644 << 16
    file.writestr(info, data)


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
