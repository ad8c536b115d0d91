"""The user's request to `measure` and `compare`: check its parts, and open the session that measures it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import dpctl
import numpy as np

from numba_sycl import KernelCompileError
from numba_sycl.sycl_types import Queue
from xebench.dpex import direct_calls
from xebench.errors import NoDevice, XebenchError, suggestion
from xebench.functions.family import FunctionFamily, Settings, measured_apart, refuse_what_stays_here
from xebench.measuring.sampling import MIN_INSTANCES, Sampling
from xebench.records.claim import Claim
from xebench.session.session import Session
from xebench.session.session_kernels import SessionKernels
from xebench.system.runtime import select_device
from xebench.system.runtime.devices import device_class
from xebench.vocabulary import SAMPLED_STATES, Metric, State, metric_named

#: Seconds for the samples of one call of `measure` or `compare`.
BUDGET_S: Final = Sampling.budget_s

PRECISION: Final = Sampling.precision

#: Numeric arguments: may it be 0, and may it be left out?
_NUMBERS: Final = {
    "precision": (False, False),
    "budget_s": (False, False),
    "rtol": (True, False),
    "atol": (True, False),
    "bytes_moved": (True, True),
    "operations": (True, True),
}
#: Arguments that tables store as integers.
_AMOUNTS: Final = ("bytes_moved", "operations")
_MOST_AMOUNT: Final = 1 << 63


def require_choice(word: str, words: Iterable[str], what: str) -> str:
    """A word, if it is one of these.

    Raises:
        XebenchError: it is not.
    """
    words = list(words)
    if word not in words:
        raise XebenchError(f"{what}={word!r} is not known: {suggestion(str(word), words)}")
    return word


def settings_of(
    *,
    metric: str,
    state: str,
    precision: float,
    budget_s: float,
    setup: Callable[[Session], Any] | None,
    instances: int | None,
    **others: Any,
) -> Settings:
    """The settings that arguments make.

    Raises:
        XebenchError: a word is not known, a number is none that can be kept to, or instances cannot be made again.
    """
    require_choice(metric, Metric, "metric")
    require_choice(state, SAMPLED_STATES, "state")
    for name, value in {"precision": precision, "budget_s": budget_s, **others}.items():
        if name in _NUMBERS:
            require_number(name, value)
    # the result of a division may be a float
    amounts = {name: None if others.get(name) is None else round(others[name]) for name in _AMOUNTS}
    if setup is not None:
        require_function(setup, "setup")
    if instances is not None and (instances < 1 or instances % 1):
        raise XebenchError(f"instances={instances!r}: give a whole number from 1")
    if instances not in (None, 1) and setup is None:
        raise XebenchError(
            f"instances={instances}: without setup=, which makes the arguments, there is one instance only"
        )
    count = instances or (MIN_INSTANCES if setup else 1)
    sampling = Sampling(
        precision=precision, budget_s=budget_s, min_instances=count, few_instances=count, states=(State(state),)
    )
    return Settings(metric=metric, state=State(state), sampling=sampling, setup=setup, **{**others, **amounts})


def require_number(name: str, value: Any) -> None:
    """Refuse a value of an argument that must be a number.

    Raises:
        XebenchError: it is none that can be kept to.
    """
    from_zero, optional = _NUMBERS[name]
    if value is None and optional:
        return
    is_number = isinstance(value, int | float | np.integer | np.floating)
    if not is_number or not 0 <= value < math.inf or (value == 0 and not from_zero):
        least = "from 0" if from_zero else "above 0"
        raise XebenchError(f"{name}={value!r}: give a number {least} that is finite")
    if name in _AMOUNTS and value >= _MOST_AMOUNT:
        raise XebenchError(f"{name}={value!r}: give what one call needs, below 2**63")


def measure_functions(
    functions: Mapping[str, Callable[..., Any]],
    reference: str,
    claims: Mapping[str, tuple[Claim, ...]],
    settings: Settings,
    *,
    queue: Session | Queue | None,
    device: str,
    isolated: bool,
) -> FunctionFamily:
    """A family of functions, measured; see `FunctionFamily`, `session_on` and `measured_apart` for what is raised."""
    if isolated:
        refuse_what_stays_here(queue, settings)
    timed = metric_named(settings.metric).on_device_clock or settings.state == State.COLD
    session = session_on(queue, device, timed=timed)
    try:
        if isolated:
            return measured_apart(functions, reference, claims, session, settings)
        family = FunctionFamily(functions, reference, claims, session, settings)
        family.measure_here()
        return family
    except KernelCompileError as error:
        raise error.with_traceback(None) from None  # its message has the kernel's line


def require_function(function: Any, name: str) -> Callable[..., Any]:
    """The function, if it can be called.

    Raises:
        XebenchError: it cannot.
    """
    if not callable(function):
        kind = type(function).__name__
        raise XebenchError(f"{name} is a {kind}: give the function itself, without calling it, or a lambda")
    return function  # type: ignore[no-any-return]


#: The value of `device` if a queue determines it.
AUTO: Final = "auto"


def open_session(device: str = AUTO) -> Session:
    """A session on a device, for `xebench.measure` and `xebench.compare`.

    Its ``queue`` is in order and with profiling: make arrays with ``sycl_queue=session.queue``. Open it before names
    are taken out of dpnp (``from dpnp import sqrt``) or numba-dpex: those looked up afterwards are recorded.

    Args:
        device: ``auto`` (a GPU if there is one, else the CPU device with a warning), ``gpu``, ``cpu``, or a SYCL filter
            string such as ``opencl:gpu:1``.

    Returns:
        What functions may launch, copy and allocate with, as the variants of patterns do.

    Raises:
        NoDevice: nothing fits; the message says what there is.
        BrokenEnvironment: the SYCL runtime cannot be loaded.
    """
    direct_calls.install()
    chosen = select_device(device)
    if chosen.notice:
        print(f"xebench: {chosen.notice}", file=sys.stderr)
    return Session.on(chosen.device.device)


def session_on(queue: Session | Queue | None, device: str, *, timed: bool) -> Session:
    """The session for measuring functions that use a queue.

    Args:
        queue: a ``dpctl.SyclQueue``, a session, or None.
        device: device to use if there is no queue.
        timed: True if the times of its commands are needed.

    Raises:
        NoDevice: the queue's device is neither a GPU nor a CPU.
        XebenchError: it is no queue, it has no profiling, or a device is given as well.
    """
    if queue is None:
        return open_session(device)
    if device != AUTO:
        raise XebenchError(f"queue= and device={device!r} are both given: a queue has its device, so leave out device=")
    direct_calls.install()
    session = queue if isinstance(queue, Session) else _of_queue(queue)
    if device_class(session.device) is None:
        raise NoDevice(f"{session.device.filter_string} is neither a GPU nor a CPU: use a queue of another device")
    if timed and not session.queue.has_enable_profiling:
        raise XebenchError(
            "the queue keeps no times: take xebench.open_session().queue, or one with "
            "property=['in_order', 'enable_profiling'], or ask for metric='wall' and state='hot'"
        )
    return session


def _of_queue(queue: Queue) -> Session:
    if not isinstance(queue, dpctl.SyclQueue):
        raise XebenchError(
            f"queue is a {type(queue).__name__}: give a dpctl.SyclQueue, or what xebench.open_session gives"
        )
    return Session(queue, SessionKernels())
