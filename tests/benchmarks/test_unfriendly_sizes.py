"""Every pattern has a size at smoke that divides nothing, or the nearest to it that it does not refuse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from xebench.measuring.prepare import find_pattern, make_problem
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.plan import build_plan
from xebench.patterns.registry import discover
from xebench.system.runtime import load

INFOS = {info.name: info for info in discover()}

#: Patterns without a size that could be unfriendly, and why.
WITHOUT = {
    "dispatch_routes": "its number is of launches of one work-item",
    "fourier_buffers": "its transform takes sizes that are powers of two",
    "implicit_scaling_launch": "its number is of launches of two work-groups",
    "kernel_launch_latency": "its number is of launches of one work-item",
    "memory_latency_levels": "its ring's places are multiples of one another",
    "partial_subgroups": "its work-groups are of odd sizes",
}


#: Patterns whose size is a number of turns, which is in no array.
BY_NUMBER = {"atomic_order_scope"}


def whole(info: PatternInfo, name: str, numbers: Mapping[str, Any]) -> int:
    """What a problem's size must be a multiple of, as the problem says of the odd one beside it."""
    odd = numbers[name] | 1
    try:
        make_problem(find_pattern(info.source, info.name), {**numbers, name: odd}, 0)
    except ValueError as error:
        told = re.fullmatch(rf"{name}={odd}: .* give a multiple of (\d+)", str(error))
        assert told, f"{info.name} refuses {error!s}: say what {name} must be a multiple of"
        return int(told[1])
    return 1


def is_unfriendly(size: int, parts: int) -> bool:
    """Whether a size is odd; of one that must be cut into whole parts, whether their number is no power of two."""
    return size % 2 == 1 if parts == 1 else (size // parts).bit_count() > 1


@pytest.mark.parametrize("name", [name for name in INFOS if name not in WITHOUT])
def test_a_size_at_smoke_is_unfriendly_on_purpose(name: str) -> None:
    load()
    info = INFOS[name]
    size = next(iter(info.presets["smoke"]))
    families = [family.on("cpu", (8, 16, 32, 64)) for family in build_plan([info], "smoke")]
    # of equal sizes the first family is enough
    by_size = {int(family.parameters[size]): dict(family.parameters) for family in reversed(families)}
    unfriendly = [numbers for value, numbers in by_size.items() if is_unfriendly(value, whole(info, size, numbers))]
    assert unfriendly, f"give a second {size} at smoke: a prime, or one of parts whose number is no power of two"
    # another problem in truth, and not only as it is declared
    made = [shapes(info, numbers) for numbers in by_size.values()]
    assert name in BY_NUMBER or len(set(made)) == len(made), f"one problem of several {size}: {list(by_size)}"


def shapes(info: PatternInfo, numbers: Mapping[str, Any]) -> tuple[object, ...]:
    """What a problem is, as far as sizes make it: shapes of its arrays, its other fields, and its least work."""
    problem = make_problem(find_pattern(info.source, info.name), numbers, 0)
    fields = [(name, *_shape(field)) for name, field in sorted(problem.fields.items())]
    return *fields, problem.bytes_moved, problem.operations, problem.host_bytes


def _shape(field: Any) -> tuple[object, ...]:
    initial = getattr(field, "initial", field)
    return tuple(initial.shape) if hasattr(initial, "shape") else ("is", repr(field))
