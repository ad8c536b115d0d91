"""The messages between a run's manager and its workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from xebench.measuring.case_rows import CaseResult
from xebench.measuring.sampling import Sampling
from xebench.results.analysis.moderation import Prior
from xebench.vocabulary import State

#: Log speed-ups by variant, for each instance.
InstanceSpeedups = Sequence[Mapping[str, Sequence[float]]]


class Stage(StrEnum):
    """The step of a family, or of one of its variants, that a worker is at."""

    IDLE = "idle"
    PROBLEM = "problem"
    REFERENCE = "reference"
    PREPARE = "prepare"
    CHECK = "check"
    SAMPLE = "sample"
    RECHECK = "recheck"


class Message(msgspec.Struct, frozen=True, tag_field="kind", tag=True, forbid_unknown_fields=True):
    """The root of all messages; a worker's code in another room may add its own."""


class TestDevice(Message, frozen=True):
    """Request to test, before anything is measured, that the device computes right."""


class MeasureInstrument(Message, frozen=True):
    """Request to measure the instrument's own error."""


class Upcoming(Message, frozen=True):
    """The family that is likely to be next; see `MeasureFamily`."""

    source: str
    pattern: str
    parameters: Mapping[str, Any]


class MeasureFamily(Message, frozen=True, kw_only=True):
    """Request to measure one family of cases.

    Attributes:
        source: file of the pattern.
        pattern: name of the pattern.
        parameters: the preset's numbers and the values of the axes.
        variants: names, in the order of the activity page's numbers.
        case_ids: a key for each variant.
        sampling: limits of the sampling.
        seed: seed of the data and of the order of samples.
        first_sample, first_block, first_instance: next free numbers.
        compiled: variants whose compilation is recorded.
        last: True for the last pass.
        earlier: log speed-ups of earlier passes' instances, by state.
        compared: variants, each with another variant that a claim compares it with in addition to the baseline.
        priors: spread between instances in the run's other pairs of this metric, by state.
        upcoming: next family, whose data may be made meanwhile; None if unknown.
    """

    source: str
    pattern: str
    parameters: Mapping[str, Any]
    variants: Sequence[str]
    case_ids: Mapping[str, str]
    sampling: Sampling
    seed: int
    first_sample: int = 0
    first_block: int = 0
    first_instance: int = 0
    compiled: Sequence[str] = ()
    last: bool = True
    earlier: Mapping[str, InstanceSpeedups] = {}
    compared: Sequence[tuple[str, str]] = ()
    priors: Mapping[str, Prior] = {}
    upcoming: Upcoming | None = None


Request = TestDevice | MeasureInstrument | MeasureFamily


class Ready(Message, frozen=True):
    """The worker has started, and waits for requests."""


class Done(Message, frozen=True):
    """The worker has done the last request."""


class Failed(Message, frozen=True):
    """The worker gives up, for a reason that is no pattern's own, and ends with this exit status."""

    reason: str
    exit_code: int


class DeviceTested(Message, frozen=True):
    """A line for each check that failed."""

    failures: Sequence[str]


class Instrument(Message, frozen=True):
    """Columns of the table ``devices``."""

    row: Mapping[str, float | str | None]


class Made(Message, frozen=True):
    """A step of making a family's data on the host is over; ``all_made``: the last one."""

    all_made: bool = False


class VariantChecked(Message, frozen=True):
    """A variant was checked, or has dropped out."""

    variant: str


class TableRows(Message, frozen=True):
    """Rows of a table, as its schema has them."""

    table: str
    rows: Sequence[dict[str, Any]]


class StateSampled(Message, frozen=True):
    """A state was sampled in one pass: log speed-ups of its instances, and the seconds that it took."""

    state: State
    instances: InstanceSpeedups
    seconds: float


class VisitSeconds(Message, frozen=True):
    """The worker's part of a visit is over: its seconds by `xebench.vocabulary.VisitPart`."""

    seconds: Mapping[str, float]


class CaseOver(Message, frozen=True):
    """The result of a case."""

    variant: str
    result: CaseResult


WorkerMessage = (
    Ready
    | Done
    | Failed
    | DeviceTested
    | Instrument
    | Made
    | VariantChecked
    | TableRows
    | StateSampled
    | CaseOver
    | VisitSeconds
)
