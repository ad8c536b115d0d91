"""Errors: each names the kernel, the cause and, where there is one, the next step, on one line."""

from __future__ import annotations

from collections.abc import Iterable


class UserError(Exception):
    """The root of the errors that a user can cause: one line; ``exit_code`` is the exit status of a command."""

    exit_code = 2


class BrokenEnvironment(UserError):
    """The packages or the SYCL runtime of this environment cannot work together."""

    exit_code = 3


class Unsupported(UserError):
    """The device lacks what a case needs."""


class Refused(UserError):
    """The device, or its driver, refuses a problem or a command."""


def suggestion(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """The next step after an unknown name: similar names, or else advice on where to find names.

    Args:
        word: name that the user wrote.
        known: valid names.
        otherwise: advice if no valid name is similar; by default the list of valid names.
    """
    from difflib import get_close_matches  # imported here: it takes 1 ms

    names = sorted(set(known))
    similar = get_close_matches(word, names) or get_close_matches(word.lower(), names)
    if similar:
        return f"did you mean {' or '.join(similar)}?"
    return otherwise or f"known are {', '.join(names) or 'none'}"


class KernelError(Exception):
    """The root of the errors of kernels."""


class NotSimulated(KernelError, NotImplementedError):
    """A function that needs several work-items at once was called in plain Python."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"{function} needs the other work-items of its group, and kernel_api.call_kernel runs them one "
            "by one: launch the kernel on a SYCL device (a CPU device will do)"
        )


class KernelOnly(KernelError, NotImplementedError):
    """The host called something that only kernels can do."""


class NotOffered(KernelError, NotImplementedError):
    """A program uses a part of numba-dpex that this package does not have."""


class KernelCompileError(KernelError, RuntimeError):
    """The Python function cannot be turned into SPIR-V; a note shows the source line between its neighbours.

    The compiler's own error is ``__context__``, which tracebacks do not show.

    Attributes:
        kernel: name of the kernel's Python function.
        location: ``file:line`` of the offending source line, or of the kernel if that is not known.
        reason: one line.
    """

    def __init__(self, kernel: str, location: str, reason: str) -> None:
        super().__init__(f"kernel {kernel} ({location}) does not compile: {reason}")
        self.add_note(self._excerpt(location))
        self.kernel = kernel
        self.location = location
        self.reason = reason

    @staticmethod
    def _excerpt(location: str) -> str:
        """The line at ``file:line``, marked, between the one before and the one after it."""
        file, _, line = location.rpartition(":")
        import linecache  # commands that compile nothing read this module

        at = int(line) if line.isdigit() else 1
        numbers = range(max(at - 1, 1), at + 2)
        return "\n".join(f"{'>' if n == at else ' '} {n:4} {linecache.getline(file, n).rstrip()}" for n in numbers)


class KernelBuildError(KernelError, RuntimeError):
    """The device's own compiler refused the SPIR-V.

    Attributes:
        kernel: name of the kernel's Python function.
        device: name of the device.
        reason: the driver's words, or that it gave none.
    """

    def __init__(self, kernel: str, device: str, reason: str) -> None:
        super().__init__(f"kernel {kernel} does not build for {device}: {reason}")
        self.kernel = kernel
        self.device = device
        self.reason = reason


class UnsupportedByDevice(KernelError, Unsupported, RuntimeError):
    """The device lacks what the kernel or the launch needs (sub-group size, work-group size, local memory)."""


class WidthsDiffer(KernelError, RuntimeError):
    """A kernel's two modules leave different bytes in an array (``NUMBA_SYCL_NARROW=check``)."""


class SubmissionError(KernelError, RuntimeError):
    """The runtime refused a command, or would: a kernel was built for another context than its queue's."""


class CommandRefused(KernelError, Refused, RuntimeError):
    """The driver has given up a command that the runtime had taken, so its results are not there."""


class IndexSpaceError(KernelError, ValueError):
    """The index space does not fit the kernel: dimensions, divisibility, required work-group size."""


class ExtentError(IndexSpaceError, TypeError):
    """An extent of an index space is no whole number."""


class ArgumentError(KernelError, TypeError):
    """An argument does not fit the kernel: count, kind, dtype, layout or the context that its memory lives in."""


class OptionError(KernelError, ValueError):
    """A kernel option has a value that means nothing."""


class TextSignature(OptionError, NotImplementedError):
    """A decorator was given signatures as text."""


class ProfilingUnavailable(KernelError, RuntimeError):
    """The event carries no times: its queue was made without ``enable_profiling``, or the driver gives none."""
