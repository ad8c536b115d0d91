"""The conditions of claims: the words of ``Claim(requires=...)``, and the device facts that answer them.

A fact is what the driver says of the device at hand (its row of the table `devices`), or what the catalogue of Intel's
GPUs has by its name (`xebench.system.gpu_model`). A device of which nothing is known is none of those that a claim is
made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from xebench.system.gpu_model.gpu_parameters import GpuError, GpuParameters
from xebench.system.gpu_model.gpus import gpu_of_device
from xebench.tables.analysis.claim import Claim


def _stacks(gpu: GpuParameters, name: str) -> int | None:
    named = (product.stacks for product in gpu.products if product.name.lower() in name.lower())
    return next(named, None if any(product.stacks > 1 for product in gpu.products) else 1)


#: Facts of an Intel GPU of the catalogue by the word for them, from its parameters and the name of the device.
_OF_GPU: Final[Mapping[str, Callable[[GpuParameters, str], int | None]]] = {
    "native_float_atomics": lambda gpu, _: gpu.native_float_atomics,
    "threads_per_core": lambda gpu, _: gpu.threads_per_xe_core,
    "stacks": _stacks,
}

#: Every word; a number is written behind an equals sign: ``stacks=2``, ``native_float_atomics=0``.
WORDS: Final = (*_OF_GPU, "sub_group_size")


def fault(claim: Claim) -> str | None:
    """Describe in a few words what is wrong with the conditions of a claim; None if nothing is."""
    for condition in claim.requires:
        word, _, number = condition.partition("=")
        if word not in WORDS or not number.isdecimal():
            return f"requires {condition!r}: write one of {', '.join(WORDS)}, an equals sign and a whole number"
    return None


def mark_not_asked(claims: Iterable[Claim], device: Mapping[str, Any]) -> list[Claim]:
    """Return the claims. One that is about other devices has the missing fact in ``not_asked``.

    Args:
        claims: of a variant.
        device: its row of the table `devices`.
    """
    return [msgspec.structs.replace(claim, not_asked=_obstacle(claim, device)) for claim in claims]


def _obstacle(claim: Claim, device: Mapping[str, Any]) -> str:
    for condition in claim.requires:
        word, _, number = condition.partition("=")
        found = _facts(word, device)
        if int(number) not in found:
            here = ", ".join(map(str, found)) or "not known"
            return f"made of devices with {condition}; {word} here: {here}"
    return ""


def _facts(word: str, device: Mapping[str, Any]) -> list[int]:
    """The numbers that a device has for a word; empty if they are unknown."""
    if word == "sub_group_size":
        return [int(size) for size in str(device.get("sub_group_sizes") or "").split(",") if size]
    name = str(device.get("name") or "")
    try:
        fact = _OF_GPU[word](gpu_of_device(name), name)
    except GpuError:
        return []
    return [] if fact is None else [int(fact)]
