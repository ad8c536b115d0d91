"""Compile the project's kernels in OpenCL C for Level Zero: ``python -m tools.compilers.opencl_archive``; needs ocloc.

The same kernels and the same ocloc give the same bytes. Its version is the archive's comment.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from xebench.errors import XebenchError
from xebench.system import runtime

runtime.load()

from tools.compilers.suite_kernels import NotingStore, collect_kernels  # noqa: E402  (after the runtime)
from xebench.dpex import ForeignKernel  # noqa: E402
from xebench.dpex.opencl_modules import foreign_digest  # noqa: E402
from xebench.isa.ocloc import find_compiler  # noqa: E402
from xebench.patterns.registry import BENCHMARKS, builtin_files, read  # noqa: E402
from xebench.system import PACKAGE  # noqa: E402
from xebench.system.offline_compiler import to_spirv  # noqa: E402

ARCHIVE: Final = PACKAGE / "opencl_kernels.zip"

_FIRST_DATE_OF_ZIP: Final = (1980, 1, 1, 0, 0, 0)


def kernels_in_opencl() -> Mapping[str, ForeignKernel]:
    """The suite's kernels in OpenCL C by digest.

    Raises:
        XebenchError: variants fail, so that their kernels are unknown.
    """
    found: dict[str, ForeignKernel] = {}

    def note(kernel: Any, index_space: Any, arguments: Sequence[Any]) -> None:
        if isinstance(kernel, ForeignKernel) and kernel.opencl_c:
            found[foreign_digest(kernel)] = kernel

    failures = list(collect_kernels(NotingStore(note), read(_files()), lambda: len(found)))
    if failures:
        raise XebenchError("; ".join(failures))
    return found


def _files() -> list[Path]:
    """Pattern files that name OpenCL C, or a common module that does."""
    common = [path.stem for path in (BENCHMARKS / "common").glob("*.py") if "opencl_kernel" in path.read_text("utf-8")]
    words = ("opencl_kernel", *common)
    return [file for file in builtin_files() if any(word in file.read_text("utf-8") for word in words)]


def main() -> None:
    """Write the archive."""
    compiler, kernels = find_compiler(), kernels_in_opencl()
    with zipfile.ZipFile(ARCHIVE, "w") as archive:
        archive.comment = f"ocloc {compiler.version}".encode()
        for digest, kernel in sorted(kernels.items()):
            entry = zipfile.ZipInfo(f"{digest}.spv", _FIRST_DATE_OF_ZIP)
            archive.writestr(entry, to_spirv(kernel.opencl_c, kernel.options.source_flags))
    print(f"{ARCHIVE}: {len(kernels)} kernels, {ARCHIVE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    try:
        main()
    except XebenchError as error:
        sys.exit(f"xebench: {error}")
