"""The messages of the one channel: a worker's requests, from a run's manager or another worker, and its answers."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from xebench.measuring.case_rows import CaseResult
from xebench.measuring.sampling import Sampling
from xebench.results.analysis.moderation import Prior
from xebench.vocabulary import State

if TYPE_CHECKING:
    Bytes = npt.NDArray[Any]
else:
    Bytes = np.ndarray  # which the channel sends as they are

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
    """The root of all messages."""


class OfFamily(Message, frozen=True):
    """The root of messages about one family.

    Attributes:
        source, pattern: file and name of the pattern.
        parameters: the preset's numbers and the values of the axes.
    """

    source: str
    pattern: str
    parameters: Mapping[str, Any]


class Upcoming(OfFamily, frozen=True):
    """A family that is likely to come soon; see `MeasureFamily`."""


class MeasureFamily(OfFamily, frozen=True, kw_only=True):
    """Request to measure one family of cases.

    Attributes:
        variants: names, in the order of the activity page's numbers.
        case_ids: a key for each variant.
        sampling: limits of the sampling.
        seed: seed of the data and of the order of samples.
        first_sample, first_block, first_instance: next free numbers.
        compiled: variants whose compilation is recorded.
        last: True for the last round.
        earlier: log speed-ups of earlier rounds' instances, by state.
        compared: variants, each with another variant that a claim compares it with in addition to the baseline.
        priors: spread between instances in the run's other pairs of this metric, by state.
        upcoming: families that are likely to come next, in order; their data may be made meanwhile.
    """

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
    upcoming: Sequence[Upcoming] = ()


class Call(Message, frozen=True):
    """Request to call a method of the worker; answered by `Returned`.

    Attributes:
        method: name of the method (`xebench.measuring.worker.Worker`).
        arguments: its arguments, pickled.
    """

    method: str
    arguments: Bytes


Request = MeasureFamily | Call


class Ready(Message, frozen=True):
    """The worker has started, and waits for requests."""


class Done(Message, frozen=True):
    """The worker has done the last request."""


class Failed(Message, frozen=True):
    """The worker gives up, for a reason that is no pattern's own, and ends with this exit status."""

    reason: str
    exit_code: int


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
    """A state was sampled in one round: log speed-ups of its instances, and the seconds that it took."""

    state: State
    instances: InstanceSpeedups
    seconds: float


class RoundSeconds(Message, frozen=True):
    """The worker's part of a round is over: its seconds by `xebench.vocabulary.RoundPart`."""

    seconds: Mapping[str, float]


class CaseOver(Message, frozen=True):
    """The result of a case."""

    variant: str
    result: CaseResult


class Returned(Message, frozen=True):
    """Result of the method, or the exception it raised, pickled; an exception may be the user's own.

    The method that collects kernels (`xebench.isa`) sends one for each kernel.
    """

    value: Bytes
    raised: bool = False


WorkerMessage = (
    Ready | Done | Failed | Made | VariantChecked | TableRows | StateSampled | CaseOver | RoundSeconds | Returned
)


def pickled(value: Any) -> Bytes:
    """A value for another process of this program."""
    text = io.BytesIO()
    _Pickler(text).dump(value)
    return np.frombuffer(text.getbuffer(), np.uint8)


class _Pickler(pickle.Pickler):
    """Writes an array of one repeated number, such as a poison, as that number."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.size > 1 and not any(value.strides):
            return np.broadcast_to, (value[(0,) * value.ndim], value.shape)
        return NotImplemented


def unpickled(answer: Returned) -> Any:
    """The value that a method has returned, as it was there.

    Raises:
        BaseException: what it has raised.
    """
    value = pickle.loads(answer.value.data)
    if answer.raised:
        raise value
    return value
