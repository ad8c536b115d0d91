"""Check a variant: call it on outputs that hold something else, and compare every element with the expected one.

A variant that changes an input is wrong, too: the next variant would work on the changed input.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final, TypeVar, cast

import numpy as np

from xebench.measuring.array_check import (
    ArrayCheck,
    check_array,
    exact_parts,
    extremes_of,
    largest_error_ulp,
    poison_for,
    usable_reference,
)
from xebench.measuring.bound_problem import fills, initial_contents, output_types, tolerances
from xebench.measuring.checks import CheckedCall, find_all
from xebench.measuring.place import Array, Checked, Contents, Place, Started, VariantRun
from xebench.measuring.prepare import make_reference
from xebench.measuring.result_rules import ResultRules
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import Problem
from xebench.records.events import EventTimes
from xebench.session.recorder import MeasuredSample
from xebench.vocabulary import Status

_TWO_CALLS: Final = (
    "two calls on the same data differ: look for a race, or for memory that an earlier call left; a result that is "
    "right in any order needs @pattern.canonical"
)

#: Number of remembered results per array: two data sets, with the bits of two variants each.
REMEMBERED: Final = 4

T = TypeVar("T")


@dataclass
class Expected:
    """The results that a variant must write or return.

    Attributes:
        rtol, atol: tolerances; of arrays with tolerances of their own, the largest ones.
        arrays: arrays by name; with ranks, those of all ranks, with the rank as the first index.
        exact: arrays in higher precision, if the reference has it.
        fills: value of each output's unwritten elements; None if variants write all.
        ranks: number of ranks; 0 for one process.
        of: variant whose first results all others must match; "" if the results are known beforehand.
        other: results for the second data set; None without one.
        rules: rules of the pattern that decide correctness; None to compare element by element.
        own: tolerances of each array; those above where there is none.
    """

    rtol: float
    atol: float
    arrays: Contents = field(default_factory=dict)
    exact: Contents = field(default_factory=dict)
    fills: Mapping[str, Any] = field(default_factory=dict)
    ranks: int = 0
    of: str = ""
    other: Expected | None = None
    rules: ResultRules | None = None
    own: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    _extremes: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    _poisons: dict[str, Array] = field(default_factory=dict, init=False)
    _found: dict[str, list[tuple[Array, Any]]] = field(default_factory=dict, init=False)

    @property
    def nbytes(self) -> int:
        """Host memory that it occupies."""
        return sum(array.nbytes for array in (*self.arrays.values(), *self.exact.values()))

    def note(self) -> str | None:
        """The oddity of results that hardly can be wrong: all of them zero, or the same for both seeds."""
        if self.arrays and not any(array.any() for array in self.arrays.values()):
            return "all results are 0"
        other = self.other.arrays if self.other is not None else {}
        if other and all(np.array_equal(array, other[name]) for name, array in self.arrays.items()):
            return "results are the same for every seed"
        return None

    def poison(self, source: random.Random, *, not_a_number: bool = False) -> Contents:
        """The poison of outputs."""
        return {name: self._poison_of(name, fill, source, not_a_number) for name, fill in self.fills.items()}

    def _poison_of(self, name: str, fill: Any, source: random.Random, not_a_number: bool) -> Array:
        expected = self.arrays[name]
        # next to a GPU, reading all elements in each check would be the host's longest work
        extremes = self._extremes[name] = self._extremes.get(name) or extremes_of(expected)
        rules = self._tolerances(name)
        poison = poison_for(expected, source, *rules, fill=fill, not_a_number=not_a_number, extremes=extremes)
        self._poisons[name] = poison
        return poison

    def check(self, results: Contents) -> list[ArrayCheck]:
        """Compare each array of the results with the expected one, by the pattern's own rules where it has some."""
        expected = self.arrays
        if self.rules is not None and self.rules.validate is not None:
            return [ArrayCheck(self.rules.fault(results))]
        if self.rules is not None:
            results, expected = self.rules.canonical(results), self.rules.canonical(expected)
        return [self._compared(name, results.get(name), array) for name, array in expected.items()]

    def _compared(self, name: str, actual: Array | None, expected: Array) -> ArrayCheck:
        if actual is None:
            return ArrayCheck(f"{name} is missing")
        shown = name + ("[rank, ...]" if self.ranks else "")
        # in a canonical form an element is no longer where its poison was, nor is the shape the same
        before = self._poisons.get(name) if self.rules is None else None
        rules = self._tolerances(name)
        return self._once(name, actual, lambda: check_array(shown, actual, expected, *rules, before))

    def _tolerances(self, name: str) -> tuple[float, float]:
        return self.own.get(name, (self.rtol, self.atol))

    def error_ulp(self, results: Contents) -> float | None:
        """The largest error of results; see `largest_error_ulp`."""
        errors = [
            self._once(f"error of {name}", results[name], partial(largest_error_ulp, results, {name: exact}))
            for name, exact in self.exact.items()
        ]
        known = [error for error in errors if error is not None]
        return max(known, default=None) if len(known) == len(errors) else None

    def _once(self, what: str, array: Array, find: Callable[[], T]) -> T:
        """Find out once about an array that cannot change: results of equal bits are one (`HostCopies`)."""
        before = self._found.setdefault(what, [])
        for known, found in before:
            if known is array:
                return cast(T, found)
        answer = find()
        if not array.flags.writeable:
            self._found[what] = [*before[1 - REMEMBERED :], (array, answer)]
        return answer


