"""Is a variant right? Prepare it, run it once on poisoned outputs, and compare every element with the reference."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from harness.errors import Unsupported
from harness.patterns.pattern import Pattern
from harness.runner.worker.bound_problem import Binding
from harness.runner.worker.comparison import difference, poison_for
from harness.runner.worker.row_stream import RowStream
from harness.runner.worker.variant_run import Candidate, accepted
from harness.runtime import DeviceInfo, missing
from harness.session.session import Session
from harness.vocabulary import Status


class Checker:
    """Checks the variants of one family.

    Args:
        pattern: with its tolerances.
        binding: the problem on the device.
        expected: what every variant must write.
        axes: the point on the axes; a variant receives those that it names.
        session: where variants run.
        device: what it offers.
        rows: takes the compile rows.
    """

    def __init__(
        self,
        pattern: Pattern,
        binding: Binding,
        expected: Mapping[str, npt.NDArray[Any]],
        axes: Mapping[str, Any],
        session: Session,
        device: DeviceInfo,
        rows: RowStream,
    ) -> None:
        self._pattern = pattern
        self._binding = binding
        self._expected = expected
        self._axes = axes
        self._session = session
        self._device = device
        self._rows = rows

    def first_call(self, candidate: Candidate) -> None:
        """Compile and run a variant for the first time; it drops out when its results are wrong.

        Raises:
            Unsupported: the device lacks what it needs.
        """
        reason = missing(self._device, candidate.variant.requires)
        if reason:
            raise Unsupported(reason)
        self._poison()
        self._session.begin()
        begin = time.perf_counter_ns()
        self._start(candidate)
        self._session.wait()
        host_ns = time.perf_counter_ns() - begin
        self._rows.add_compilations(candidate.name, self._session.take_compilations(), host_ns)
        candidate.kernels = self._session.take_kernels()
        self._compare(candidate)

    def prepare(self, candidate: Candidate) -> None:
        """Prepare a variant again, on arrays that were made anew, and run it once."""
        self._binding.reset()
        self._session.begin()
        self._start(candidate)
        self._session.wait()

    def verify(self, candidate: Candidate) -> None:
        """Run a variant again after the last sample; it drops out when its results are wrong by now."""
        self._poison()
        self._session.measure(candidate.timed)
        self._compare(candidate)

    def _start(self, candidate: Candidate) -> None:
        function, bound = candidate.variant.function, self._binding.bound
        options = accepted(function, self._axes)
        prepared = function(self._session, bound, **options)
        if callable(prepared):
            candidate.timed = prepared
            prepared()
        else:
            candidate.timed = lambda: function(self._session, bound, **options)

    def _poison(self) -> None:
        self._binding.poison({name: poison_for(values) for name, values in self._expected.items()})
        self._binding.reset()

    def _compare(self, candidate: Candidate) -> None:
        results, pattern = self._binding.results(), self._pattern
        differences = [
            difference(name, results[name], expected, pattern.rtol, pattern.atol)
            for name, expected in self._expected.items()
        ]
        found = [text for text in differences if text]
        if found:
            candidate.drop(Status.WRONG, "; ".join(found))
