"""The kernels of test modules, so that the current stack launches them too.

In the pinned environment, when kernels of such a module have changed::

    python tests/kits/record_kernels.py tests/dpex/test_launch.py

runs its tests, and writes what they compiled in this process beside it: ``test_launch.kernels.zip``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


def record(file: Path) -> None:
    """Run a module's tests, and write the pack of its kernels."""
    from xebench.system import runtime

    runtime.load()
    from xebench.dpex import compiler
    from xebench.dpex.spirv_cache import compiler_versions
    from xebench.isa.packing import KernelRecorder, OpenCLModules
    from xebench.system.kernel_files import pack_beside, write_pack

    recorder = KernelRecorder(compiler.compile_anew, OpenCLModules(pack_beside(file)).module, only=file)
    compiler.use_source(recorder)
    if status := pytest.main([str(file), "-q", "-p", "no:xdist"]):
        sys.exit(f"{file.name}: its tests fail: nothing is written (status {status:d})")
    write_pack(pack_beside(file), compiler_versions(), recorder.kernels.values())
    print(f"{pack_beside(file).name}: {len(recorder.kernels)} kernels; without {dict(recorder.unknown)}")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        record(Path(argument).resolve())
