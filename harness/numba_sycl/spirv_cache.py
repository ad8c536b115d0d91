"""SPIR-V kept on disk between processes, by the versions of what made it, so that a second run compiles nothing.

One file an entry, named by the compilation's fingerprint. An entry that is damaged, cut short or not what its name
says is ignored and written again. Files appear whole (written aside, then renamed), so any number of processes
can share a folder. A folder that cannot be written is no error: kernels are compiled as if there were none.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from numba_sycl import disk_cache
from numba_sycl.kernel_options import options_of
from numba_sycl.signature import CompiledKernel, Signature
from numba_sycl.stacks import installed_version

_version = lru_cache(installed_version)  # each takes a millisecond


@lru_cache
def toolchain(*packages: str, adapter: Path | None = None) -> str:
    """Versions of Python and of packages, and a hash of this package's own source.

    Args:
        packages: packages that decide what a kernel becomes.
        adapter: folder of an adapter of another compiler, whose source decides too.
    """
    own = hashlib.sha256()
    for folder in filter(None, (Path(__file__).parent, adapter)):
        for path in sorted(folder.rglob("*.py")):
            own.update(path.read_bytes())
    versions = [f"{name} {_version(name)}" for name in packages]
    return "; ".join([f"python {sys.version}", *versions, f"numba_sycl {own.hexdigest()}"])


_MAGIC = b"numba-sycl SPIR-V 1"

_SPIRV_MAGIC = b"\x03\x02\x23\x07"


class CachedSpirv(NamedTuple):
    """The kept parts of a kernel: its entry point, SPIR-V, narrowed SPIR-V and the limit of that."""

    name: str
    spirv: bytes
    narrow: bytes = b""
    limit: int = 0


class SpirvCache:
    """A folder of compiled kernels.

    Attributes:
        folder: made when the first kernel is stored.
    """

    def __init__(self, folder: Path | str | None = None) -> None:
        self.folder = Path(folder) if folder is not None else disk_cache.default_folder("spirv")

    def path(self, key: str) -> Path:
        """The file of an entry."""
        return self.folder / f"{key}.spv"

    def load(self, key: str) -> CachedSpirv | None:
        """The kernel under a fingerprint, or None without a sound entry."""
        try:
            return _decode(key, self.path(key).read_bytes())
        except (OSError, ValueError):
            return None

    def store(self, key: str, entry: CachedSpirv) -> None:
        """Keep it under a fingerprint; a folder or disk that refuses is no error."""
        disk_cache.keep(self.path(key), _encode(key, entry))


def kept_or_compiled(
    kernel: Any,
    signature: Signature,
    cache: SpirvCache | None,
    fingerprint: Callable[[Any, Signature], str | None],
    compile_kernel: Callable[[Any, Signature], CompiledKernel],
    compiler: str,
) -> CompiledKernel:
    """The kernel in a cache, or else the compiler's, which the cache then keeps.

    Args:
        kernel: kernel in Python.
        signature: index space and argument types to compile for.
        cache: cache to read and fill; None to compile always.
        fingerprint: the key of the entry; None if there is none.
        compile_kernel: the compiler.
        compiler: name of the compiler (`this_compiler`).
    """
    started = time.perf_counter_ns()
    key = fingerprint(kernel, signature) if cache else None
    if cache is None or key is None:
        return compile_kernel(kernel, signature)
    if stored := cache.load(key):
        stages = {"typing": time.perf_counter_ns() - started}
        options = options_of(kernel)
        return CompiledKernel(
            stored.name,
            stored.spirv,
            options,
            signature,
            stages,
            cached=True,
            compiler=compiler,
            narrow=stored.narrow,
            limit=stored.limit,
        )
    compiled = compile_kernel(kernel, signature)
    cache.store(key, CachedSpirv(compiled.name, compiled.spirv, compiled.narrow, compiled.limit))
    return compiled


def _encode(key: str, entry: CachedSpirv) -> bytes:
    header = json.dumps({"key": key, "name": entry.name, "bytes": len(entry.spirv), "limit": entry.limit}).encode()
    body = header + b"\n" + entry.spirv + entry.narrow
    return b"\n".join([_MAGIC, hashlib.sha256(body).hexdigest().encode(), body])


def _decode(key: str, data: bytes) -> CachedSpirv:
    magic, digest, body = data.split(b"\n", 2)
    if magic != _MAGIC or hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("not a sound entry")
    header, spirv = body.split(b"\n", 1)
    fields = json.loads(header)
    if fields["key"] != key or not spirv.startswith(_SPIRV_MAGIC):
        raise ValueError("not the entry that its name says")
    return CachedSpirv(str(fields["name"]), spirv[: fields["bytes"]], spirv[fields["bytes"] :], int(fields["limit"]))
