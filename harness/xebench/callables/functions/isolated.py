"""Functions measured in a process of their own: a crash or a hang ends neither the script nor the other functions.

All functions of a call share that process, as the variants of a family share a worker, so that they are sampled in
turns. When one of them ends it, the others are measured again in another, without it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any, Final

from xebench.callables.functions.family import RECORDED, FunctionFamily, Settings
from xebench.errors import XebenchError, describe_error
from xebench.measuring.device_worker import Lost
from xebench.measuring.place_server import IMPORTABLE, program
from xebench.measuring.places import RemoteProcess
from xebench.measuring.remote import BeginFunctions, RemotePlace
from xebench.measuring.session.session import Session
from xebench.system.sycl_types import Queue
from xebench.tables.analysis.claim import Claim
from xebench.vocabulary import Metric, Status

#: Seconds that a call may take before the process counts as hung.
PATIENCE_S: Final = 120.0


def measured_apart(
    functions: Mapping[str, Callable[..., Any]],
    reference: str,
    claims: Mapping[str, tuple[Claim, ...]],
    session: Session,
    settings: Settings,
) -> FunctionFamily:
    """The family, measured; see `FunctionFamily`.

    Args:
        functions: by name.
        reference: the name of the one that others are compared with.
        claims: by name.
        session: on the device; the functions have another one.
        settings: how.

    Raises:
        XebenchError: a function cannot be imported elsewhere, or the reference ended the process.
        Exception: whatever the reference raises.
    """
    try:
        packed = pickle.dumps((functions, settings.setup))
        begin = BeginFunctions(program(), packed, settings.metric, RECORDED)
    except (pickle.PicklingError, AttributeError, TypeError, RuntimeError) as error:
        raise XebenchError(f"{IMPORTABLE} ({describe_error(error)})") from error
    ended: dict[str, tuple[Status, str]] = {}
    while True:
        try:
            process = RemoteProcess(session.device.filter_string, {}, "its process", PATIENCE_S)
        except Lost as lost:
            raise XebenchError(f"isolated=True: {lost.how}: see 'xebench doctor'") from None
        family = FunctionFamily(functions, reference, claims, session, settings, ended)
        try:
            family.measure(RemotePlace(process, begin))
            return family
        except Lost as lost:
            if lost.variant in (None, reference):
                raise XebenchError(f"{lost.variant or 'setup'}: {lost.how}") from None
            ended[str(lost.variant)] = lost.status, lost.how
        finally:
            process.close()


def refuse_what_stays_here(queue: Session | Queue | None, settings: Settings) -> None:
    """Refuse what functions cannot have in another process.

    Raises:
        XebenchError: a queue, or arrays of this process.
    """
    if queue is not None:
        raise XebenchError("isolated=True: a queue stays in its process: leave out queue=, and name a device=")
    if settings.setup is None and settings.metric != Metric.WALL:
        raise XebenchError(
            "isolated=True: give setup=, which makes the arguments in that process from its session, or metric='wall'"
        )