def expected_of(pattern: Pattern, view: Any, problem: Problem, ranks: int) -> Expected:
    """The results that a variant with so many ranks must write.

    Args:
        pattern: pattern with the reference.
        view: the problem as the reference sees it.
        problem: problem that declares the written arrays.
        ranks: number of ranks; 0 for none.

    Raises:
        UnusableReference: see `usable_reference`.
    """
    own = tolerances(problem, pattern.rtol, pattern.atol)
    references = [make_reference(pattern, view, rank, max(1, ranks)) for rank in range(max(1, ranks))]
    whole, written = references[0], output_types(problem)
    if ranks:
        for of_rank in references:
            usable_reference(of_rank, written, {}, own)
        whole = {name: np.stack([np.asarray(of_rank[name]) for of_rank in references]) for name in written}
        written = {name: (whole[name].shape, dtype) for name, (_, dtype) in written.items()}
    arrays = usable_reference(whole, written, initial_contents(problem), own)
    rtol, atol = (max(each) for each in zip(*own.values(), strict=True))
    expected = Expected(rtol, atol, arrays, exact_parts(whole, arrays), fills(problem), ranks, own=own)
    if (rules := ResultRules.of(pattern, view)) is not None:
        rules.examine(arrays, expected.poison(random.Random(0), not_a_number=True))
    return expected


class Checker:
    """Checks the variants of one family, wherever they run.

    Args:
        expected: expected results by the number of a variant's ranks; empty to check nothing.
        source: source of random numbers for the poison of outputs.

    Attributes:
        data_set: number of this instance's data set.
    """

    def __init__(self, expected: Mapping[int, Expected], source: random.Random) -> None:
        self.data_set = 0
        self._expected, self._source = expected, source
        self._first_commands: dict[str, Sequence[tuple[str, str]]] = {}
        self._counts: dict[str, list[int]] = {}  # of an instance: commands of the first call, then of each sample

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
        self._check_results(run, started, expected)
        self._first_commands.setdefault(run.name, started.commands)
        self.end_instance(run)
        self._counts[run.name] = [sum(kind != "barrier" for kind, _ in started.commands)]
        run.doubt = run.doubt or started.doubt
        return started

    def verify(
        self,
        run: VariantRun,
        place: Place,
        when: str = "after its samples",
        remember: Callable[[Sequence[EventTimes]], object] = id,
    ) -> None:
        """Call a variant again on poisoned outputs; it drops out if its results are now wrong.

        Args:
            run: the variant.
            place: place where it runs.
            when: moment of the check, in words.
            remember: callback with the times of the commands, which the rules for the next sample need.
        """
        expected = self._of(run)
        checked = place.check(run.name, None if expected is None else expected.poison(self._source))
        remember(list(chain.from_iterable(checked.measured.times_by_clock()[0])))
        self._check_results(run, checked, expected, when)
        self.note_program(run, checked.measured)

    def note_sample(self, run: VariantRun, measured: MeasuredSample) -> None:
        """Take note of a sample's commands, and of a doubt in their times."""
        run.doubt = run.doubt or measured.doubt
        self._counts[run.name].append(measured.command_count // len(measured.executions))
        self.note_program(run, measured)

    def end_instance(self, run: VariantRun) -> None:
        """Note where all samples of an instance submitted fewer commands than its first call did."""
        first, *sampled = self._counts.get(run.name, [0])
        if sampled and max(sampled) < first:
            run.facts |= {"first_commands": first, "sampled_commands": max(sampled)}

    def note_program(self, run: VariantRun, measured: MeasuredSample) -> None:
        """A variant that submits other commands or kernels than in its first call is another program from then on."""
        run.kernels += measured.kernels
        if run.program is None:  # as of most variants: this is done after each sample
            return
        first = Counter(self._first_commands.get(run.name, ()))
        calls = (Counter((command.kind, command.name) for command in execution) for execution in measured.executions)
        if measured.kernels or any(own != first for own in calls):
            run.program = None

    def _of(self, run: VariantRun) -> Expected | None:
        first = self._expected.get(run.variant.ranks)
        return first.other if first is not None and self.data_set else first

    @staticmethod
    def _check_results(run: VariantRun, call: Started | Checked, expected: Expected | None, when: str = "") -> None:
        if call.beyond:
            beyond = ", ".join(call.beyond)
            run.drop(Status.WRONG, f"writes beyond {beyond}: its last work-items must check their index")
        if call.changed:
            changed = f"variant {run.name} changed input {', '.join(call.changed)}"
            run.drop(Status.WRONG, f"{changed}: does it write beyond an array? If it is to change it, declare it inout")
        if expected is not None and expected.of == run.name and not expected.arrays:
            expected.arrays = call.results
        compared = [] if expected is None else expected.check(call.results)
        if faults := "; ".join(each.fault for each in compared if each.fault):
            run.drop(Status.WRONG, f"wrong {when}: {faults}; {_TWO_CALLS}" if when else _idle(call) or faults)
        error_ulp = None if expected is None else expected.error_ulp(call.results)
        find_all(run.facts, CheckedCall(call, compared, error_ulp))


def _idle(call: Started | Checked) -> str:
    """The cause of wrong results of a first call that did nothing; "" if it did something."""
    if not isinstance(call, Started) or call.commands or call.preparation_ns:
        return ""
    return "it submitted no command and returned nothing: is 'return sample' missing?"
