"""SPIR-V of OpenCL C by Intel's offline compiler ``ocloc``, and how it says that it failed."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from numba_sycl.errors import UserError

TIMEOUT_S: Final = 180.0
UNKNOWN_GPU: Final = "this ocloc does not know the GPU"
#: A GPU with doubles and matrix engines: what the front end takes depends on the device.
_RICHEST: Final = "pvc"


class NoCompiler(UserError):
    """There is no ocloc here, or it does not work."""

    exit_code = 3


def to_spirv(text: str, options: Sequence[str]) -> bytes:
    """The SPIR-V of OpenCL C by the ocloc on the path; the same for every GPU whose features it keeps to.

    Args:
        text: OpenCL C.
        options: flags of its compiler.

    Raises:
        NoCompiler: there is no ocloc, or it gives no answer.
        ValueError: it does not take the text; the message is the compiler's first.
    """
    ocloc = shutil.which("ocloc")
    if ocloc is None:
        raise NoCompiler("ocloc is not on the path: install it (Debian: intel-opencl-icd or intel-ocloc)")
    with tempfile.TemporaryDirectory(prefix="numba-sycl-ocloc-") as name:
        folder = Path(name)
        (folder / "kernel.cl").write_text(text, encoding="utf-8")
        call = [ocloc, "compile", "-file", "kernel.cl", "-spv_only", "-device", _RICHEST]
        try:
            run = _run([*call, "-out_dir", "out", "-options", " ".join(options)], folder)
        except subprocess.TimeoutExpired:
            raise NoCompiler(f"ocloc gives no SPIR-V within {TIMEOUT_S:g} s") from None
        modules = list((folder / "out").glob("*.spv"))
        if run.returncode or len(modules) != 1:
            raise ValueError(first_error(run))
        return modules[0].read_bytes()


def _run(call: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with standard error in its standard output."""
    return subprocess.run(
        call,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=TIMEOUT_S,
        check=False,
    )


def first_error(run: subprocess.CompletedProcess[str]) -> str:
    """The most useful line of a run that failed, without the echo of the command."""
    unknown = re.search(r"Cannot get HW Info for device (\S+?)\.?\s", run.stdout)
    if unknown:
        return f"{UNKNOWN_GPU} {unknown[1]}"
    lines = [line.strip() for line in run.stdout.splitlines() if line.strip() and not line.startswith("Command was")]
    for word in ("internal compiler error", "error: ", "error"):
        telling = [line for line in lines if word in line.lower() and "build failed" not in line.lower()]
        if telling:
            return re.sub(r"^[\d:]*\s*", "", telling[0])[:200]
    if run.returncode < 0:
        return f"ended by {signal.Signals(-run.returncode).name}"
    return lines[-1][:200] if lines else f"exit status {run.returncode}"
