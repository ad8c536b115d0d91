"""Conditions of a pattern's claims: the words of ``Claim(requires=...)``, and claims that cannot all hold.

A condition names a fact of a device. The driver reports it (the device's row of the table `devices`), or the catalogue
of Intel's GPUs has it by the device's name (`xebench.system.gpus`). A device whose fact is unknown does not meet the
condition.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final, NamedTuple

import msgspec

from xebench.records.claim import Claim
from xebench.system.gpus import GpuError, GpuParameters, gpu_of_device
from xebench.vocabulary import ACCURACY_CLAIMS, MAY_BE_WRONG, CodeClaim, DeviceClass, Outcome


def _stacks(gpu: GpuParameters, name: str) -> int | None:
    named = (product.stacks for product in gpu.products if product.name.lower() in name.lower())
    return next(named, None if any(product.stacks > 1 for product in gpu.products) else 1)


#: The fact of each word that only the catalogue has, from a GPU's parameters and the name of the device.
_OF_GPU: Final[Mapping[str, Callable[[GpuParameters, str], int | None]]] = {
    "native_float_atomics": lambda gpu, _: gpu.native_float_atomics,
    "threads_per_core": lambda gpu, _: gpu.threads_per_xe_core,
    "stacks": _stacks,
}

#: All words of conditions. A condition is a word, an equals sign and a number: ``stacks=2``.
WORDS: Final = (*_OF_GPU, "sub_group_size", "local_memory_kib")


def fault(claim: Claim) -> str | None:
    """Describe in a few words what is wrong with the conditions of a claim; None if nothing is."""
    for condition in claim.requires:
        word, _, number = condition.partition("=")
        if word not in WORDS or not number.isdecimal():
            return f"requires {condition!r}: write one of {', '.join(WORDS)}, an equals sign and a whole number"
    return None


def mark_not_asked(claims: Iterable[Claim], device: Mapping[str, Any] | GpuParameters) -> list[Claim]:
    """Return the claims, with ``not_asked`` set to the reason where the device does not meet a claim's conditions.

    Args:
        claims: claims about a variant.
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
            return f"{word} here: {here}; the claim covers devices with {condition}"
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
    """The numbers that a GPU of the catalogue has for a word; its products may differ, so ``name`` says which it is."""
    if word == "sub_group_size":
        return gpu.sub_group_sizes
    if word == "local_memory_kib":
        return [gpu.max_slm_per_work_group_bytes // 1024]
    fact = _OF_GPU[word](gpu, name)
    return [] if fact is None else [int(fact)]


class _Pair(NamedTuple):
    """A claim, and the two variants that it compares."""

    variant: str
    against: str
    claim: Claim


def contradiction(claims: Mapping[str, Sequence[Claim]], baseline: str) -> str | None:
    """Describe claims of a pattern that contradict each other or are made twice; None if there are none.

    Args:
        claims: claims about each variant, by variant name.
        baseline: the variant that a claim without `against` is compared with.
    """
    made = [_Pair(name, one.against or baseline, one) for name, own in claims.items() for one in own]
    if twice := next((one for one in made if made.count(one) > 1), None):
        return f"{twice.variant} is claimed {twice.claim.word} twice, in the same words"
    conditions = {(), *(one.claim.requires for one in made)}
    for device_class, values, met in itertools.product(DeviceClass, _points(made), conditions):
        of_device = [one for one in made if one.claim.is_said_of(device_class)]
        here = [one for one in of_device if one.claim.requires in ((), met) and one.claim.is_said_at(values)]
        if found := _two_ends(here) or _opposites(here) or _circle(here):
            at = ", ".join(f"{name}={value}" for name, value in values.items())
            return f"{found}{f' at {at}' if at else ''}"
    return None


def _points(pairs: Sequence[_Pair]) -> Iterator[dict[str, Any]]:
    """Every combination of the values that claims name, and of any other value."""
    named: dict[str, dict[Any, None]] = {}
    for one in pairs:
        for name, wanted in one.claim.where.items():
            values = wanted if isinstance(wanted, list | tuple) else (wanted,)
            named.setdefault(name, {}).update(dict.fromkeys(values))
    choices = [[None, *((name, value) for value in values)] for name, values in named.items()]
    for point in itertools.product(*choices):
        yield dict(one for one in point if one is not None)


def _two_ends(pairs: Sequence[_Pair]) -> str | None:
    ends: dict[str, str] = {}
    for name, _, claim in pairs:
        if claim.of_end and claim.word != MAY_BE_WRONG and ends.setdefault(name, claim.word) != claim.word:
            return f"{name} is claimed both {ends[name]} and {claim.word}"
    return None


def _opposites(pairs: Sequence[_Pair]) -> str | None:
    known: dict[tuple[str, str], list[tuple[str, Claim]]] = {}
    for name, against, claim in (one for one in pairs if one.claim.of_time):
        for key, word in (((name, against), claim.word), ((against, name), _mirrored(claim.word))):
            said = known.setdefault(key, [])
            for other_word, other in said:
                if not _can_both_hold(claim, word, other, other_word):
                    return f"{name} is claimed both {word} and {other_word} beside {against}"
            said.append((word, claim))
    return None


def _can_both_hold(one: Claim, word: str, other: Claim, other_word: str) -> bool:
    """Two claims of time on one pair: the same within a tenth may be faster by less than that."""
    if word == other_word or Outcome.SAME not in (word, other_word):
        return word == other_word
    same, ordered = (one, other) if word == Outcome.SAME else (other, one)
    return same.within > 0 and ordered.at_least < 1 + same.within


def _mirrored(word: str) -> str:
    opposite = {Outcome.FASTER.value: Outcome.SLOWER.value, Outcome.SLOWER.value: Outcome.FASTER.value}
    return opposite.get(word, word)


def _circle(pairs: Sequence[_Pair]) -> str | None:
    """Claims of an order, of times or of other numbers, in which a variant comes before itself."""
    equals: dict[str, str] = {}  # variants that take the same time, each with one that stands for all
    for name, against, claim in pairs:
        if claim.word == Outcome.SAME and not claim.within:
            one, other = (equals.get(each, each) for each in (name, against))
            equals |= dict.fromkeys((other, *(each for each, first in equals.items() if first == other)), one)
    for word in (Outcome.FASTER.value, *ACCURACY_CLAIMS, *CodeClaim):
        sorter: TopologicalSorter[str] = TopologicalSorter()
        of_time = word == Outcome.FASTER
        for name, against, claim in pairs:
            one, other = (equals.get(each, each) if of_time else each for each in (name, against))
            if claim.word == word:
                sorter.add(one, other)
            elif of_time and claim.word == Outcome.SLOWER:
                sorter.add(other, one)
        try:
            sorter.prepare()
        except CycleError as error:
            before = f" is {word} than " if of_time else f" comes before ({word}) "
            return f"claims go round in a circle: {before.join(reversed(error.args[1]))}"
    return None
