"""Compilations kept on disk, so that the same SPIR-V is compiled once per compiler, GPU and options.

An entry is what the compiler left, not what was read from it: a better reader needs no new compilation. Damaged
entries are ignored and written again; a folder that cannot be written is no error.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import msgspec

from xebench.isa.compilation import Compiled, Compiler, Source, Target
from xebench.system import disk_cache

_FORMAT = 2
# made before there are threads: msgspec dies where two of them are the first to use a type
_DECODER = msgspec.json.Decoder(Compiled)


class CompileCache:
    """A folder of compilations.

    Attributes:
        folder: made when the first one is stored.
        renew: whether everything is compiled again, in place of what is kept.
    """

    def __init__(self, folder: Path | str | None = None, *, renew: bool = False) -> None:
        self.renew = renew
        self.folder = Path(folder) if folder is not None else disk_cache.default_folder("isa")

    def path(self, compiler: Compiler, source: Source, target: Target) -> Path:
        """The file of a compilation; its name depends on everything that the result depends on."""
        about = (source.sha256, source.language, target.device, target.options, target.forced_simd)
        text = json.dumps([_FORMAT, compiler.version, compiler.igc, *about])
        return self.folder / f"{sha256(text.encode()).hexdigest()}.json.gz"

    def load(self, compiler: Compiler, source: Source, target: Target) -> Compiled | None:
        """The kept result of a compilation, or None."""
        if self.renew:
            return None
        try:
            content = gzip.decompress(self.path(compiler, source, target).read_bytes())
            return _DECODER.decode(content)
        except (OSError, EOFError, zlib.error, ValueError, RecursionError):
            return None

    def store(self, compiler: Compiler, source: Source, target: Target, compiled: Compiled) -> None:
        """Keep a compilation that succeeded; what failed may have lacked time, memory or disk."""
        if compiled.status != "ok":
            return
        read_again = replace(compiled, binary=b"")  # who wants the binary compiles
        data = gzip.compress(msgspec.json.encode(read_again), mtime=0)
        disk_cache.keep(self.path(compiler, source, target), data)
