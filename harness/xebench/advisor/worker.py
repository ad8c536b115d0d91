"""Collect facts on a device: of a function here, and as a worker of the variants of a pattern."""

from __future__ import annotations

import pickle
import statistics
from collections.abc import Callable, Sequence
from typing import Any, Final

import dpctl
import numpy as np

from numba_sycl import recording
from numba_sycl.signature import ArrayType, CompiledKernel, index_space_extents
from xebench.advisor.accesses import accesses_of, divergent_share
from xebench.advisor.facts import Device, Facts, KernelFacts, SampleFacts
from xebench.advisor.work_items import Unreadable, read_launch
from xebench.dpex import direct_calls
from xebench.dpex.spirv_facts import computes_doubles
from xebench.measuring.bound_problem import Binding
from xebench.measuring.messages import Call, Returned, Stage, pickled
from xebench.measuring.place import start
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.measuring.traced_facts import traced_facts
from xebench.records.device_facts import Roof
from xebench.roofs.measure import Store
from xebench.session.device_memory import DeviceMemory
from xebench.session.session import Session
from xebench.system import runtime
from xebench.system.children.worker import Parent
from xebench.system.runtime.devices import describe, usual_sub_group_size

#: Samples of which facts are medians.
SAMPLES: Final = 5
#: Kernels of a sample that are read.
MOST_KERNELS: Final = 8

Request = Call


def prepare(device: str, parent: Parent) -> Callable[[Call], None]:
    """Open a session, and return the function that examines variants on it."""
    direct_calls.install()
    session = Session.on(runtime.select_device(device).device.device)

    def examine(call: Call) -> None:
        source, name, parameters, variants = pickle.loads(call.arguments.data)
        parent.activity.show(None, Stage.PROBLEM)
        pattern = find_pattern(source, name)
        binding = Binding(make_problem(pattern, parameters, 0), parameters, DeviceMemory(session.queue))
        for number, variant in enumerate(variants):
            parent.activity.show(number, Stage.SAMPLE)
            binding.reset()
            function = pattern.variants[variant].function
            began = _Reader()
            with session.observing(began.note):
                sample = start(function, session, binding.bound, parameters)
                session.wait()
            parent.answers.send(Returned(pickled(_facts(variant, session, sample, began.kernels, binding.reset))))
        session.release()

    return examine


def examine_function(function: Callable[[], Any], name: str, session: Session) -> Facts:
    """The facts of a function that launches on a session."""
    reader = _Reader()
    with session.observing(reader.note), session.watching():
        function()
        session.wait()
    return _facts(name, session, function, reader.kernels)


def _facts(
    name: str,
    session: Session,
    function: Callable[[], Any],
    kernels: Sequence[KernelFacts],
    reset: Callable[[], None] = lambda: None,
) -> Facts:
    samples = []
    for _ in range(SAMPLES):
        reset()
        samples.append(session.measure(function))
    reset()
    traced = session.trace(function)
    known = traced_facts(traced)
    copies = [event for event in traced.events if (event.route or "").count("device") == 1]  # the other end is the host
    facts = SampleFacts(
        host_ns=int(statistics.median(sample.host_ns for sample in samples)),
        device_ns=int(statistics.median(_busy(sample.events) for sample in samples)),
        kernels=sum(event.kind == "kernel" for event in traced.events),
        copies=len(copies),
        allocations=known.get("allocations", 0),
        copied_bytes=sum(event.bytes or 0 for event in copies),
        copy_ns=sum(event.end_ns - event.start_ns for event in copies),
        making_ns=known.get("making_ns", 0),
    )
    return Facts(name, _device(session.device), list(kernels), facts)


def _busy(events: Sequence[Any]) -> int:
    return sum(event.end_ns - event.start_ns for event in events if event.kind != "barrier")


def _device(device: dpctl.SyclDevice) -> Device:
    about = describe(device)
    roofs = Store().last(about)
    return Device(
        about.name,
        about.vendor,
        about.device_class,
        about.global_cache_bytes,
        usual_sub_group_size(about.sub_group_sizes) if about.sub_group_sizes else 1,
        None if roofs is None else roofs.roofs()[Roof.BANDWIDTH.column],
    )


class _Reader:
    """Reads each kernel when it is first launched."""

    def __init__(self) -> None:
        self._read: dict[str, KernelFacts] = {}

    @property
    def kernels(self) -> list[KernelFacts]:
        """Facts of the kernels so far."""
        return [*self._read.values()]

    def note(
        self, kernel: Any, compiled: CompiledKernel, index_space: Any, arguments: Sequence[Any], queue: dpctl.SyclQueue
    ) -> None:
        """Read a launch, before it is submitted."""
        if compiled.sha256 in self._read or len(self._read) >= MOST_KERNELS:
            return
        extents, local = index_space_extents(index_space)
        own = tuple(extents), None if local is None else tuple(local)
        arrays = [one.dtype for one in compiled.signature.arguments if isinstance(one, ArrayType)]
        reals = {dtype for dtype in arrays if np.dtype(dtype).kind == "f"}
        queue.wait()
        try:
            with recording.unrecorded:
                reading = read_launch(kernel, index_space, arguments)
        except Unreadable as why:
            name = getattr(getattr(kernel, "py_func", None), "__name__", compiled.name)
            self._read[compiled.sha256] = KernelFacts(name, *own, unreadable=str(why))
            return
        first = reading.lanes[0]
        self._read[compiled.sha256] = KernelFacts(
            reading.kernel,
            *own,
            accesses=accesses_of(reading),
            barriers=first.barriers,
            private_bytes=first.private_bytes,
            divergent_share=divergent_share(reading.lanes),
            functions=tuple(first.functions.most_common()),
            is_whole=first.is_whole,
            computes_doubles=reals == {"float32"} and computes_doubles(compiled.spirv),
        )
