"""Is a variant right? Prepare it, run it once on poisoned outputs, and compare every element with the reference.

A variant that changes an input is not right either: another one would work on what it left.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy.typing as npt

from xebench.analysis.metrics import EventTimes
from xebench.errors import Unsupported
from xebench.measuring.accuracy import largest_error_ulp
from xebench.measuring.bound_problem import Binding
from xebench.measuring.comparison import difference, in_part, poison_for
from xebench.measuring.elsewhere import BindingElsewhere, InputsElsewhere, SessionElsewhere
from xebench.measuring.expected import Expected
from xebench.measuring.input_check import Inputs, changed_by
from xebench.measuring.row_stream import RowStream
from xebench.measuring.variant_run import VariantRun, start
from xebench.patterns.pattern import Pattern
from xebench.runtime import DeviceInfo, missing
from xebench.session.session import Session
from xebench.vocabulary import Status

Array = npt.NDArray[Any]

#: Times in a row that a variant must submit fewer commands on right outputs: their number may vary by itself.
LOOKS: Final = 3


@dataclass(frozen=True)
class Checker:
    """Checks the variants of one family.

    Attributes:
        pattern: with its tolerances.
        binding: the problem on the device.
        inputs: of the problem, as they must stay.
        expected: what every variant must write.
        axes: the point on the axes; a variant receives those that it names.
        session: where variants run.
        device: what it offers.
        rows: takes the compile rows.
        source: of random numbers, for what stands in outputs before they are written.
    """

    pattern: Pattern
    binding: Binding | BindingElsewhere
    inputs: Inputs | InputsElsewhere
    expected: Expected
    axes: Mapping[str, Any]
    session: Session | SessionElsewhere
    device: DeviceInfo
    rows: RowStream
    source: random.Random

    def first_call(self, variant: VariantRun) -> None:
        """Compile and run a variant for the first time; it drops out when its results are wrong.

        Raises:
            Unsupported: the device lacks what it needs.
        """
        reason = missing(self.device, variant.variant.requires)
        if reason:
            raise Unsupported(reason)
        self._poison(not_a_number=True)
        with self._inputs_kept(variant):
            self.session.begin()
            begin = time.perf_counter_ns()
            self._start(variant)
            self.session.wait()
            host_ns = time.perf_counter_ns() - begin
            self.rows.add_compilations(variant.name, self.session.take_compilations(), host_ns)
            variant.kernels, variant.devices = self.session.take_kernels(), self.session.take_devices()
        self._compare(variant)

    def prepare(self, variant: VariantRun) -> None:
        """Prepare a variant again, on arrays that were made anew, and run it once."""
        self.binding.reset()
        with self._inputs_kept(variant):
            self.session.begin()
            self._start(variant)
            self.session.wait()

    def verify(self, variant: VariantRun) -> None:
        """Run a variant again after the last sample; it drops out when its results are wrong by now."""
        self._poison()
        with self._inputs_kept(variant):
            self.session.measure(variant.sample)
        self._compare(variant)

    def verify_between(self, variant: VariantRun, block: int, remember: Callable[[Sequence[EventTimes]], None]) -> None:
        """Run a variant again among its samples; it drops out when it writes outputs only if they are not right yet.

        Args:
            variant: the variant.
            block: of the sample before.
            remember: is told of the commands, for the rules that the next sample's times must obey.
        """
        each_time = "a variant must write every output each time"
        at_end = self.source.choice((True, False))
        for _ in range(LOOKS):
            self._poison(at_end=at_end)
            at_end = not at_end  # whichever end it looks at, it is right there once
            commands = self._run_again(variant, remember)
            self._compare(variant, f"results are wrong in block {block}, after outputs were overwritten: {each_time}: ")
            self.binding.reset()
            if not variant.is_good() or self._run_again(variant, remember) >= commands:
                return
        variant.drop(Status.WRONG, f"fewer commands where outputs are right already, in block {block}: {each_time}")

    def _run_again(self, variant: VariantRun, remember: Callable[[Sequence[EventTimes]], None]) -> int:
        """How many commands it submitted, but for barriers."""
        with self._inputs_kept(variant):
            measured = self.session.measure(variant.sample)
        remember(list(chain.from_iterable(measured.times_by_clock()[0])))
        return sum(command.kind != "barrier" for command in measured.commands)

    def _start(self, variant: VariantRun) -> None:
        if isinstance(self.session, SessionElsewhere):
            variant.sample = self.session.start(variant.name)
        else:
            variant.sample = start(variant.variant.function, self.session, self.binding.bound, self.axes)

    @contextmanager
    def _inputs_kept(self, variant: VariantRun) -> Iterator[None]:
        """Whatever a variant does in here to inputs, the next one finds them as they were."""
        try:
            yield
        except BaseException:
            with suppress(Exception):  # why it failed says more
                self.inputs.changed()
            raise
        if names := self.inputs.changed():
            variant.drop(Status.WRONG, changed_by(variant.name, names))

    def _poison(self, *, not_a_number: bool = False, at_end: bool | None = None) -> None:
        """Fill outputs with what must not be there: all of them, or a part at one end."""
        self.binding.poison(
            {name: self._poison_of(name, fill, not_a_number, at_end) for name, fill in self.binding.fills.items()}
        )
        self.binding.reset()

    def _poison_of(self, name: str, fill: Any, not_a_number: bool, at_end: bool | None) -> Array:
        expected, pattern = self.expected.arrays[name], self.pattern
        poison = poison_for(expected, self.source, pattern.rtol, pattern.atol, fill=fill, not_a_number=not_a_number)
        return poison if at_end is None else in_part(poison, expected, self.source, at_end=at_end)

    def _compare(self, variant: VariantRun, where: str = "") -> None:
        results, pattern = self.binding.results(), self.pattern
        of_ranks = "[rank, ...]" if self.expected.ranks else ""
        error = largest_error_ulp(results, self.expected.exact)
        variant.error_ulp = max((known for known in (variant.error_ulp, error) if known is not None), default=None)
        differences = [
            difference(name + of_ranks, results[name], expected, pattern.rtol, pattern.atol)
            for name, expected in self.expected.arrays.items()
        ]
        if any(differences):
            variant.drop(Status.WRONG, where + "; ".join(filter(None, differences)))
