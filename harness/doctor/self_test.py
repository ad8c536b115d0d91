"""Does a device compute right? Asked before it is used, in a process of its own.

Seen in practice: a CPU driver that did not know its host turned int64 into wrong float32, and a GPU driver
without hardware that reports every kernel as done and runs none.
``python -m harness.doctor.self_test FILTER`` prints JSON: a list of failures.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.children.ask import answer, ask
from harness.runtime.devices import DeviceInfo

TIMEOUT_S = 120.0


@dataclass(frozen=True)
class SelfTest:
    """Result of a device's self-test.

    Attributes:
        device: SYCL filter string.
        failures: what went wrong, one line each; empty if the device computes right.
    """

    device: str
    failures: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the device may be used."""
        return not self.failures

    @property
    def summary(self) -> str:
        """``ok`` or the reasons, as column ``selftest`` of table ``devices`` keeps it."""
        return "; ".join(self.failures) or "ok"


def selftest(device: str | DeviceInfo, timeout_s: float = TIMEOUT_S) -> SelfTest:
    """Test a device in a child process; a crash or a hang is a failure like any other.

    Args:
        device: the device, or its SYCL filter string.
        timeout_s: how long to wait, in seconds; compilers are slow when they run for the first time.
    """
    name = device if isinstance(device, str) else device.device
    tested = ask("harness.doctor.self_test", [name], timeout_s=timeout_s)
    if tested.failure is not None:
        return SelfTest(name, (f"self-test: {tested.failure}",))
    return SelfTest(name, tuple(tested.value))


def _failures(arguments: list[str]) -> list[str]:
    """Test the device of the one argument in this process."""
    from harness.runtime.loading import load

    load()
    from harness.doctor.self_test_kernels import run_checks

    (device,) = arguments
    return run_checks(device)


if __name__ == "__main__":
    answer(_failures)
