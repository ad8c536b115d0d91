"""Self-test of a device's arithmetic, before it is used, in a process of its own.

Seen in practice: a CPU driver that did not know its host turned int64 into wrong float32, and a GPU driver
without hardware that reports every kernel as done and runs none.
"""

from __future__ import annotations

from dataclasses import dataclass

from xebench.system.children.ask import ask
from xebench.system.children.programs import Program
from xebench.system.runtime.devices import DeviceInfo

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
        """True if the device may be used."""
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
    answer = ask(Program.DOCTOR, ["self-test", name], timeout_s=timeout_s)
    if answer.failure is not None:
        return SelfTest(name, (f"self-test: {answer.failure}",))
    return SelfTest(name, tuple(answer.value))
