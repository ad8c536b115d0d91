"""The messages of the one channel: a worker's requests, from a run's manager or another worker, and its answers."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from xebench.measuring.case_rows import CaseResult
from xebench.measuring.stopping import InstanceLimits, Series
from xebench.vocabulary import State

if TYPE_CHECKING:
    Bytes = npt.NDArray[Any]
else:
    Bytes = np.ndarray  # which the channel sends as they are


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


class MeasureInstance(OfFamily, frozen=True, kw_only=True):
    """Request to measure one instance of a family, answered by `Instance`.

    The first request for a family makes its data, its arrays and its kernels; they stay until `FinishFamily`.

    Attributes:
        variants: names of the variants to measure; the activity page counts all of the pattern.
        case_ids: a key for each variant.
        seed: seed of the data and of the order of samples.
        number: number of the instance.
        state: state of the caches before each sample.
        limits: limits of its sampling.
        first_sample, first_block: next free numbers.
        compiled: variants whose compilation is recorded.
        compared: variants, each with another variant that a claim compares it with in addition to the baseline.
        upcoming: families that are likely to come next, in order; their data may be made meanwhile.
    """

    variants: Sequence[str]
    case_ids: Mapping[str, str]
    seed: int
    number: int = 0
    state: State = State.HOT
    limits: InstanceLimits
    first_sample: int = 0
    first_block: int = 0
    compiled: Sequence[str] = ()
    compared: Sequence[tuple[str, str]] = ()
    upcoming: Sequence[Upcoming] = ()


class FinishFamily(Message, frozen=True):
    """Request to release the family that is there, answered by `Finished`.

    Attributes:
        first: True to trace the variants before, and to try them at an odd size.
    """

    first: bool = False


class Call(Message, frozen=True):
    """Request to call a method of the worker; answered by `Returned`.

    Attributes:
        method: name of the method (`xebench.measuring.worker.Worker`).
        arguments: its arguments, pickled.
    """

    method: str
    arguments: Bytes


Request = MeasureInstance | FinishFamily | Call


class Ready(Message, frozen=True):
    """The worker has started, and waits for requests."""


class Done(Message, frozen=True):
    """The worker has done the last request."""


class Failed(Message, frozen=True):
    """The worker gives up, for a reason that is no pattern's own, and ends with this exit status."""

    reason: str
    exit_code: int


class Step(Message, frozen=True):
    """The worker begins a step other than a sample; the activity page shows samples as well."""

    variant: str | None
    stage: Stage


class TableRows(Message, frozen=True):
    """Rows of a table, as its schema has them."""

    table: str
    rows: Sequence[dict[str, Any]]


class Instance(Message, frozen=True, kw_only=True, dict=True):
    """One instance of a family, sampled in one state and checked: the unit in which a run measures, resumes and loses.

    Attributes:
        number: number of the instance.
        state: state of the caches before each sample.
        speedups: log speed-ups by variant, in each block.
        blocks: number of sampled blocks.
        seconds: seconds of sampling, with those in which arrays and kernels were made anew.
        enough: True if more blocks would have shown less than another instance.
        parts: seconds of all that was done for it, by `xebench.vocabulary.RoundPart`.
        results: results of the variants so far.
    """

    number: int
    state: State
    speedups: Mapping[str, Sequence[float]] = {}
    blocks: int = 0
    seconds: float = 0.0
    enough: bool = True
    parts: Mapping[str, float] = {}
    results: Mapping[str, CaseResult] = {}

    @cached_property
    def series(self) -> Mapping[str, Series]:
        """The log speed-ups, with their slow starts."""
        return {name: Series(np.asarray(own, float)) for name, own in self.speedups.items()}


class Finished(Message, frozen=True):
    """A family was released: results of its variants, and the seconds of that by `xebench.vocabulary.RoundPart`."""

    results: Mapping[str, CaseResult]
    parts: Mapping[str, float]


class Returned(Message, frozen=True):
    """Result of the method, or the exception it raised, pickled; an exception may be the user's own.

    The method that collects kernels (`xebench.isa`) sends one for each kernel.
    """

    value: Bytes
    raised: bool = False


WorkerMessage = Ready | Done | Failed | Step | TableRows | Instance | Finished | Returned


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
