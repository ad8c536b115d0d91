"""The data that a family's variants are called on: those with a reference, further ones, and altered ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np

from xebench.patterns.problem import InOut, Problem
from xebench.system.sycl_types import Array

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
        with suppress(Exception):  # for want of memory, or since a pattern refuses some seeds
            further = self._make(seed_of(self._seed, number))
            problem = further if same_form(problem, further) else problem
        return self._kept.setdefault(number, problem)


def same_form(one: Problem, other: Problem) -> bool:
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


#: So many elements may be parameters, and so many lie together in a row, which have an order of their own.
FEW: Final = 16
SHORT: Final = 8


def turned(problem: Problem) -> Problem:
    """The same problem with the elements of its arrays of real numbers in the opposite order.

    Sizes, whole numbers, and what is true of all elements or of a matrix's diagonal stay as they are. So do sorted
    arrays, those of a few parameters, and the order within short rows, such as a point's coordinates. So a variant that
    was prepared for one problem may be called on the other.
    """
    return _altered(problem, _turn)


def doubled(problem: Problem) -> Problem:
    """The same as :func:`turned` with each second row of these arrays in the place of the row after it.

    Sums, histograms and most other results that do not depend on the order are others; ranges stay as they are.
    """
    return _altered(problem, _double)


def _altered(problem: Problem, alter: Callable[[Array], Array]) -> Problem:
    made = Problem.__new__(Problem)
    vars(made).update(vars(problem))
    made.fields = {name: _altered_field(field, alter) for name, field in problem.fields.items()}
    return made


def _altered_field(field: Any, alter: Callable[[Array], Array]) -> Any:
    if isinstance(field, InOut):
        return replace(field, initial=_altered_field(field.initial, alter))
    if not isinstance(field, np.ndarray) or field.dtype.kind not in "fc" or field.size <= FEW or _is_sorted(field):
        return field
    return alter(field)


def _turn(array: Array) -> Array:
    return np.flip(array, [axis for axis, extent in enumerate(array.shape) if extent > SHORT])


def _double(array: Array) -> Array:
    rows = np.arange(array.shape[0])
    return array[rows - rows % 2]


def _is_sorted(array: Array) -> bool:
    """True for numbers that rise or fall, such as edges of bins; most others need no look beyond the first ones."""
    if array.ndim != 1 or array.dtype.kind == "c":
        return False
    steps = (np.diff(part) for part in (array[:FEW], array))
    return all(bool((each >= 0).all() or (each <= 0).all()) for each in steps)
