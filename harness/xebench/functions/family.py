"""Some functions as one family: called, compared and sampled side by side, here or in a process of their own.

All functions of a call share that process, as the variants of a family share a worker, so that they are sampled in
turns. When one of them ends it, the others are measured again in another, without it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from numba_sycl.sycl_types import Queue
from xebench.errors import XebenchError, describe_error
from xebench.measuring.correctness import Expected
from xebench.measuring.device_worker import Lost
from xebench.measuring.family import FamilyLoop, Plan
from xebench.measuring.local_functions import FunctionPlace
from xebench.measuring.messages import Stage, TableRows
from xebench.measuring.place import OnePlace, Place, VariantRun
from xebench.measuring.places import RemoteProcess
from xebench.measuring.remote import BeginFunctions, RemotePlace
from xebench.measuring.samples import RowStream
from xebench.measuring.sampling import Sampling
from xebench.measuring.worker import IMPORTABLE, program
from xebench.patterns.pattern import Variant
from xebench.records.claim import Claim
from xebench.session.device_memory import Flusher
from xebench.session.session import Session
from xebench.system.runtime import DeviceInfo
from xebench.system.runtime.devices import describe
from xebench.vocabulary import Metric, Role, State, Status

#: Values in place of a pattern and its preset.
PATTERN: Final = "functions"

PRESET: Final = "default"


class Rows:
    """Keeps the rows that a `RowStream` makes."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Mapping[str, Any]]] = {"samples": [], "events": [], "machine": []}

    def send(self, message: TableRows, /) -> None:
        """Keep some rows."""
        self._rows[message.table] += message.rows

    def of(self, table: str) -> list[Mapping[str, Any]]:
        """The rows of a table."""
        return self._rows[table]


def case_id(name: str, device: DeviceInfo) -> str:
    """The key of a function."""
    return f"{PATTERN}/{name}/{PRESET}/-/{device.device_class}"


def family_id(device: DeviceInfo) -> str:
    """The key of all functions of a comparison."""
    return f"{PATTERN}/{PRESET}/-/{device.device_class}"


#: Advice on how a function's work gets recorded.
RECORDED: Final = (
    "open session = xebench.open_session() first, make arrays with sycl_queue=session.queue, and give queue=session; "
    "or ask for metric='wall'"
)

NO_COMMAND: Final = f"{{name}}: no command of it was recorded: {RECORDED}"

#: Stages in reasons: there is no problem, and nothing is prepared.
_WORDS: Final = {
    Stage.CHECK: "first call",
    Stage.PREPARE: "first call",
    Stage.RECHECK: "check after the samples",
}


@dataclass(frozen=True)
class Settings:
    """The settings of a measurement of functions.

    Attributes:
        metric: device, span, wall or build.
        state: hot or cold.
        sampling: rules that end the sampling.
        setup: makes the functions' arguments for every instance, from the session; None: they take none.
        check: True to compare results with the reference's.
        rtol, atol: tolerances of this check.
        bytes_moved, operations: least work of one call; None if unknown.
        no_command: error message for a function that records no command.
    """

    metric: str
    state: State
    sampling: Sampling
    setup: Callable[[Session], Any] | None = None
    check: bool = False
    rtol: float = 0.0
    atol: float = 0.0
    bytes_moved: int | None = None
    operations: int | None = None
    no_command: str = NO_COMMAND


#: Earlier outcomes of functions, which are not called again.
Ended = Mapping[str, tuple[Status, str]]


class FunctionFamily:
    """Functions that are measured together.

    Args:
        functions: functions by name.
        reference: name of the function with the expected results, which is also the baseline of speed-ups.
        claims: claims about each function, by name.
        session: session on the device; functions measured in this process run on it.
        settings: settings of the measurement.
        ended: functions that are not called any more.

    Attributes:
        device: the description of the session's device.
        variants: functions by name, with their outcomes.
        rows: measured rows.
        stopped_by: the rule that ended the sampling.
        compared: True if the reference returned results to compare with.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        reference: str,
        claims: Mapping[str, tuple[Claim, ...]],
        session: Session,
        settings: Settings,
        ended: Ended | None = None,
    ) -> None:
        self.device = describe(session.device)
        self.variants = {
            name: VariantRun(Variant(name, _role(name == reference), function, claims.get(name, ()), (), ""))
            for name, function in functions.items()
        }
        for name, what in (ended or {}).items():
            self.variants[name].drop(*what)
        self.rows = Rows()
        self.stopped_by = ""
        self.compared = False
        self.reference = reference
        self.session = session
        self.settings = settings

    def measure_here(self) -> None:
        """Measure all in this process; see `measure`."""
        functions = {name: run.variant.function for name, run in self.variants.items()}
        place = FunctionPlace(self.session, functions, self.settings.metric, self.settings.setup, RECORDED)
        try:
            self.measure(place)
        finally:
            place.end()

    def measure(self, place: Place) -> None:
        """Measure all functions in a place, and do not end it: a function may hang there when the user gives up.

        Raises:
            XebenchError: nothing of the reference is recorded.
            Lost: the place ends with a function.
            Exception: whatever the reference raises; what others raise ends them alone.
        """
        settings, session = self.settings, self.session
        expected = Expected(settings.rtol, settings.atol, of=self.reference)
        runs = list(self.variants.values())
        claimed = [(run.name, claim.against) for run in runs for claim in run.variant.claims if claim.against]
        plan = Plan(
            settings.metric,
            self.reference,
            compared=claimed,
            bytes_moved=settings.bytes_moved,
            essential=self.reference,
            no_command=settings.no_command,
            words=_WORDS,
        )
        stream = RowStream(self.rows, {run.name: case_id(run.name, self.device) for run in runs}, 0)
        family = FamilyLoop(
            plan,
            runs,
            OnePlace(place),
            {0: expected} if settings.check else {},
            stream,
            self.device,
            make_flusher=partial(Flusher, session.queue),
        )
        place.begin()
        self.stopped_by = family.measure_all(settings.sampling)
        stream.flush()
        self.compared = bool(expected.arrays)


def _role(is_reference: bool) -> Role:
    return Role.BASELINE if is_reference else Role.INTERMEDIATE


#: Seconds that a call may take before the process counts as hung.
PATIENCE_S: Final = 120.0


def measured_apart(
    functions: Mapping[str, Callable[..., Any]],
    reference: str,
    claims: Mapping[str, tuple[Claim, ...]],
    session: Session,
    settings: Settings,
) -> FunctionFamily:
    """Measure the functions in a process of their own and return their family.

    Args:
        functions: functions by name.
        reference: name of the function that the others are compared with.
        claims: claims about each function, by name.
        session: session on the device; the functions get one of their own.
        settings: settings of the measurement.

    Raises:
        XebenchError: another process cannot import a function, or the reference ended the process.
        Exception: whatever the reference raises.
    """
    try:
        packed = pickle.dumps((functions, settings.setup))
        begin = BeginFunctions(program(), packed, settings.metric, RECORDED)
    except (pickle.PicklingError, AttributeError, TypeError, RuntimeError) as error:
        raise XebenchError(f"{IMPORTABLE} ({describe_error(error)})") from error
    ended: dict[str, tuple[Status, str]] = {}
    while True:
        process = RemoteProcess(session.device.filter_string, {}, "its process", PATIENCE_S)
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
