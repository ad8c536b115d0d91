"""Check a variant: call it on outputs that hold something else, and compare every element with the expected one.

A variant that changes an input is wrong, too: the next variant would work on the changed input.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

import numpy as np

from xebench.measuring.bound_problem import fills, initial_contents, output_types, part_at
from xebench.measuring.comparison import (
    check_reference,
    difference,
    exact_parts,
    extremes_of,
    in_part,
    largest_error_ulp,
    poison_for,
    same_bits,
)
from xebench.measuring.less_work import SecondCalls, commands_of
from xebench.measuring.place import Array, Calls, Checked, Contents, Place, Started, VariantRun
from xebench.measuring.prepare import make_reference
from xebench.measuring.session.recorder import MeasuredSample
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import Problem
from xebench.tables.analysis.metrics import EventTimes
from xebench.vocabulary import Metric, Status

#: Times that a variant must do less when called again. One that alternates between two ways does so ten times in one of
#: a thousand looks, by chance, and so often in one of 60 thousand.
LOOKS: Final = 16
#: The same after a pause: noise ends longer rows of pairs, and sixteen missed a cheat in two of three runs.
LATE_LOOKS: Final = 10
#: ns of a shorter call that sleeping threads of a busy machine may take to wake after a pause, time after time.
LATE_NS: Final = 1_000_000
#: Numbers of data sets that have no reference.
WITHOUT_REFERENCE: Final = (2, 1 << 31)

_EACH_TIME: Final = "a variant must write every output each time, from nothing that an earlier call left in memory"
_ALL_ITS_WORK: Final = "a variant must do all of its work each time, and keep nothing of it"


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

    def poison(self, source: random.Random, *, not_a_number: bool = False, at_end: bool | None = None) -> Contents:
        """The poison of outputs: of all of an output, or of a part at one end."""
        return {name: self._poison_of(name, fill, source, not_a_number, at_end) for name, fill in self.fills.items()}

    def _poison_of(self, name: str, fill: Any, source: random.Random, not_a_number: bool, at_end: bool | None) -> Array:
        expected = self.arrays[name]
        # of each check, a look at all elements would be the host's longest work beside a GPU
        extremes = self._extremes[name] = self._extremes.get(name) or extremes_of(expected)
        rules = self.rtol, self.atol
        poison = poison_for(expected, source, *rules, fill=fill, not_a_number=not_a_number, extremes=extremes)
        return poison if at_end is None else in_part(poison, expected, source, at_end=at_end)

    def part(self, at: float) -> Expected:
        """The same of a few elements of each array (`xebench.measuring.bound_problem.part_at`)."""
        rows = {name: array.reshape(self.ranks or 1, -1) for name, array in self.arrays.items()}
        parts = {name: array[:, part_at(array.shape[1], at)] for name, array in rows.items()}
        return replace(self, arrays=parts if self.ranks else {name: part[0] for name, part in parts.items()})

    def faults(self, results: Contents, known: Sequence[str] = ()) -> str:
        """Return in one line how results differ from the expected ones; "" if they do not.

        Args:
            results: to be compared.
            known: names of those that were, and have not changed since.
        """
        of_ranks = "[rank, ...]" if self.ranks else ""
        found = (self._fault(name, of_ranks, results.get(name)) for name in self.arrays if name not in known)
        return "; ".join(filter(None, found))

    def _fault(self, name: str, of_ranks: str, actual: Array | None) -> str | None:
        expected = self.arrays[name]
        if actual is None:
            return f"{name} is missing"
        if self.of and actual.shape == expected.shape and actual.dtype == expected.dtype:
            # a reference is finite; what a function returns need not be
            same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
            nothing = actual.dtype.type(0)
            actual, expected = np.where(same, nothing, actual), np.where(same, nothing, expected)
        return difference(name + of_ranks, actual, expected, self.rtol, self.atol)


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
        metric: of the family.
        unseen: see `xebench.measuring.family.Plan`.

    Attributes:
        data_set: number of the data that the samples are taken on; checks are made on the other one.
    """

    def __init__(
        self,
        expected: Mapping[int, Expected],
        source: random.Random,
        metric: Metric,
        *,
        unseen: bool = False,
    ) -> None:
        self.data_set = 0
        self._expected = expected
        self._source = source
        self._metric = metric
        self._unseen = source.randrange(*WITHOUT_REFERENCE) if unseen else None
        self._readers: set[str] = set()
        self._first_commands: dict[str, Sequence[tuple[str, str]]] = {}

    @property
    def learns(self) -> bool:
        """True if each instance has results of its own, which its first calls give."""
        return any(expected.of for expected in self._expected.values())

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
        """Start a variant; it drops out when its results are wrong."""
        expected = self._of(run, self.data_set)
        contents = None if expected is None else expected.poison(self._source, not_a_number=True)
        started = place.start(run.name, contents)
        self._judge(run, place, started, expected)
        if started.reads:
            self._readers.add(run.name)
        self._first_commands.setdefault(run.name, started.commands)
        return started

    def prepare(self, run: VariantRun, place: Place) -> Started:
        """Prepare a variant again, on new arrays."""
        started = place.start(run.name, None)
        self._judge_inputs(run, started.changed)
        return started

    def verify(self, run: VariantRun, place: Place) -> Calls[None]:
        """Call a variant again after the last sample; it drops out when its results are wrong by now."""
        if self._of(run, self.data_set) is None:
            self._judge_inputs(run, (yield from place.check(run.name, None)).changed)
        else:
            if run.name in self._readers:
                yield from self._look(run, place, "", None, lambda commands: None, as_it_is=True)
            if not run.is_good():
                return
            yield from self._look(run, place, "", None, lambda commands: None, self._unseen)

    def fault_after_pause(
        self, run: VariantRun, place: Place, block: int, remember: Callable[[Sequence[EventTimes]], None]
    ) -> Calls[str]:
        """Call a variant as it is after a pause, with some elements of its outputs overwritten.

        One that leaves out work where calls follow one another does that work then, which takes longer. All other calls
        of checks come late, too, but on other data, or with other contents of memory and caches, so their times do not
        show it. Gives "" if the elements are right, and the call does no more than samples, or than one right after it.

        Args:
            run, place, block, remember: see :meth:`verify_between`.
        """
        expected = self._of(run, self.data_set)
        if expected is None or expected.of:  # functions have no outputs but what they return
            return ""
        part, pairs = expected.part(at := self._source.random()), SecondCalls(self._metric, bool(run.variant.ranks))
        while len(pairs.less) < LATE_LOOKS:
            if pairs.less and self._source.random() < 1 / 2:  # for the reason that `_look` gives
                yield from place.check(run.name, None, self.data_set, anew=False)
            checked = yield from place.check(run.name, part.poison(self._source), self.data_set, anew=False, at=at)
            commands = _note(checked.measured, remember)
            if faults := part.faults(checked.results):
                where = f"results are wrong in block {block}, after outputs were overwritten in part"
                return f"{where}: {_EACH_TIME}: {faults}"
            has_fewer = checked.again is not None and _note(checked.again, remember) < commands
            if checked.again is None or checked.measured.host_ns <= LATE_NS:
                return ""
            pairs.add(checked.measured, checked.again, has_fewer, other=False)
            if pairs.do_as_much:
                return ""
        how = "more work after a pause, with outputs overwritten in part, than right after another call"
        return f"{how}, in block {block}: {_ALL_ITS_WORK}"

    def verify_between(
        self, run: VariantRun, place: Place, block: int, remember: Callable[[Sequence[EventTimes]], None]
    ) -> Calls[None]:
        """Call a variant among its samples; it drops out when it does its work only where it was not done before.

        One that may keep what its preparation found is called as it is, on the samples' own data: prepared for others
        it would be another one, which has not been called so often.

        Args:
            run: the variant.
            place: where it runs.
            block: of the sample before.
            remember: called with the commands, for the rules that the next sample's times must obey.
        """
        expected = self._of(run, self.data_set)
        if expected is not None and expected.arrays:
            at_end = self._source.choice((True, False))
            as_it_is = run.name in self._readers
            yield from self._look(run, place, f" in block {block}", at_end, remember, as_it_is=as_it_is)

    def _look(
        self,
        run: VariantRun,
        place: Place,
        where: str,
        at_end: bool | None,
        remember: Callable[[Sequence[EventTimes]], None],
        unseen: int | None = None,
        *,
        as_it_is: bool = False,
    ) -> Calls[None]:
        """Compare a call on other data than before with the samples, or else with the next one, which find work done.

        It goes on as long as the second does less each time; on data set ``unseen`` in any case.
        """
        has_other = self._of(run, 1) is not None and not as_it_is
        data_set = 1 - self.data_set if has_other else self.data_set
        expected = self._of(run, data_set)
        assert expected is not None
        has_reference, seconds = True, SecondCalls(self._metric, bool(run.variant.ranks))
        while len(seconds.less) < LOOKS:
            contents = expected.poison(self._source, at_end=at_end)
            checked = yield from place.check(run.name, contents, data_set, anew=not as_it_is)
            commands = _note(checked.measured, remember)
            if has_reference:
                overwritten = "" if expected.of else f", after outputs were overwritten: {_EACH_TIME}"
                self._judge(run, place, checked, expected, where and f"results are wrong{where}{overwritten}: ")
            else:
                self._judge_inputs(run, checked.changed)
            if ready := [name for name in dict.fromkeys(checked.ready) if not self._is_constant(run, name)]:
                run.drop(Status.WRONG, f"{', '.join(ready)} was ready before the call: {_ALL_ITS_WORK}")
            self._compare_with_first(run, checked)
            goes_on = unseen is not None and has_other  # only unseen data count
            if not run.is_good() or (checked.again is None and not goes_on):
                return
            if not goes_on and checked.again is not None:
                seconds.add(checked.measured, checked.again, _note(checked.again, remember) < commands, checked.other)
                if seconds.do_as_much:
                    return
            at_end = None
            if seconds.less and self._source.random() < 1 / 2:
                # else one that does something in every second call would meet each look alike
                yield from place.check(run.name, None, data_set, anew=False)
            if has_other:  # one who remembers the results of these data, too, is as quick on them from now on
                data_set = self._source.randrange(*WITHOUT_REFERENCE) if unseen is None else unseen
                unseen, has_reference = None, False
        run.drop(Status.WRONG, f"{seconds.how}{where}: {_ALL_ITS_WORK}")

    def _compare_with_first(self, run: VariantRun, checked: Checked) -> None:
        """A variant with one data set repeats the commands of its first call; with two it may be another program later.

        The first call is that of the first instance: later ones may find in the module what the variant keeps there.
        """
        first = self._first_commands.get(run.name, ())
        has_one = self._of(run, 1) is None
        if has_one and (left_out := {*first} - commands_of(checked.measured) - {*checked.usual}):
            names = ", ".join(" ".join(command) for command in sorted(left_out))
            once = "what is done once, such as tuning, belongs before the function that it returns"
            run.drop(Status.WRONG, f"{names} was submitted by its first call alone: {_ALL_ITS_WORK}; {once}")
        self.compare_program(run, checked.measured)

    def compare_program(self, run: VariantRun, measured: MeasuredSample) -> None:
        """A variant that submits other commands than in its first call is another program from then on."""
        if run.program is None:  # as of most variants: this is done after each sample
            return
        first = Counter(self._first_commands.get(run.name, ()))
        calls = (Counter((command.kind, command.name) for command in execution) for execution in measured.executions)
        if any(own != first for own in calls):
            run.program = None

    def _is_constant(self, run: VariantRun, name: str) -> bool:
        """True for a result that does not depend on the data, such as the edges of bins: it may be made beforehand."""
        one, other = self._of(run, 0), self._of(run, 1)
        return one is not None and other is not None and same_bits(one.arrays[name], other.arrays[name])

    def _of(self, run: VariantRun, data_set: int) -> Expected | None:
        first = self._expected.get(run.variant.ranks)
        return first.other if first is not None and data_set else first

    def _judge(
        self, run: VariantRun, place: Place, call: Started | Checked, expected: Expected | None, where: str = ""
    ) -> None:
        self._judge_inputs(run, call.changed)
        if expected is None:
            return
        if expected.of == run.name and not expected.arrays:
            expected.arrays = call.results
        if isinstance(call, Checked) and call.expected is not None:
            expected = replace(expected, arrays=call.expected)
        error = largest_error_ulp(call.results, expected.exact)
        run.error_ulp = max((each for each in (run.error_ulp, error) if each is not None), default=None)
        if faults := expected.faults(call.results, call.known):
            run.drop(Status.WRONG, where + faults)
        elif not expected.exact:  # else the error of each is looked at
            place.accept()

    @staticmethod
    def _judge_inputs(run: VariantRun, changed: Sequence[str]) -> None:
        if changed:
            run.drop(Status.WRONG, f"variant {run.name} changed input {', '.join(changed)}: declare it inout")


def _note(measured: MeasuredSample, remember: Callable[[Sequence[EventTimes]], None]) -> int:
    """Record the number of commands of a call."""
    remember(list(chain.from_iterable(measured.times_by_clock()[0])))
    return measured.command_count
