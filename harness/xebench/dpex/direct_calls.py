"""Record what a variant submits past its session, as if it had used the session.

A worker process calls :func:`install` before it imports benchmark files. Functions of numba-dpex (where it is), dpnp
and ``dpctl.tensor`` then have stand-ins, which do what the original does until `numba_sycl.recording.recorded_by` names
the session that takes the calls. A session's queues are :class:`RecordedQueue`. Commands that go yet another way, such
as those of ``dpctl.memory``, are left to the comparison of host times (:mod:`xebench.results.analysis.answer`).
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Mapping, Sequence
from typing import Any

import dpctl
import dpnp

from numba_sycl.events import DeviceEvent
from numba_sycl.recording import Recording, recording
from numba_sycl.stacks import is_current
from numba_sycl.sycl_types import Event
from numba_sycl.tensor import tensor

#: Where functions of arrays are found by users of dpnp and of dpctl.
_LIBRARIES = (dpnp, dpnp.fft, dpnp.linalg, dpnp.random, tensor)

#: How ``array[...] = value`` copies.
_COPIES = ("_copy_from_usm_ndarray_to_usm_ndarray", "_copy_from_numpy_into")


class RecordedQueue(dpctl.SyclQueue):  # type: ignore[misc]
    """A queue whose commands a session records, also when a variant submits them by dpctl's own methods."""

    def submit(self, *arguments: Any, **options: Any) -> Any:
        """``SyclQueue.submit``."""
        return self._noted("kernel", "submit", super().submit(*arguments, **options))

    def submit_async(self, *arguments: Any, **options: Any) -> Any:
        """``SyclQueue.submit_async``."""
        return self._noted("kernel", "submit_async", super().submit_async(*arguments, **options))

    def memcpy(self, *arguments: Any, **options: Any) -> None:
        """``SyclQueue.memcpy``."""
        self.memcpy_async(*arguments, **options).wait()

    def memcpy_async(self, dest: Any, src: Any, count: int, *arguments: Any, **options: Any) -> Any:
        """``SyclQueue.memcpy_async``."""
        event = super().memcpy_async(dest, src, count, *arguments, **options)
        return self._noted("copy", "memcpy", event, (dest, src, count))

    def submit_barrier(self, *arguments: Any, **options: Any) -> Any:
        """``SyclQueue.submit_barrier``."""
        return self._noted("barrier", "barrier", super().submit_barrier(*arguments, **options))

    def wait(self) -> None:
        """``SyclQueue.wait``."""
        if DeviceEvent.watcher is not None:
            DeviceEvent.watcher(None)
        super().wait()

    def _noted(self, kind: str, name: str, event: Event, copied: tuple[Any, Any, int] | None = None) -> Any:
        if (session := recording()) is not None:
            session.note_directly(kind, name, self, event, copied)
        return event


class _StandIn:
    """A function that a session may take over; like the original in all else, to numba as well."""

    def __init__(self, name: str, original: Any) -> None:
        self.original = original
        functools.update_wrapper(self, original, updated=())
        self.__name__ = name  # some of dpnp's have none

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if (session := recording()) is None:
            return self.original(*arguments, **options)
        return self._recorded(session, arguments, options)

    def _recorded(self, session: Recording, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        return session.call_directly(self, arguments, options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.original == (other.original if isinstance(other, _StandIn) else other))

    def __hash__(self) -> int:
        return hash(self.original)


class _Copy(_StandIn):
    """A copy into an array, which says by its name if it converts the elements."""

    def _recorded(self, session: Recording, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        target, source = (getattr(each, "dtype", None) for each in arguments[:2])
        named = self if target == source else _StandIn(f"convert {source} to {target}", self.original)
        return session.call_directly(named, arguments, options)


class _CallKernel(_StandIn):
    """``call_kernel``: returns when the kernel is over."""

    def _recorded(self, session: Recording, arguments: Sequence[Any], options: Mapping[str, Any]) -> None:
        kernel, index_space, *kernel_arguments = arguments
        session.launch_directly(kernel, index_space, kernel_arguments, ()).wait()


class _CallKernelAsync(_StandIn):
    """``call_kernel_async``: gives the events of the release of the arguments and of the kernel."""

    def _recorded(self, session: Recording, arguments: Sequence[Any], options: Mapping[str, Any]) -> tuple[Any, Any]:
        kernel, index_space, depends, *kernel_arguments = arguments
        event = session.launch_directly(kernel, index_space, kernel_arguments, depends).sycl_event
        return event, event


class _QueueType(type(dpctl.SyclQueue)):  # type: ignore[misc]
    """Makes queues; a session cannot record the commands of those that a variant makes by itself."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        queue = cls.__base__(*arguments, **options)
        if (session := recording()) is not None:
            session.doubt_directly(
                "it makes a SyclQueue of its own, whose commands are not timed: use session.new_queue()", queue
            )
        return queue

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__base__)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.__base__)


@functools.cache
def install() -> None:
    """Put the stand-ins in place, for the rest of the process."""
    if not is_current():
        _install_in_numba_dpex()
    for library in _LIBRARIES:
        for name, function in list(vars(library).items()):
            if _is_function(name, function):
                setattr(library, name, _StandIn(name, function))
    for name in _COPIES:
        setattr(tensor._copy_utils, name, _Copy("copy", getattr(tensor._copy_utils, name)))
    dpctl.SyclQueue = _QueueType("SyclQueue", (dpctl.SyclQueue,), {"__module__": "dpctl"})


def _install_in_numba_dpex() -> None:
    import numba_dpex
    from numba_dpex.core import kernel_launcher

    from xebench import dpex

    callers: tuple[Any, ...] = (numba_dpex, kernel_launcher, dpex)
    for module in callers:
        module.call_kernel = _CallKernel("call_kernel", module.call_kernel)
        module.call_kernel_async = _CallKernelAsync("call_kernel_async", module.call_kernel_async)


def _is_function(name: str, value: Any) -> bool:
    return callable(value) and not name.startswith("_") and not isinstance(value, type | _StandIn)


def queues_of(*values: Any) -> list[Any]:
    """The queues of the arrays among some arguments, and of those in lists and tuples among them; each once."""
    queues: list[Any] = []
    for value in values:
        found = queues_of(*value) if isinstance(value, list | tuple) else [getattr(value, "sycl_queue", None)]
        queues.extend(queue for queue in found if queue is not None and queue not in queues)
    return queues


def live_queues(*, new: bool = False) -> list[dpctl.SyclQueue]:
    """Every queue of this process that Python can reach, with or without a session.

    Args:
        new: only among objects that are too young for Python to have looked at them twice: a look at all takes 30 ms.
    """
    # by their types: isinstance() would have strangers' proxies do something
    types = {RecordedQueue, RecordedQueue.__base__}
    objects = (one for age in range(2 if new else 3) for one in gc.get_objects(age))
    return [one for one in objects if type(one) in types]
