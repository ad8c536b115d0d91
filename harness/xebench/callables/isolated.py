"""Functions measured in a process of their own: a crash or a hang ends neither the script nor the other functions.

All functions of a call share that process, as the variants of a family share a worker, so that they are sampled in
turns. When one of them ends it, the others are measured again in another, without it.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final

from xebench.analysis.claim import Claim
from xebench.callables.asked import session_for
from xebench.callables.family import FunctionFamily, Settings
from xebench.callables.tables import run_of
from xebench.children.lifetime import die_with_parent
from xebench.children.process_exit import how_it_ended
from xebench.errors import XebenchError, named
from xebench.tables import Run
from xebench.vocabulary import Metric, Status

#: Seconds without a result, beside those for the samples, after which the process is ended.
PATIENCE_S: Final = 120.0

IMPORTABLE: Final = (
    "isolated=True: another process must be able to import every function: define it with def at the top of a file, "
    "and begin a script's own work with if __name__ == '__main__':"
)

#: What became of functions that ended their process.
Ended = dict[str, tuple[Status, str]]


@dataclass(frozen=True)
class Work:
    """What is measured, where and how."""

    functions: Mapping[str, Callable[..., Any]]
    reference: str
    claims: Mapping[str, tuple[Claim, ...]]
    device: str
    settings: Settings

    def family(self) -> FunctionFamily:
        """All of it, in this process, on a session of its own."""
        session = session_for(None, self.device, self.settings)
        return FunctionFamily(self.functions, self.reference, self.claims, session, self.settings)


def measured_apart(work: Work, queue: Any) -> tuple[Run, bool]:
    """The tables, and whether there were results to compare.

    Args:
        work: what is measured.
        queue: must be None.

    Raises:
        XebenchError: a function cannot be imported elsewhere, or the reference ended the process.
        Exception: whatever the reference raises.
    """
    if queue is not None:
        raise XebenchError("isolated=True: a queue stays in its process: leave out queue=, and name a device=")
    if work.settings.setup is None and work.settings.metric != Metric.WALL:
        raise XebenchError(
            "isolated=True: give setup=, which makes the arguments in that process from its session, or metric='wall'"
        )
    try:
        packed = pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise XebenchError(f"{IMPORTABLE} ({named(error)})") from error
    ended: Ended = {}
    while True:
        found = _attempt(work, packed, ended)
        if isinstance(found, Exception):
            raise found
        if isinstance(found, tuple):
            return found
        ended |= found


def _attempt(work: Work, packed: bytes, ended: Ended) -> tuple[Run, bool] | Exception | Ended:
    """What one process found, or which function ended it."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    at_work = context.RawValue("i", -1)
    process = context.Process(target=_serve, args=(sender, at_work, packed, ended, os.getpid()), daemon=True)
    process.start()
    sender.close()
    try:
        found = _received(receiver, PATIENCE_S + work.settings.sampling.budget_s)
    finally:
        receiver.close()
        hung = _stop(process)
    if found is not None:
        return found
    if at_work.value < 0:
        return XebenchError(f"{IMPORTABLE} (the process {how_it_ended(process.exitcode or 0)} before it measured)")
    name = list(work.functions)[at_work.value]
    why = "gave no result in time" if hung else how_it_ended(process.exitcode or 0)
    if name == work.reference or name in ended:
        return XebenchError(f"{name}: its process {why}")
    return {name: (Status.TIMEOUT if hung else Status.CRASHED, f"its process {why}")}


def _received(receiver: Connection, timeout_s: float) -> tuple[Run, bool] | Exception | None:
    """What the process sends; None if it ends first, or says nothing in time."""
    try:
        return receiver.recv() if receiver.poll(timeout_s) else None
    except EOFError:
        return None


def _stop(process: BaseProcess) -> bool:
    """Wait for the end of a process that has closed its pipe; end one that hangs, and say so."""
    process.join(1.0)
    hung = process.is_alive()
    if hung:
        process.kill()
        process.join()
    return hung


def _serve(sender: Connection, at_work: Any, packed: bytes, ended: Ended, parent: int) -> None:
    """The other process: measure, send, and leave without exit handlers, in which drivers have crashed."""
    die_with_parent()
    if os.getppid() == parent:
        try:
            found: Any = _measure(pickle.loads(packed), at_work, ended)
        except Exception as error:
            found = error
        sender.send_bytes(_sendable(found))
        sender.close()
    os._exit(0)


def _measure(work: Work, at_work: Any, ended: Ended) -> tuple[Run, bool]:
    family = work.family()
    for number, (name, variant) in enumerate(family.variants.items()):
        family.observe(name, partial(setattr, at_work, "value", number))
        if name in ended:
            variant.drop(*ended[name])
    family.measure()
    return run_of(family), family.compared


def _sendable(found: Any) -> bytes:
    """Pickled; an error that cannot be, or cannot be read again, in a line."""
    try:
        packed = pickle.dumps(found)
        if isinstance(found, Exception):
            pickle.loads(packed)
        return packed
    except Exception:
        return pickle.dumps(XebenchError(named(found)))
