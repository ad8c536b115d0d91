"""The doctor's child, since a bad driver may abort or hang: ``python -m xebench.doctor devices`` prints JSON.

``python -m xebench.doctor self-test FILTER`` prints the failures of a device's self-test as a JSON list.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from xebench import runtime
from xebench.children.ask import answer


def devices() -> list[dict[str, Any]]:
    """Every device that can be measured."""
    return [asdict(device) for device in runtime.list_devices()]


def self_test(device: str) -> list[str]:
    """What a device computes wrong."""
    runtime.load()
    from xebench.doctor.self_test_kernels import run_checks

    return run_checks(device)


def main(arguments: list[str]) -> list[Any]:
    """What is asked for."""
    request, *operands = arguments
    return self_test(*operands) if request == "self-test" else devices()


if __name__ == "__main__":
    answer(main)
