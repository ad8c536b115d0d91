"""Every kernel that the suite launches, without launching any.

Types of arguments and captured values decide which kernels there are, not how large a problem is. So every variant runs
in a session whose store takes note of what it is to launch, and launches nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from numba_sycl.events import DeviceEvent
from xebench.dpex import direct_calls
from xebench.errors import Unsupported, describe_error
from xebench.measuring.bound_problem import Binding, Bound
from xebench.measuring.place import accepted_parameters, start
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.pattern import Variant
from xebench.patterns.plan import Family, build_plan
from xebench.patterns.problem import Problem
from xebench.session.device_memory import DeviceMemory
from xebench.session.session import Session
from xebench.session.session_kernels import SessionKernels
from xebench.vocabulary import DeviceClass

#: Sub-group sizes that devices offer: Intel's CPUs and GPUs, and other vendors' GPUs.
SUB_GROUP_SIZES: Final = (8, 16, 32, 64)


class NotingStore(SessionKernels):
    """Takes note of the kernels of launches, and launches nothing.

    Args:
        note: function that is called with the kernel, the index space and the arguments of each launch.
    """

    def __init__(self, note: Callable[[Any, Any, Sequence[Any]], None]) -> None:
        super().__init__()
        self._take = note

    def submit(
        self,
        kernel: Any,
        queue: Any,
        index_space: Any,
        arguments: Sequence[Any],
        depends: Sequence[Any] = (),
        submitter: Any = None,
    ) -> DeviceEvent:
        """An event without times."""
        self._take(kernel, index_space, arguments)
        return DeviceEvent(queue.submit_barrier())


class CompilingSession(Session):
    """A session whose device has a chosen sub-group size, and which runs no kernel.

    Attributes:
        sub_group_size: sub-group size of the intended device.
    """

    sub_group_size = SUB_GROUP_SIZES[0]


def collect_kernels(store: SessionKernels, patterns: Sequence[PatternInfo], known: Callable[[], int]) -> Iterator[str]:
    """Request every kernel of some patterns; yields a line for each variant that fails.

    Where the second preset's sizes ask for no kernel that the first did not, on a CPU, where they are smallest, sizes
    are no part of the kernels, and all others are left out: large problems take long, and may not fit this machine.

    Args:
        store: store that the launches are requested of.
        patterns: patterns of the suite, or any other.
        known: function that returns the number of kernels requested so far.
    """
    direct_calls.install()
    session = CompilingSession(Session.on("cpu").queue, store)
    for info in patterns:
        first, *others = info.presets
        yield from collect_preset(session, info, first, tuple(DeviceClass))
        for preset in others:
            before = known()
            yield from collect_preset(session, info, preset, (DeviceClass.CPU,))
            if known() == before:
                break
            yield from collect_preset(session, info, preset, tuple(DeviceClass))


def collect_preset(
    session: CompilingSession, info: PatternInfo, preset: str, device_classes: Sequence[DeviceClass]
) -> Iterator[str]:
    """Request the kernels of one preset; yields a line for each variant that fails."""
    for family in build_plan([info], preset):
        yield from _collect_family(session, info, family, device_classes)
        gc.collect()  # what variants prepared refers to itself, and holds arrays


def _collect_family(
    session: CompilingSession, info: PatternInfo, family: Family, device_classes: Sequence[DeviceClass]
) -> Iterator[str]:
    pattern = find_pattern(info.source, info.name)
    made: dict[str, tuple[Problem, Binding]] = {}
    failures: dict[str, None] = {}
    for concrete in _on_devices(family, device_classes):
        session.sub_group_size = concrete.sub_group_size
        numbers = concrete.numbers
        # one problem at a time: those of the guide are large
        key = repr(accepted_parameters(pattern.make_problem, numbers)) if pattern.make_problem else ""
        if key not in made:
            made.clear()
            problem = make_problem(pattern, numbers, 0)
            made[key] = problem, Binding(problem, numbers, DeviceMemory(session.queue))
        problem, binding = made[key]
        others = {name: number for name, number in numbers.items() if name not in problem.fields}
        bound = binding.bound.with_numbers(others)
        for variant in pattern.variants.values():
            failure = run_variant(session, variant, bound, numbers)
            if failure and not any(claim.word == "error" for claim in variant.claims):
                failures[f"{info.name}/{variant.name}: {failure}"] = None
    session.release()
    yield from failures


def run_variant(session: Session, variant: Variant, bound: Bound, parameters: Mapping[str, Any]) -> str:
    """Run a variant once in a session that launches nothing; return how it failed, or ""."""
    failure, sample = "", None
    try:
        sample = start(variant.function, session, bound, parameters)
    except Unsupported:
        pass  # by the device here: what it was to launch is compiled
    except Exception as error:
        failure = describe_error(error)
    session.wait()
    del sample  # which has the arrays of what was not over
    session.forget_queues(1)
    session.begin()
    return failure


class _OnDevice:
    """A family as a certain device has it."""

    def __init__(self, family: Family, device_class: DeviceClass, sub_group_size: int) -> None:
        concrete = family.on(device_class, (sub_group_size,))
        self.sub_group_size = sub_group_size
        self.numbers: dict[str, Any] = dict(concrete.parameters)


def _on_devices(family: Family, device_classes: Sequence[DeviceClass]) -> list[_OnDevice]:
    """The family for each class of devices that differ in sizes, and for each sub-group size."""
    seen: dict[str, _OnDevice] = {}
    for device_class in device_classes:
        for size in SUB_GROUP_SIZES:
            one = _OnDevice(family, device_class, size)
            seen.setdefault(f"{one.numbers} {size}", one)
    return list(seen.values())
