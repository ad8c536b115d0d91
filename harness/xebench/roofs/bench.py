"""A device as probes see it, and probes measured in this process, which is a child of another.

``python -m xebench.roofs.bench DEVICE NAME...`` prints one JSON list of results. The parent detects
a crash or a hang, and starts another process for the remaining probes.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from numba_sycl import KernelError
from numba_sycl import kernel_api as kapi
from numba_sycl.sycl_types import Array, UsmArray
from xebench.errors import TooLarge, Unsupported, describe_error, first_line
from xebench.results.analysis import metrics
from xebench.roofs.catalogue import Probe, find_probe, grouped
from xebench.roofs.measure import ProbeResult
from xebench.roofs.search import (
    EFFORT,
    Effort,
    Form,
    Measurement,
    NoForm,
    Undetermined,
    WrongResult,
    array_bytes,
    grown,
    largest_array_bytes,
    search,
)
from xebench.session.device_memory import DeviceMemory, cache_bytes
from xebench.session.session import Session
from xebench.system.children import Program
from xebench.system.children.process import answer
from xebench.vocabulary import is_valid

AnyNumbers = TypeVar("AnyNumbers", bound=tuple[int, ...])

#: Tolerances within which the host's clock must confirm a device time: relative, and in ns.
LATE_PART = 0.2

LATE_NS = 500_000
#: Exceptions of a form that the device should run.
FAILURES = (WrongResult, KernelError)
#: Elements written or compared at once, so that the host's part stays in its caches.
PIECE = 1 << 18


class Bench:
    """One device, and the effort to spend on it.

    Args:
        session: session on the device.
        effort: effort to find the best form.

    Attributes:
        device: the ``dpctl.SyclDevice``.
        memory: memory for untimed transfers.
    """

    def __init__(self, session: Session, effort: Effort = EFFORT) -> None:
        self.session = session
        self.device = session.device
        self.memory = DeviceMemory(session.queue)
        self.effort = effort
        self._last_end_ns: dict[int, int] = {}  # by clock

    # ---- how large problems are, and how many forms ---------------------------------------------------------------

    @property
    def cache_bytes(self) -> int:
        """Its last-level cache."""
        return cache_bytes(self.device)

    @property
    def compute_units(self) -> int:
        """Its number of compute units; at least one."""
        return max(1, int(self.device.max_compute_units))

    @property
    def largest_array_bytes(self) -> int:
        """The size of the largest array that a probe may allocate."""
        return largest_array_bytes(int(self.device.global_mem_size), int(self.device.max_mem_alloc_size))

    def array_bytes(self) -> int:
        """Size of an array that the caches do not hold; ``Unsupported`` if memory is too small for one."""
        return array_bytes(self.cache_bytes, self.largest_array_bytes)

    def fitting(self, forms: Sequence[AnyNumbers]) -> Sequence[AnyNumbers]:
        """The forms whose work-group, their first number, the device allows.

        Raises:
            Unsupported: it allows none.
        """
        allowed = [form for form in forms if form[0] <= int(self.device.max_work_group_size)]
        if not allowed:
            raise Unsupported("no form fits this device")
        return allowed

    # ---- running ----------------------------------------------------------------------------------------------------

    def device_ns(self, submit: Callable[[], Any]) -> float:
        """Run once; the time during which its commands ran.

        Infinity if there were none, the events contradict one another, or the host waited much longer: a driver may
        stamp the start or the end of a kernel whose threads do not all run.
        """
        measured = self.session.measure(submit)
        events = list(measured.events)
        flags = metrics.flags(
            events,
            host_ns=measured.host_ns,
            resolution_ns=self.device.profiling_timer_resolution,
            earlier_end_ns=self._last_end_ns.get(events[0].clock) if events else None,
        )
        if events:
            self._last_end_ns[events[0].clock] = max(event.end_ns for event in events)
        busy_ns = metrics.union_ns(events)
        confirmed = busy_ns > 0 and measured.host_ns <= (1 + LATE_PART) * busy_ns + LATE_NS
        return busy_ns if confirmed and is_valid(flags, "device") else math.inf

    def form(
        self,
        parameters: Mapping[str, int | str],
        amount: float,
        submit: Callable[[], Any],
        output: Any,
        expected: Callable[[], Array],
        poison: npt.ArrayLike = -1,
        submit_verified: Callable[[], Any] | None = None,
    ) -> Form:
        """A form of a kernel or command that is timed on the device, and writes the whole of one array.

        Args:
            parameters: parameters that distinguish the form.
            amount: bytes, operations or steps of one run.
            submit: function that submits the form and returns its event.
            output: array that it writes.
            expected: function that returns the expected array, or one period of it.
            poison: number in the array before, which the form must not write.
            submit_verified: function that submits the same kernel so that it writes the array, if the timed one does
                not.

        If ``expected`` returns the whole array instead of one period, all of it is compared.
        """

        def verify() -> None:
            wanted = expected()
            parts = [slice(None)] if wanted.size > PIECE else compared(output.size)
            for part in parts:
                self.write(output[part], poison)
            (submit_verified or submit)().wait()
            for part in parts:
                self.require(output[part], wanted)

        return Form(parameters, amount, partial(self.device_ns, submit), verify)

    def grown(
        self, forms: Sequence[AnyNumbers], fewest: int, most: int, make: Callable[[int, AnyNumbers], Form]
    ) -> Iterator[Form]:
        """The forms that fit, of a problem that is long enough for the first of them.

        Args:
            forms: see `fitting`.
            fewest, most: limits of the problem's size.
            make: gives a form for a size.
        """
        fitting = self.fitting(forms)
        size = grown(fewest, most, lambda size: make(size, fitting[0]).run())
        return (make(size, form) for form in fitting)

    def search(self, forms: Iterable[Form], part: float = 1.0) -> Measurement:
        """The best of the forms; see :func:`xebench.roofs.search.search`.

        Args:
            forms: forms of the kernel.
            part: share of the patience, for one of many similar probes.
        """
        return search(forms, self.effort.with_patience(part), failures=FAILURES)

    # ---- writing and comparing --------------------------------------------------------------------------------------

    def write(self, array: UsmArray, numbers: npt.ArrayLike) -> None:
        """Fill a device array with one period of numbers, or a single one, and wait; by plain copies."""
        for part, wanted in _pieces(array, np.atleast_1d(numbers).astype(array.dtype)):
            self.memory.write(part, wanted)

    def require(self, array: UsmArray, expected: Array) -> None:
        """Compare every element of a device array with one period of numbers, or with as many as it has.

        Raises:
            WrongResult: they differ.
        """
        require_equal((self.memory.read(part), wanted) for part, wanted in _pieces(array, expected))


class ProbeGroup:
    """A group of probes (`xebench.roofs.catalogue`), made once for a bench.

    Every kernel's result is compared with what it must be, so that no compiler can have left its work out.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def measure(self, name: str) -> Measurement:
        """Measure one probe by its name.

        Raises:
            Unsupported: the device lacks what it needs.
            WrongResult: the device computes something wrong.
        """
        raise NotImplementedError


