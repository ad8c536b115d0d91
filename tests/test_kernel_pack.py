"""A pack of kernels: the same bytes for the same kernels, and nothing damaged is taken for sound."""

from __future__ import annotations

import hashlib
import random
import zipfile
from pathlib import Path

import pytest

from xebench.errors import BrokenEnvironment
from xebench.system.kernel_files import Pack, PackedKernel, pack_beside, write_pack

VERSIONS = {"numba": "0.59.1", "llvmlite": "0.42.0"}


def packed(name: str, module: bytes, narrow: bytes = b"") -> tuple[PackedKernel, bytes, bytes]:
    kernel = PackedKernel(
        kernel=name,
        origin="benchmarks/slm/a.py",
        signature="(Item<1>)",
        atomic64=True,
        options="{}",
        source="5" * 64,
        key=name * 64,
        spirv=hashlib.sha256(module).hexdigest(),
        narrow=hashlib.sha256(narrow).hexdigest() if narrow else "",
    )
    return kernel, module, narrow


A, B, C = packed("a", b"one" * 99), packed("b", b"two" * 99, b"narrow" * 33), packed("c", b"one" * 99)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_pack(tmp_path / "p.zip", VERSIONS, [A, B, C])
    pack = Pack.open(tmp_path / "p.zip")
    assert pack.index.kernels == (A[0], B[0], C[0])
    assert pack.index.versions == VERSIONS
    for kernel, module, narrow in (A, B, C):
        assert (pack.module(kernel.spirv), pack.module(kernel.narrow)) == (module, narrow)
    with zipfile.ZipFile(tmp_path / "p.zip") as file:
        assert len(file.namelist()) == 4  # the index, and each module once


def test_the_same_kernels_are_the_same_bytes(tmp_path: Path) -> None:
    write_pack(tmp_path / "one.zip", VERSIONS, [A, B, C])
    write_pack(tmp_path / "other.zip", dict(reversed(VERSIONS.items())), [C, B, A])
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()


def test_a_damaged_pack_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    path.write_bytes(b"no zip")
    with pytest.raises(BrokenEnvironment, match="p.zip is damaged") as caught:
        Pack.open(path)
    assert "\n" not in str(caught.value)
    write_pack(path, VERSIONS, [(A[0], b"another module", b"")])
    with pytest.raises(BrokenEnvironment, match="is damaged"):
        Pack.open(path).module(A[0].spirv)


def test_no_flipped_bit_gives_another_module(tmp_path: Path) -> None:
    path, source = tmp_path / "p.zip", random.Random(1)
    write_pack(path, VERSIONS, [A, B])
    whole, told = path.read_bytes(), 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[source.randrange(len(whole))] ^= 1 << source.randrange(8)
        path.write_bytes(damaged)
        try:
            pack = Pack.open(path)
            assert [pack.module(kernel.spirv) for kernel in (A[0], B[0])] == [A[1], B[1]]
        except BrokenEnvironment as error:
            told += 1
            assert "is damaged" in str(error) and "\n" not in str(error)
    assert told > 100


def test_where_there_is_none_the_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Pack.open(tmp_path / "nothing.zip")


def test_the_pack_of_a_pattern_file_is_beside_it() -> None:
    assert pack_beside(Path("/home/me/my_pattern.py")) == Path("/home/me/my_pattern.kernels.zip")
