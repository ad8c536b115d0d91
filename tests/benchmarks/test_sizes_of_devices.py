"""Sizes that follow the device suit its memory and the numbers of the results, as far as two small problems tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xebench.measuring.place import accepted_parameters
from xebench.patterns.pattern_file import load_file
from xebench.patterns.plan import build_plan
from xebench.patterns.problem import InOut, Output, Room, by_class, is_fit
from xebench.patterns.registry import discover
from xebench.system.runtime import load

INFOS = {info.name: info for info in discover()}

#: Imagined devices, and their memory: one of 4 TB/s with 144 GB, and one of 0.1 TB/s with 1 GB.
LARGE = Room(lanes=400_000, cache_bytes=512 << 20), 144e9
SMALL = Room(lanes=20_000, cache_bytes=4 << 20), 1e9

#: Patterns whose whole numbers wrap around on purpose.
WRAPS = {"slm_bank_conflicts"}


class Largest:
    """Stands in for numpy's generator: makes the largest numbers that may come."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rng, name)

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64) -> Any:
        return np.full(() if size is None else size, (low if high is None else high) - 1, dtype)

    def random(self, size: Any = None, dtype: Any = np.float64) -> Any:
        return np.full(() if size is None else size, np.nextafter(dtype(1), dtype(0)), dtype)


def bounds(pattern: Any, numbers: Mapping[str, Any]) -> tuple[int, dict[str, tuple[float, Any]]]:
    """The bytes of a problem, and by output of whole numbers the largest result and its dtype."""
    accepted = accepted_parameters(pattern.make_problem, numbers)
    problem = pattern.make_problem(Largest(), **accepted)
    found = pattern.make_reference(SimpleNamespace(**{**numbers, **problem.fields, **initial(problem)}))
    largest = {}
    for name, field in outputs(problem):
        dtype = np.dtype(field.initial.dtype if isinstance(field, InOut) else field.dtype)
        if dtype.kind in "iu":
            largest[name] = float(np.abs(np.asarray(found[name], np.float64)).max()), dtype
    return problem.working_set_bytes, largest


def outputs(problem: Any) -> list[tuple[str, Any]]:
    return [(name, field) for name, field in problem.fields.items() if isinstance(field, Output | InOut)]


def initial(problem: Any) -> dict[str, Any]:
    return {name: field.initial for name, field in problem.fields.items() if isinstance(field, InOut)}


def followers() -> list[tuple[str, str]]:
    """Patterns with a size that follows a GPU, and the size."""
    declared = [(name, *item) for name, info in INFOS.items() for item in info.presets["default"].items()]
    return [(name, size) for name, size, value in declared if is_fit(by_class(value).get("gpu"))]


@pytest.mark.parametrize(("room", "memory"), [LARGE, SMALL], ids=["large", "small"])
@pytest.mark.parametrize(("name", "size"), followers())
def test_what_a_size_makes_of_memory_and_results_fits(name: str, size: str, room: Room, memory: float) -> None:
    load()
    info = INFOS[name]
    pattern = load_file(Path(info.source))[0]
    family = build_plan([info], "default")[0].on("gpu", (8, 16, 32), room)
    fitted = family.parameters[size]
    first = info.presets["smoke"][size]
    first = first[0] if isinstance(first, tuple) else first
    numbers = {**family.parameters, **{key: value for key, value in info.presets["smoke"].items() if key != size}}
    numbers |= {key: value[0] for key, value in numbers.items() if isinstance(value, tuple | list)}
    few, many = (bounds(pattern, {**numbers, size: value}) for value in (first, 2 * first))

    def at_fitted(of_few: float, of_many: float) -> float:
        """Grown as it grew from the first to the second size."""
        growth = math.log2(of_many / of_few) if of_few and of_many > of_few else 0
        return of_many * float(fitted / (2 * first)) ** growth

    assert at_fitted(few[0], many[0]) < memory, f"{size}={fitted}"
    if name in WRAPS:
        return
    for output, (of_many, dtype) in many[1].items():
        most = at_fitted(few[1][output][0], of_many)
        assert most <= np.iinfo(dtype).max, f"{size}={fitted}: {output} may be {most:.3g}"
