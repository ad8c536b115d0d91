"""Errors of what xebench adds to `numba_sycl`."""

from __future__ import annotations

from numba_sycl.errors import KernelError, Unsupported


class NeedsCompiler(KernelError, Unsupported, RuntimeError):
    """A feature of numba-dpex alone was used where numba-dpex is not installed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: numba-dpex is needed, which only the pinned environment has")


class NotCompiledAsItIs(KernelError, Unsupported, RuntimeError):
    """A kernel needs more than numba-dpex as it is, by which a run is to compile."""

    def __init__(self, kernel: str, cause: str) -> None:
        super().__init__(f"numba-dpex as it is does not compile kernel {kernel}: {cause}")


class NeedsOcloc(KernelError, Unsupported, RuntimeError):
    """A kernel in OpenCL C is to run on a back end that takes SPIR-V alone, and nothing makes SPIR-V of it here."""

    def __init__(self, kernel: str, backend: str, cause: str) -> None:
        super().__init__(f"kernel {kernel} is in OpenCL C, but {backend} takes SPIR-V only: {cause}")


class NeedsSyclCompiler(KernelError, Unsupported, RuntimeError):
    """A kernel in SYCL C++ is to be compiled, and what compiles it is not here."""

    def __init__(self, kernel: str, cause: str) -> None:
        super().__init__(f"kernel {kernel} is in SYCL C++: {cause}")


class RepairError(KernelError, RuntimeError):
    """A repair of numba-dpex does not fit the installed version."""
