"""SPIR-V kept on disk between processes, so that a second run compiles nothing.

One file an entry, named by the compilation's fingerprint. An entry that is damaged, cut short or not what its name
says is ignored and written again. Files appear whole (written aside, then renamed), so any number of processes
can share a folder. A folder that cannot be written is no error: kernels are compiled as if there were none.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from xebench import disk_cache

_MAGIC = b"xebench.dpex SPIR-V 2"
_SPIRV_MAGIC = b"\x03\x02\x23\x07"


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

    def load(self, key: str) -> tuple[str, bytes, bytes] | None:
        """Entry point, SPIR-V and narrowed SPIR-V of a fingerprint, or None if there is no such sound entry."""
        try:
            return _decode(key, self.path(key).read_bytes())
        except (OSError, ValueError):
            return None

    def store(self, key: str, name: str, spirv: bytes, narrow: bytes = b"") -> None:
        """Keep SPIR-V under a fingerprint; a folder or disk that refuses is no error."""
        disk_cache.keep(self.path(key), _encode(key, name, spirv, narrow))


def _encode(key: str, name: str, spirv: bytes, narrow: bytes) -> bytes:
    body = json.dumps({"key": key, "name": name, "bytes": len(spirv)}).encode() + b"\n" + spirv + narrow
    return b"\n".join([_MAGIC, hashlib.sha256(body).hexdigest().encode(), body])


def _decode(key: str, data: bytes) -> tuple[str, bytes, bytes]:
    magic, digest, body = data.split(b"\n", 2)
    if magic != _MAGIC or hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("not a sound entry")
    header, spirv = body.split(b"\n", 1)
    fields = json.loads(header)
    if fields["key"] != key or not spirv.startswith(_SPIRV_MAGIC):
        raise ValueError("not the entry that its name says")
    return str(fields["name"]), spirv[: fields["bytes"]], spirv[fields["bytes"] :]
