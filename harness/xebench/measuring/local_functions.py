"""Functions of a script or a test as a family, on a session of this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Number
from typing import Any, Final

import numpy as np

from numba_sycl import tensor
from numba_sycl.sycl_types import Array
from xebench.dpex import direct_calls
from xebench.errors import Unsupported, XebenchError
from xebench.measuring.place import Checked, CompiledStage, Contents, Started
from xebench.measuring.samples import WAKING_NS, is_late
from xebench.measuring.spacers import Spacers
from xebench.session.recorder import MeasuredSample
from xebench.session.session import Session
from xebench.vocabulary import metric_named

#: Consecutive calls with work left on the device that exclude a disturbance by the system.
TRIES: Final = 3


class Unfinished(XebenchError):
    """A call left work on the device that is not recorded."""

    @classmethod
    def after(cls, measured: MeasuredSample) -> Unfinished:
        """The error of such a call."""
        return cls(
            f"the device works for {measured.late_ns / 1e3:.0f} us more when it returns, and nobody times that: wait "
            "for it there, or submit it to session.queue"
        )


def arrays_of(result: Any) -> dict[str, Array]:
    """Copies of the arrays and numbers in what a function returned, by their place: ``result``, ``result[0]``, ...

    What is neither, nor a list, tuple or mapping of them, is left out.
    """
    return dict(_found("result", result))


def _found(place: str, value: Any) -> Iterator[tuple[str, Array]]:
    if isinstance(value, Mapping | list | tuple):
        inside = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in inside:
            yield from _found(f"{place}[{key!r}]", item)
        return
    if isinstance(value, np.ma.MaskedArray):
        mask = np.broadcast_to(np.asarray(value.mask), value.shape)
        yield f"{place}.mask", mask.copy()
        value = np.where(mask, 0, value.data)
    array = _on_host(value)
    if array is not None and array.dtype.kind in "biufc":
        yield place, array


def _on_host(value: Any) -> Array | None:
    if isinstance(value, np.ndarray | np.generic | Number):
        return np.array(value)
    if isinstance(value, tensor.usm_ndarray):
        return np.asarray(tensor.asnumpy(value))
    to_numpy = getattr(value, "asnumpy", None)  # dpnp's
    return None if to_numpy is None else np.asarray(to_numpy())


@dataclass
class _Function:
    """A function with its arguments, called alike by samples and by checks.

    Attributes:
        call: calls it.
        take: called by a check with the function's return value.
    """

    call: Callable[[], Any]
    take: Callable[[Any], None] | None = None

    def __call__(self) -> None:
        returned = self.call()
        if self.take is not None:
            self.take(returned)


class FunctionPlace:
    """Functions of a script.

    Args:
        session: session where they run; its recording of direct calls is restored at the end.
        functions: functions by name.
        metric: device, span, wall or build.
        setup: function that makes the arguments for every instance from the session; None without arguments.
        advice: text appended to an error of ours in the first call.
    """

    is_there = True

    def __init__(
        self,
        session: Session,
        functions: Mapping[str, Callable[..., Any]],
        metric: str,
        setup: Callable[[Session], Any] | None = None,
        advice: str = "",
    ) -> None:
        self._session = session
        self._functions = functions
        self._metric = metric
        self._setup = setup
        self._advice = advice
        self._recorded = session.records_direct_calls
        self._spacers = Spacers(session.queue)
        self._forget()

    def _forget(self) -> None:
        self._arguments: tuple[Any, ...] = ()
        self._calls: dict[str, _Function] = {}  # of those whose first calls went well

    def begin(self) -> Mapping[str, Any]:
        """See `xebench.measuring.place.Place`; so for all of these."""
        self._session.records_direct_calls = metric_named(self._metric).on_device_clock
        self._session.take_compilations(), self._session.take_kernels()  # of what was done with it before
        self._arguments = self._new_arguments()
        self._watch(direct_calls.live_queues())
        return {}

    def _watch(self, queues: Sequence[Any]) -> bool:
        """Wait for these queues, too, when a sample is over; True if some of them are new."""
        watched = self._session.watched
        before = len(watched)
        watched += [queue for queue in queues if queue not in watched]
        return len(watched) > before

    def _new_arguments(self) -> tuple[Any, ...]:
        self._spacers.clear()
        self._spacers.add()
        made = () if self._setup is None else self._setup(self._session)
        arguments = made if isinstance(made, tuple) else (made,)
        self._watch(direct_calls.queues_of(*arguments))
        return arguments

    def start(self, variant: str, contents: Contents | None) -> Started:
        """Call it; its results are what it returns."""
        function = _Function(partial(self._functions[variant], *self._arguments))
        session = self._session
        try:
            checked = self._checked(function, contents)
            if self._watch(direct_calls.live_queues(new=True)):  # it made some
                checked = self._checked(function, contents)
        except (Unsupported, Unfinished):
            raise
        except XebenchError as error:
            raise XebenchError(f"{error} ({self._advice})" if self._advice else str(error)) from error
        compiled, kernels, devices = CompiledStage.taken(session), session.take_kernels(), session.take_devices()
        self._queues = session.queue_count
        self._calls[variant] = function
        measured = checked.measured
        return Started(measured.host_ns, compiled, kernels, devices, checked.results, doubt=measured.doubt)

    def reset(self) -> None:
        """Do nothing: it is unknown which arrays functions update."""

    def sample(
        self,
        variant: str,
        batch: int,
        flush: Callable[[], None] | None = None,
        *,
        reset: bool = True,
        traced: bool = False,
    ) -> MeasuredSample:
        """Flush, measure."""
        if variant not in self._calls:
            self.start(variant, None)
        if flush is not None:
            flush()
        session, call = self._session, self._calls[variant]
        measured = session.trace(call) if traced else session.measure(call, batch)
        self._session.forget_queues(self._queues)
        return measured

    def check(self, variant: str, contents: Contents | None) -> Checked:
        """Call the function once more: the results are what it returns.

        Raises:
            Unfinished: the device is never done when it returns.
        """
        return self._checked(self._calls[variant], contents)

    def _checked(self, function: _Function, contents: Contents | None) -> Checked:
        """The call of a check: once more where the device is late, which the system may have done once."""
        results: list[Any] = []

        def take(result: Any) -> None:
            if isinstance(result, Generator | Coroutine | AsyncGenerator):
                if isinstance(result, Coroutine):
                    result.close()  # else Python warns of it, too
                raise XebenchError(f"it returns a {type(result).__name__} that has not run: return results instead")
            results[:] = [result]
            self._watch(direct_calls.queues_of(result))

        for _ in range(TRIES):
            function.take = take
            try:
                measured = self._session.measure(function)
            finally:
                function.take = None
            if not is_late(measured, WAKING_NS):
                return Checked(measured, {} if contents is None else arrays_of(results.pop()))
        raise Unfinished.after(measured)

    def changed(self) -> Sequence[str]:
        """Return None: it is unknown which arrays are inputs."""
        return ()

    def renew(self, data_set: int = 0) -> None:
        """Free everything, then allocate and build again."""
        self._forget()
        self._session.release()
        self._arguments = self._new_arguments()

    def end(self) -> None:
        """Free what was made; the session is as before."""
        self._forget()
        self._spacers.clear()
        self._session.watched.clear()
        self._session.records_direct_calls = self._recorded
