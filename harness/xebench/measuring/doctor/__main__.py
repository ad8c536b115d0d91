"""The doctor's child, since a bad driver may abort or hang: ``python -m xebench.measuring.doctor devices`` prints JSON.

``python -m xebench.measuring.doctor self-test FILTER`` prints the failures of a device's self-test as a JSON list.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from xebench.system import runtime
from xebench.system.children.process import answer


def devices() -> list[dict[str, Any]]:
    """Every device that can be measured."""
    return [asdict(device) for device in runtime.list_devices()]


def self_test(device: str) -> list[str]:
    """Names of the computations that a device does wrong."""
    runtime.load()
    from xebench.measuring.doctor.self_test_kernels import run_checks

    return run_checks(device)


def main(arguments: list[str]) -> list[Any]:
    """Run the examination that the arguments name."""
    request, *operands = arguments
    return self_test(*operands) if request == "self-test" else devices()


if __name__ == "__main__":
    answer(main)
