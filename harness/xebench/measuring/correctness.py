"""Check a variant: call it on outputs that hold something else, and compare every element with the expected one.

A variant that changes an input is wrong, too: the next variant would work on the changed input.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

import numpy as np

from xebench.measuring.bound_problem import fills, initial_contents, output_types
from xebench.measuring.comparison import (
    Compared,
    check_reference,
    compare,
    exact_parts,
    extremes_of,
    largest_error_ulp,
    poison_for,
)
from xebench.measuring.place import Array, Checked, Contents, Place, Started, VariantRun
from xebench.measuring.prepare import make_reference
from xebench.measuring.session.recorder import MeasuredSample
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import Problem
from xebench.tables.analysis.metrics import EventTimes
from xebench.vocabulary import Status

_EACH_TIME: Final = "a variant must write every output each time, from nothing that an earlier call left in memory"


@dataclass
class Expected:
    """The results that a variant must write or return.

    Attributes:
        rtol, atol: tolerances.
        arrays: by name; of ranks, those of all of them, with the rank as the first index.
        exact: the same in higher precision, where the reference has it.
        fills: of each output, what elements hold that variants do not write; None where they write all.
        ranks: how many; 0 where the variant runs in one process.
        of: the variant whose first results are what all others must have; "": none, it is known before.
        other: the same of the second data set; None where there is none.
    """

    rtol: float
    atol: float
    arrays: Contents = field(default_factory=dict)
    exact: Contents = field(default_factory=dict)
    fills: Mapping[str, Any] = field(default_factory=dict)
    ranks: int = 0
    of: str = ""
    other: Expected | None = None
    _extremes: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Host memory that it occupies."""
        return sum(array.nbytes for array in (*self.arrays.values(), *self.exact.values()))

    def poison(self, source: random.Random, *, not_a_number: bool = False) -> Contents:
        """The poison of outputs."""
        return {name: self._poison_of(name, fill, source, not_a_number) for name, fill in self.fills.items()}

    def _poison_of(self, name: str, fill: Any, source: random.Random, not_a_number: bool) -> Array:
        expected = self.arrays[name]
        # of each check, a look at all elements would be the host's longest work beside a GPU
        extremes = self._extremes[name] = self._extremes.get(name) or extremes_of(expected)
        rules = self.rtol, self.atol
        return poison_for(expected, source, *rules, fill=fill, not_a_number=not_a_number, extremes=extremes)

    def compared(self, results: Contents) -> list[Compared]:
        """Compare each array of the results with the expected one."""
        return [self._compared(name, results.get(name)) for name in self.arrays]

    def _compared(self, name: str, actual: Array | None) -> Compared:
        expected, of_ranks = self.arrays[name], "[rank, ...]" if self.ranks else ""
        if actual is None:
            return Compared(f"{name} is missing")
        if self.of and actual.shape == expected.shape and actual.dtype == expected.dtype:
            # a reference is finite; what a function returns need not be
            same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
            nothing = actual.dtype.type(0)
            actual, expected = np.where(same, nothing, actual), np.where(same, nothing, expected)
        return compare(name + of_ranks, actual, expected, self.rtol, self.atol)


def expected_of(pattern: Pattern, view: Any, problem: Problem, ranks: int) -> Expected:
    """The results that a variant with so many ranks must write.

    Args:
        pattern: with the reference.
        view: the problem as the reference sees it.
        problem: says which arrays are written.
        ranks: 0 for none.

    Raises:
        UnusableReference: the reference cannot serve.
    """
    rules = pattern.rtol, pattern.atol
    references = [make_reference(pattern, view, rank, max(1, ranks)) for rank in range(max(1, ranks))]
    whole, written = references[0], output_types(problem)
    if ranks:
        for own in references:
            check_reference(own, written, {}, *rules)
        whole = {name: np.stack([np.asarray(own[name]) for own in references]) for name in written}
        written = {name: (whole[name].shape, dtype) for name, (_, dtype) in written.items()}
    arrays = check_reference(whole, written, initial_contents(problem), *rules)
    return Expected(*rules, arrays, exact_parts(whole, arrays), fills(problem), ranks)


