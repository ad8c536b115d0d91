"""The data sets of a family: a second one, of another seed, shows what a variant has kept of the first.

Both are written into the same arrays in turn. So whatever is kept is stale when a variant is checked: results, pointers
with what was computed of them, and answers on the host. Further ones have no reference: they are only timed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from xebench.measuring.comparison import UnusableReference
from xebench.measuring.problem_store import Data, ProblemStore
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import InOut, Problem

#: How many data sets with a reference a family has, where it can.
WITH_REFERENCE: Final = 2


def seed_of(first: int, data_set: int) -> int:
    """The seed of a data set, by its number.

    Args:
        first: of number 0.
        data_set: its number.
    """
    return first + data_set


class DataSets:
    """The problems of a family by number; those that have a reference are kept, and the last one of the others.

    Where a further one is not alike, or does not fit into memory, it is one of the first.

    Args:
        make: a problem of a seed.
        seed: of the first.
        count: how many have a reference: 1 or 2.
        kept: those that are made already.
    """

    def __init__(self, make: Callable[[int], Problem], seed: int, count: int, kept: Sequence[Problem] = ()) -> None:
        self._make = make
        self._seed = seed
        self.count = count
        self._kept = dict(enumerate(kept))

    def __getitem__(self, number: int) -> Problem:
        if number in self._kept:
            return self._kept[number]
        if number < self.count:
            return self._kept.setdefault(number, self._make(seed_of(self._seed, number)))
        self._kept = {other: kept for other, kept in self._kept.items() if other < self.count}
        problem = self[number % self.count]
        with suppress(MemoryError):
            further = self._make(seed_of(self._seed, number))
            problem = further if are_alike(problem, further) else problem
        return self._kept.setdefault(number, problem)


def are_alike(one: Problem, other: Problem) -> bool:
    """True if two problems differ only in the elements of their arrays."""
    return one.fields.keys() == other.fields.keys() and all(
        _same(_form(one.fields[name]), _form(other.fields[name])) for name in one.fields
    )


def _form(field: Any) -> Any:
    """All of a field but the elements of an array that variants see in place."""
    array = field.initial if isinstance(field, InOut) else field
    return (type(field), array.shape, array.dtype) if isinstance(array, np.ndarray) else field


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except ValueError:  # arrays within a tuple or a list, which cannot be swapped
        return False


def second_of(
    store: ProblemStore,
    pattern: Pattern,
    parameters: Mapping[str, Any],
    seed: int,
    first: Data,
    ranks: Collection[int],
) -> Data | None:
    """The second data of a family, of the seed that follows.

    There is none where it would show nothing or cannot be swapped: results do not depend on the seed, other fields
    than the elements of arrays do, or there is too little memory.

    Args:
        store: makes and keeps it.
        pattern: of the family.
        parameters: of the family.
        seed: of the first.
        first: of the family.
        ranks: of its variants; 0 for none.
    """
    if 2 * (1 + max(ranks)) * first.nbytes > store.limit_bytes:
        return None
    try:
        second = store.get(pattern, parameters, seed_of(seed, 1))
        if not are_alike(first.problem, second.problem):
            return None
        pairs = [[data.expected(pattern, parameters, count) for data in (first, second)] for count in ranks]
    except (MemoryError, UnusableReference):
        return None
    return second if all(one.faults(other.arrays) for one, other in pairs) else None