def compared(size: int) -> list[slice]:
    """The elements of an array that are poisoned and compared: all, or the first and the last piece."""
    return [slice(None)] if size <= 2 * PIECE else [slice(PIECE), slice(size - PIECE, size)]


def nd_range(items: int, group: int) -> kapi.NdRange:
    """One dimension of ``items`` work-items in work-groups of ``group``."""
    return kapi.NdRange((items,), (group,))


def require_equal(parts: Iterable[tuple[Array, Array]]) -> None:
    """Compare every element of some arrays with those that they must be.

    Raises:
        WrongResult: they differ; how many, and the first of them.
    """
    size = wrong = 0
    first = ""
    for actual, wanted in parts:
        differing = np.flatnonzero(actual != wanted)
        if differing.size and not first:
            at = int(differing[0])
            first = f"first at {size + at}: is {actual.flat[at]}, must be {wanted.flat[at]}"
        size, wrong = size + actual.size, wrong + differing.size
    if wrong:
        raise WrongResult(f"{wrong} of {size} elements are wrong, {first}")


def _pieces(array: UsmArray, period: Array) -> Iterator[tuple[Any, Array]]:
    """The parts of a flat array, each with the numbers that stand or shall stand in it."""
    if array.size % period.size:
        raise ValueError(f"{array.size} elements are no whole number of periods of {period.size}")
    repeats = min(PIECE, array.size) // period.size
    numbers = np.tile(period, repeats) if repeats > 1 else period
    for begin in range(0, array.size, numbers.size):
        part = array[begin : begin + numbers.size]
        yield part, numbers[: part.size]


def measure_probes(bench: Bench, names: Sequence[str]) -> list[ProbeResult]:
    """A result for each name, whatever happens to its probe."""
    return measure_groups(lambda group: group_class(group)(bench), names)


def group_class(group: str) -> type[ProbeGroup]:
    """The class of a group of the catalogue."""
    module, _, name = group.partition(".")
    found: type[ProbeGroup] = getattr(importlib.import_module(f"xebench.roofs.{module}"), name)
    return found


def measure_groups(make_group: Callable[[str], ProbeGroup], names: Sequence[str]) -> list[ProbeResult]:
    """Measure probes with custom groups.

    Args:
        make_group: function that returns the object for a group's probes, by the group's name.
        names: names of probes.
    """
    results = []
    for name, members in grouped(names).items():
        group = make_group(name)
        results += [_measure(group, find_probe(member)) for member in members]
    return results


def _measure(group: ProbeGroup, probe: Probe) -> ProbeResult:
    try:
        return result_of(probe, group.measure(probe.name))
    except (Unsupported, TooLarge) as error:
        return ProbeResult(probe.name, "skipped", reason=first_line(error))
    except Undetermined as error:
        return ProbeResult(probe.name, "undetermined", reason=first_line(error))
    except (NoForm, WrongResult) as error:
        return ProbeResult(probe.name, "failed", reason=first_line(error))
    except Exception as error:
        return ProbeResult(probe.name, "failed", reason=describe_error(error))


def result_of(probe: Probe, measurement: Measurement) -> ProbeResult:
    """Rates in the probe's unit: amount over time, and bytes a ns are GB/s."""
    return ProbeResult(
        probe=probe.name,
        status="ok",
        value=measurement.amount / measurement.best_ns,
        median=measurement.amount / measurement.median_ns,
        samples=len(measurement.times_ns),
        best_ns=measurement.best_ns,
        form=measurement.form,
        rejected=measurement.rejected,
    )


def answered(arguments: list[str]) -> Any:
    """Measure the probes named after the device, in a child process."""
    device, *names = arguments
    return msgspec.to_builtins(measure_probes(Bench(Session.on(device)), names))


if __name__ == "__main__":
    # the probes import this module by name, so the script must use the classes of that copy
    answer(importlib.import_module(Program.PROBE_ROOFS).answered)
