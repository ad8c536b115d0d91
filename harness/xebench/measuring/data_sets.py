"""The data that a family's variants are called on: instances take two problems of neighbouring seeds in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from xebench.patterns.problem import Problem

#: Number of data sets of a family, if it can have several.
WITH_REFERENCE: Final = 2


def seed_of(first: int, data_set: int) -> int:
    """The seed of a data set, by its number.

    Args:
        first: seed of data set 0.
        data_set: number of the data set.
    """
    return first + data_set


class DataSets:
    """The problems of a family by number, made when they are needed.

    Args:
        make: function that makes a problem from a seed.
        seed: seed of the first data set.
        kept: problems that exist already.
    """

    def __init__(self, make: Callable[[int], Problem], seed: int, kept: Sequence[Problem] = ()) -> None:
        self._make, self._seed, self._kept = make, seed, dict(enumerate(kept))

    def __getitem__(self, number: int) -> Problem:
        if number not in self._kept:
            self._kept[number] = self._make(seed_of(self._seed, number))
        return self._kept[number]
