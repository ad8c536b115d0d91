"""The session that functions are measured on: one of their own, the user's, or one on the user's queue."""

from __future__ import annotations

import warnings
from typing import Final

import dpctl

from xebench.dpex import direct_calls
from xebench.dpex.kernel_store import KernelStore
from xebench.errors import NoDevice, XebenchError
from xebench.measuring.session.session import Session
from xebench.system.runtime import select_device
from xebench.system.runtime.devices import device_class
from xebench.system.sycl_types import Queue

#: What `device` says where a queue tells it.
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
        warnings.warn(chosen.notice, stacklevel=2)
    return Session.on(chosen.device.device)


def session_on(queue: Session | Queue | None, device: str, *, timed: bool) -> Session:
    """The session that measures what uses a queue.

    Args:
        queue: a ``dpctl.SyclQueue``, a session, or None.
        device: where there is no queue.
        timed: whether the times of its commands are wanted.

    Raises:
        NoDevice: the queue's device is neither a GPU nor a CPU.
        XebenchError: it is no queue, it has no profiling, or a device is named beside it.
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
    return Session(queue, KernelStore())