class Checker:
    """Checks the variants of one family, in whatever place each of them runs.

    Args:
        expected: by how many ranks a variant has; none: no results are looked at.
        source: of random numbers, for what stands in outputs before they are written.

    Attributes:
        data_set: number of the data of this instance.
    """

    def __init__(self, expected: Mapping[int, Expected], source: random.Random) -> None:
        self.data_set = 0
        self._expected, self._source = expected, source
        self._first_commands: dict[str, Sequence[tuple[str, str]]] = {}

    def in_order(self, runs: Sequence[VariantRun]) -> list[VariantRun]:
        """The variants in the order in which they are checked: whose results the others need is the first."""
        first = {expected.of for expected in self._expected.values()}
        return sorted(runs, key=lambda run: run.name not in first)

    def take(self, data_set: int) -> None:
        """Begin another instance, with these data: what was learnt of the one before does not hold for it."""
        self.data_set = data_set
        for expected in self._expected.values():
            if expected.of:
                expected.arrays = {}

    def first_call(self, run: VariantRun, place: Place) -> Started:
        """Start a variant in an instance; it drops out when its results are wrong."""
        expected = self._of(run)
        contents = None if expected is None else expected.poison(self._source, not_a_number=True)
        started = place.start(run.name, contents)
        self._judge(run, started, expected)
        self._first_commands.setdefault(run.name, started.commands)
        if run.first_commands is None:
            run.first_commands = sum(kind != "barrier" for kind, _ in started.commands)
            run.prepared_kernels = started.prepared_kernels
        return started

    def verify(
        self, run: VariantRun, place: Place, where: str = "", remember: Callable[[Sequence[EventTimes]], object] = id
    ) -> None:
        """Call a variant again, on poisoned outputs; it drops out when its results are wrong by now.

        Args:
            run: the variant.
            place: where it runs.
            where: after which sample.
            remember: called with the commands, for the rules that the next sample's times must obey.
        """
        expected = self._of(run)
        checked = place.check(run.name, None if expected is None else expected.poison(self._source))
        remember(list(chain.from_iterable(checked.measured.times_by_clock()[0])))
        overwritten = "" if expected is None or expected.of else f", after outputs were overwritten: {_EACH_TIME}"
        self._judge(run, checked, expected, where and f"results are wrong{where}{overwritten}: ")
        self.compare_program(run, checked.measured)

    def compare_program(self, run: VariantRun, measured: MeasuredSample) -> None:
        """A variant that submits other commands than in its first call is another program from then on."""
        if run.program is None:  # as of most variants: this is done after each sample
            return
        first = Counter(self._first_commands.get(run.name, ()))
        calls = (Counter((command.kind, command.name) for command in execution) for execution in measured.executions)
        if any(own != first for own in calls):
            run.program = None

    def _of(self, run: VariantRun) -> Expected | None:
        first = self._expected.get(run.variant.ranks)
        return first.other if first is not None and self.data_set else first

    @staticmethod
    def _judge(run: VariantRun, call: Started | Checked, expected: Expected | None, where: str = "") -> None:
        if call.changed:
            run.drop(Status.WRONG, f"variant {run.name} changed input {', '.join(call.changed)}: declare it inout")
        if expected is None:
            return
        if expected.of == run.name and not expected.arrays:
            expected.arrays = call.results
        error = largest_error_ulp(call.results, expected.exact)
        run.error_ulp = max((each for each in (run.error_ulp, error) if each is not None), default=None)
        compared = expected.compared(call.results)
        if faults := "; ".join(each.fault for each in compared if each.fault):
            run.drop(Status.WRONG, where + faults)
        elif compared:
            run.tolerance_used = max(run.tolerance_used or 0.0, *(each.tolerance_used for each in compared))
