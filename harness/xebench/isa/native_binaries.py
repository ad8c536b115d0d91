"""Native binaries of kernels as files, for programs that load them without a compiler."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from xebench.errors import XebenchError
from xebench.isa.table import KernelOnGpu

#: Of a kernel's name in that of its file.
_LONGEST: Final = 60


def write_binaries(kernels: Iterable[KernelOnGpu], folder: Path) -> list[Path]:
    """Write the binaries of those that were compiled, each once; their files, in this order.

    A file is named after kernel and GPU, with a hash of the code and of the options of the GPU's compiler between.

    Args:
        kernels: what the compiler left of them.
        folder: made if there is none.

    Raises:
        XebenchError: it cannot be written.
    """
    binaries = {_file_name(kernel): kernel.binary for kernel in kernels if kernel.status == "ok"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, binary in binaries.items():
            (folder / name).write_bytes(binary)
    except OSError as error:
        raise XebenchError(f"{folder} cannot be written ({error.strerror}): name another with --output") from None
    return [folder / name for name in binaries]


def _file_name(kernel: KernelOnGpu) -> str:
    launch, target = kernel.launch, kernel.target
    told = hashlib.sha256(" ".join((launch.spirv_sha256, *target.options)).encode()).hexdigest()
    return f"{launch.kernel[:_LONGEST]}.{told[:8]}.{target.gpu}.bin"
