"""What claims of a pattern may say: the words of ``Claim(requires=...)``, and claims that cannot all hold.

A fact is what the driver says of the device at hand (its row of the table `devices`), or what the catalogue of Intel's
GPUs has by its name (`xebench.system.gpus`). A device of which nothing is known is none of those that a claim is
made of.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

import msgspec

from xebench.system.gpus import GpuError, GpuParameters, gpu_of_device
from xebench.tables.analysis.claim import Claim
from xebench.vocabulary import DeviceClass, Outcome


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
WORDS: Final = (*_OF_GPU, "sub_group_size", "local_memory_kib")


def fault(claim: Claim) -> str | None:
    """Describe in a few words what is wrong with the conditions of a claim; None if nothing is."""
    for condition in claim.requires:
        word, _, number = condition.partition("=")
        if word not in WORDS or not number.isdecimal():
            return f"requires {condition!r}: write one of {', '.join(WORDS)}, an equals sign and a whole number"
    return None


def mark_not_asked(claims: Iterable[Claim], device: Mapping[str, Any] | GpuParameters) -> list[Claim]:
    """Return the claims. One that is about other devices has the missing fact in ``not_asked``.

    Args:
        claims: of a variant.
        device: its row of the table `devices`, or the GPU of the catalogue that code is compiled for.
    """
    facts = partial(_facts_of_gpu, device) if isinstance(device, GpuParameters) else partial(_facts, device)
    return [msgspec.structs.replace(claim, not_asked=_obstacle(claim, facts)) for claim in claims]


def _obstacle(claim: Claim, facts: Callable[[str], Sequence[int]]) -> str:
    for condition in claim.requires:
        word, _, number = condition.partition("=")
        found = facts(word)
        if int(number) not in found:
            here = ", ".join(map(str, found)) or "not known"
            # the condition last: as one long word it has no room for a sign behind it in a terminal of 80 columns
            return f"{word} here: {here}; made of devices with {condition}"
    return ""


def _facts(device: Mapping[str, Any], word: str) -> Sequence[int]:
    """The numbers that a device has for a word; empty if they are unknown."""
    if word == "sub_group_size":
        return [int(size) for size in str(device.get("sub_group_sizes") or "").split(",") if size]
    if word == "local_memory_kib":
        return [int(device["local_memory_bytes"]) // 1024] if device.get("local_memory_bytes") else []
    name = str(device.get("name") or "")
    try:
        return _facts_of_gpu(gpu_of_device(name), word, name)
    except GpuError:
        return []


def _facts_of_gpu(gpu: GpuParameters, word: str, name: str = "") -> Sequence[int]:
    """The same of a GPU of the catalogue; ``name``: of the product, which may be one of several."""
    if word == "sub_group_size":
        return gpu.sub_group_sizes
    if word == "local_memory_kib":
        return [gpu.max_slm_per_work_group_bytes // 1024]
    fact = _OF_GPU[word](gpu, name)
    return [] if fact is None else [int(fact)]


#: A claim of time: who makes it, and whom it is compared with.
_Said = tuple[str, str, Claim]


def contradiction(claims: Mapping[str, Sequence[Claim]], baseline: str) -> str | None:
    """Describe in a few words what is wrong with the claims of time of a pattern; None if nothing is.

    Args:
        claims: of each variant, by its name.
        baseline: the variant that claims without `against` compare with.
    """
    said = [(name, claim.against or baseline, claim) for name, own in claims.items() for claim in own if claim.of_time]
    conditions = {(), *(claim.requires for _, _, claim in said)}
    points = _points([claim for _, _, claim in said])
    for device_class, values, fulfilled in itertools.product(DeviceClass, points, conditions):
        of_device = [one for one in said if one[2].is_said_of(device_class) and one[2].requires in ((), fulfilled)]
        here = [one for one in of_device if one[2].is_said_at(values)]
        fault = _opposites(here) or _circle(here)
        if fault:
            at = ", ".join(f"{name}={value}" for name, value in values.items())
            return f"{fault}{f' at {at}' if at else ''}"
    return None


def _points(claims: Sequence[Claim]) -> Iterator[dict[str, Any]]:
    """Every combination of the values that claims name, and of any other value."""
    named: dict[str, dict[Any, None]] = {}
    for claim in claims:
        for name, wanted in claim.where.items():
            values = wanted if isinstance(wanted, list | tuple) else (wanted,)
            named.setdefault(name, {}).update(dict.fromkeys(values))
    choices = [[None, *((name, value) for value in values)] for name, values in named.items()]
    for point in itertools.product(*choices):
        yield dict(one for one in point if one is not None)


def _opposites(said: Sequence[_Said]) -> str | None:
    words: dict[tuple[str, str], str] = {}
    for name, against, claim in said:
        for key, word in (((name, against), claim.word), ((against, name), _mirrored(claim.word))):
            if words.setdefault(key, word) != word:
                return f"{name} is claimed {claim.word} than {against} and the opposite"
    return None


def _mirrored(word: str) -> str:
    opposite = {Outcome.FASTER: Outcome.SLOWER, Outcome.SLOWER: Outcome.FASTER}
    return str(opposite.get(Outcome(word), word))


def _circle(said: Sequence[_Said]) -> str | None:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, against, claim in said:
        if claim.word != Outcome.SAME:
            sorter.add(*((name, against) if claim.word == Outcome.FASTER else (against, name)))
    try:
        sorter.prepare()
    except CycleError as error:
        return f"claims go round in a circle: {' is faster than '.join(reversed(error.args[1]))}"
    return None
