"""Problems, their references and second data sets, kept in a worker: each is made once for all families and rounds.

Families differ in axes that many problem functions do not name, patterns share such functions, and a family has several
rounds.

Both are written into the same arrays in turn. So whatever is kept is stale when a variant is checked: results, pointers
with what was computed of them, and answers on the host. Further ones have no reference: they are only timed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np

from xebench.measuring.bound_problem import host_view
from xebench.measuring.correctness import Expected, expected_of
from xebench.measuring.data_sets import seed_of
from xebench.measuring.place import accepted_parameters
from xebench.measuring.prepare import make_problem, require_parameters
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import InOut, Problem

#: Share of a worker's memory limit for the store.
PART: Final = 0.25


class Data:
    """A problem with the references that were computed of it.

    Attributes:
        problem: problem on the host, with read-only arrays.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._expected: dict[Hashable, Expected] = {}

    def expected(self, pattern: Pattern, parameters: Mapping[str, Any], ranks: int = 0) -> Expected:
        """The results that a variant with so many ranks must write; computed once.

        Raises:
            UnusableReference: the reference cannot serve.
        """
        key = _of_reference(pattern, parameters, ranks)
        if key not in self._expected:
            view = host_view(self.problem, parameters)
            self._expected[key] = expected_of(pattern, view, self.problem, ranks)
        return self._expected[key]

    def keep(self, pattern: Pattern, parameters: Mapping[str, Any], ranks: int, expected: Expected) -> None:
        """Take what another process has computed."""
        self._expected[_of_reference(pattern, parameters, ranks)] = expected

    @property
    def nbytes(self) -> int:
        """Host memory that its arrays occupy."""
        fields = (field.initial if isinstance(field, InOut) else field for field in self.problem.fields.values())
        own = sum(field.nbytes for field in fields if isinstance(field, np.ndarray))
        return own + sum(expected.nbytes for expected in self._expected.values())

    def can_be_shared(self) -> bool:
        """True if no variant can change it for another family, as it could change lists."""
        fields = self.problem.fields.values()
        return all(isinstance(field, np.ndarray | InOut) or _is_hashable(field) for field in fields)


class ProblemStore:
    """Keeps the most recent problems, as far as memory allows.

    Args:
        limit_bytes: memory limit in addition to data in use.
    """

    def __init__(self, limit_bytes: float) -> None:
        self.limit_bytes = limit_bytes
        self._kept: OrderedDict[Hashable, Data] = OrderedDict()

    def get(self, pattern: Pattern, parameters: Mapping[str, Any], seed: int) -> Data:
        """The data of a family, made if they are missing.

        Args:
            pattern: pattern of the family.
            parameters: parameters of the family.
            seed: seed of the data.

        Raises:
            PatternError: see `make_problem`.
        """
        key = problem_key(pattern, parameters, seed)
        if key not in self._kept:
            self._make_room()
            data = Data(make_problem(pattern, parameters, seed))
            if not data.can_be_shared():
                return data
            self._kept[key] = data
        self._kept.move_to_end(key)
        data = self._kept[key]
        require_parameters(data.problem, parameters)
        self._make_room()
        return data

    def has(self, pattern: Pattern, parameters: Mapping[str, Any], seed: int) -> bool:
        """True if these data are in the store."""
        return problem_key(pattern, parameters, seed) in self._kept

    def put(self, pattern: Pattern, parameters: Mapping[str, Any], seed: int, data: Data) -> None:
        """Take what another process has made, where no variant can change it for another family."""
        if data.can_be_shared():
            self._make_room()
            self._kept[problem_key(pattern, parameters, seed)] = data

    def _make_room(self) -> None:
        """Remove the least recently used data, until the rest is within the limit."""
        sizes = {key: data.nbytes for key, data in self._kept.items()}
        while sum(sizes.values()) > self.limit_bytes:
            key, _ = self._kept.popitem(last=False)
            del sizes[key]


def problem_key(pattern: Pattern, parameters: Mapping[str, Any], seed: int) -> Hashable:
    """The key of a problem, equal for families whose problem is the same."""
    assert pattern.make_problem is not None
    return pattern.make_problem, _values(accepted_parameters(pattern.make_problem, parameters)), seed


def _of_reference(pattern: Pattern, parameters: Mapping[str, Any], ranks: int) -> Hashable:
    # a reference sees every parameter, including those that the problem's function does not name
    return pattern.make_reference, pattern.rtol, pattern.atol, _values(parameters), ranks


def _values(parameters: Mapping[str, Any]) -> str:
    """Parameters as a key that distinguishes 1, 1.0 and True."""
    return repr(sorted(parameters.items()))


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def second_of(
    store: ProblemStore, pattern: Pattern, parameters: Mapping[str, Any], seed: int, ranks: Collection[int]
) -> Data | None:
    """The second data of a family, of the seed that follows; None where a pattern refuses that, or memory is short."""
    with suppress(Exception):
        second = store.get(pattern, parameters, seed_of(seed, 1))
        for count in ranks:
            second.expected(pattern, parameters, count)
        return second
    return None
