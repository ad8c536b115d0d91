"""Is a variant right? Prepare it, run it once on poisoned outputs, and compare every element with the reference."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from harness.errors import Unsupported
from harness.patterns.pattern import Pattern
from harness.runner.worker.bound_problem import Binding
from harness.runner.worker.comparison import difference, poison_for
from harness.runner.worker.row_stream import RowStream
from harness.runner.worker.variant_run import VariantRun, start
from harness.runtime import DeviceInfo, missing
from harness.session.session import Session
from harness.vocabulary import Status


@dataclass(frozen=True)
class Checker:
    """Checks the variants of one family.

    Attributes:
        pattern: with its tolerances.
        binding: the problem on the device.
        expected: what every variant must write.
        axes: the point on the axes; a variant receives those that it names.
        session: where variants run.
        device: what it offers.
        rows: takes the compile rows.
    """

    pattern: Pattern
    binding: Binding
    expected: Mapping[str, npt.NDArray[Any]]
    axes: Mapping[str, Any]
    session: Session
    device: DeviceInfo
    rows: RowStream

    def first_call(self, variant: VariantRun) -> None:
        """Compile and run a variant for the first time; it drops out when its results are wrong.

        Raises:
            Unsupported: the device lacks what it needs.
        """
        reason = missing(self.device, variant.variant.requires)
        if reason:
            raise Unsupported(reason)
        self._poison()
        self.session.begin()
        begin = time.perf_counter_ns()
        self._start(variant)
        self.session.wait()
        host_ns = time.perf_counter_ns() - begin
        self.rows.add_compilations(variant.name, self.session.take_compilations(), host_ns)
        variant.kernels = self.session.take_kernels()
        self._compare(variant)

    def prepare(self, variant: VariantRun) -> None:
        """Prepare a variant again, on arrays that were made anew, and run it once."""
        self.binding.reset()
        self.session.begin()
        self._start(variant)
        self.session.wait()

    def verify(self, variant: VariantRun) -> None:
        """Run a variant again after the last sample; it drops out when its results are wrong by now."""
        self._poison()
        self.session.measure(variant.sample)
        self._compare(variant)

    def _start(self, variant: VariantRun) -> None:
        variant.sample = start(variant.variant.function, self.session, self.binding.bound, self.axes)

    def _poison(self) -> None:
        self.binding.poison({name: poison_for(values) for name, values in self.expected.items()})
        self.binding.reset()

    def _compare(self, variant: VariantRun) -> None:
        results, pattern = self.binding.results(), self.pattern
        differences = [
            difference(name, results[name], expected, pattern.rtol, pattern.atol)
            for name, expected in self.expected.items()
        ]
        if any(differences):
            variant.drop(Status.WRONG, "; ".join(filter(None, differences)))
