"""The words that the runner, the tables, the analysis and the reports share, each declared once.

A new metric or flag is one row here, and one function where its numbers come from (docs/extending.md). Imports the
standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, Self, TypeVar

T = TypeVar("T")


class DeviceClass(StrEnum):
    """The class of a row's device; part of every key, so that a CPU is never compared with a GPU."""

    GPU = "gpu"
    CPU = "cpu"


class Role(StrEnum):
    """A variant's role in the lesson of its pattern."""

    NAIVE = "naive"
    INTERMEDIATE = "intermediate"
    OPTIMIZED = "optimized"
    BASELINE = "baseline"
    ANTIPATTERN = "antipattern"


#: Roles that the others are compared with: the first of them that a family has.
BASELINE_ROLES: Final = (Role.NAIVE, Role.BASELINE, Role.ANTIPATTERN)


def find_baseline(members: Iterable[T], role: Callable[[T], str]) -> T | None:
    """The member of a family that the others are compared with, or None.

    Args:
        members: variants of one family, or their rows.
        role: function that returns the role of a member.
    """
    able = [member for member in members if role(member) in BASELINE_ROLES]
    return min(able, key=lambda member: BASELINE_ROLES.index(Role(role(member))), default=None)


#: How the names of variants begin where a run has two versions of each (`xebench ab`).
OLD_VERSION: Final = "old:"
NEW_VERSION: Final = "new:"


class Status(StrEnum):
    """The outcome of a case."""

    OK = "ok"
    WRONG = "wrong"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    ERROR = "error"
    SKIPPED = "skipped"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"


#: The instrument or a variant failed: the command's exit status is 1.
FAILED: Final = frozenset({Status.WRONG, Status.CRASHED, Status.TIMEOUT, Status.ERROR})

#: A case that was never run, on purpose: the device lacks what it needs.
NEVER_RUN: Final = frozenset({Status.SKIPPED, Status.REFUSED})


class State(StrEnum):
    """The state in which a sample was taken: compilation, warm-up, caches left by earlier samples (hot) or flushed
    (cold), or traced: an execution whose host calls are timed one by one and which does not count.
    """

    COMPILE = "compile"
    WARMUP = "warmup"
    HOT = "hot"
    COLD = "cold"
    TRACED = "traced"


#: States whose samples count.
SAMPLED_STATES: Final = (State.HOT, State.COLD)

#: The sampled states, by the user's option.
STATES_ASKED: Final = {"hot": (State.HOT,), "cold": (State.COLD,), "both": (State.HOT, State.COLD)}


class RoundPart(StrEnum):
    """The part of a family's round that a second belongs to."""

    STARTING = "starting"  # a worker; what was lost with one is counted here too
    MAKING = "making"  # the problem and its reference on the host
    UPLOADING = "uploading"  # arrays to the device, once for each instance
    BUILDING = "building"  # the first call of a variant in an instance: compilation, preparation
    WARMING_UP = "warming up"
    SAMPLING = "sampling"  # samples that count, and the rule that ends them
    CHECKING = "checking"  # results and inputs
    ENDING = "ending"  # rows are sent, memory is freed


class CheckResult(StrEnum):
    """The state of the check of a case's results after some of its samples: the latest for a sample decides."""

    PASSED = "passed"
    WRONG = "wrong"
    SUPERSEDED = "superseded"  # the case is measured again


class StopReason(StrEnum):
    """The reason why sampling of a family ended."""

    PRECISION = "precision"
    BUDGET = "budget"
    MAX_BLOCKS = "max blocks"
    ROUND = "round"  # another round was to follow, if there was time


#: Why a run ended before all was as precise as requested, in the manifest's ``ended_by``; or the name of a signal.
RUN_BUDGET: Final = "run budget"


#: The generator of numpy whose numbers problem functions draw: a run's seed says which numbers these are.
GENERATOR: Final = "Philox"


class Outcome(StrEnum):
    """The result of comparing two variants' samples. The first three are also words of a claim."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    NONE = "none"


#: How ``cases.parameters_from`` begins where the sizes of preset ``guide`` are not the guide's.
OWN_SIZES: Final = "ours"

#: Words of a claim about a variant's time.
TIME_CLAIMS: Final = (Outcome.FASTER, Outcome.SLOWER, Outcome.SAME)

#: Word of a claim about a variant with a data race: a right result does not refute it.
MAY_BE_WRONG: Final = "may be wrong"

#: Words of a claim about a variant's end: its result is wrong, or may be, or it is refused or fails.
END_CLAIMS: Final = ("wrong", MAY_BE_WRONG, "error")

#: Word of a claim about a variant's result: its largest error is smaller.
ACCURACY_CLAIMS: Final = ("accurate",)


class Strength(StrEnum):
    """Who makes a claim, and how firmly."""

    FIGURE = "figure"  # the guide prints a figure
    STATED = "stated"  # the guide says it
    IMPLIED = "implied"  # it follows from what the guide says
    OURS = "ours"  # the guide does not say it


class Answer(StrEnum):
    """Does the claim hold on this device?"""

    HOLDS = "holds"
    INVERTS = "inverts"
    NO_EFFECT = "no effect"
    SAME_PROGRAM = "same program"  # both sides are: there is nothing to compare
    UNDECIDED = "undecided"
    NO_CLAIM = "no claim"
    SKIPPED = "skipped"
    NOT_ASKED = "not asked"  # the device lacks a fact that the claim requires


#: Answers that a measurement gives.
JUDGED: Final = (Answer.HOLDS, Answer.INVERTS, Answer.NO_EFFECT)

#: Answers to a claim; the others say that there is none, that nothing was run, or that it is made of other devices.
ANSWERED: Final = (*JUDGED, Answer.SAME_PROGRAM, Answer.UNDECIDED)


class Evidence(StrEnum):
    """The evidence that a time is read from. A flag spoils evidence, and so every metric that rests on it."""

    INTERVALS = "start and end of the device's events"
    SUBMISSIONS = "submission of the device's events"
    HOST = "the host's clock"
    STATE = "the state that the sample is meant to be of"


class Word(StrEnum):
    """A word that has attributes: a declaration gives the word first, and ``__init__`` takes all of it."""

    def __new__(cls, name: str, *attributes: object) -> Self:
        """The word alone is the value."""
        word = str.__new__(cls, name)
        word._value_ = name
        return word


class CodeClaim(Word):
    """Words of a claim about the generated code: the variant has fewer of these.

    Attributes:
        unit: unit of the count, for sentences.
        together: rule that combines the counts of a variant's kernels: the ``largest`` (a hardware thread frees its
            resources after each kernel), the ``smallest``, the ``sum``, or the ``count`` of kernels with a count above
            0.
        columns: columns of table ``isa`` (`xebench.isa.table`), added up for a kernel.
    """

    def __init__(self, name: str, unit: str, together: str, *columns: str) -> None:
        self.unit = unit
        self.together = together
        self.columns = columns

    LANES = ("lanes", "lanes", "smallest", "simd_width")
    REGISTERS = ("registers", "registers", "largest", "registers_used")
    SPILLS = ("spills", "bytes outside registers", "largest", "spill_bytes", "private_bytes")
    SPILLING_KERNELS = (
        "spilling_kernels",
        "kernels with bytes outside registers",
        "count",
        "spill_bytes",
        "private_bytes",
    )
    MESSAGES = (
        "messages",
        "messages to memory",
        "sum",
        *(f"{kind}s_{space}" for kind in ("load", "store", "atomic") for space in ("global", "slm")),
        "loads_scratch",
        "stores_scratch",
    )
    ADDRESSES = ("addresses", "registers for the addresses of a message", "largest", "address_registers")
    LATE_LOADS = ("late_loads", "loads behind a store", "sum", "late_loads")
    INSTRUCTIONS = ("instructions", "instructions", "sum", "instructions")
    ADDITIONS = ("additions", "floating-point additions", "sum", "additions")
    BRANCHES = ("branches", "branches", "sum", "instructions_control")


class Metric(Word):
    """The time of a sample that counts: the words of a pattern's declaration.

    Attributes:
        column: column of table ``samples``, in ns per execution.
        meaning: description in the documentation of tables.
        rests_on: kind of evidence that the metric is computed from.
    """

    def __init__(self, name: str, column: str, meaning: str, *rests_on: Evidence) -> None:
        self.column = column
        self.meaning = meaning
        self.rests_on = frozenset({*rests_on, Evidence.STATE})

    DEVICE = (
        "device",
        "device_ns",
        "Union of the intervals in which the sample's events ran.",
        Evidence.INTERVALS,
    )
    SPAN = (
        "span",
        "span_ns",
        "First submit to last end of the sample's events.",
        Evidence.INTERVALS,
        Evidence.SUBMISSIONS,
    )
    BUILD = ("build", "build_ns", "Host time in which the driver built the sample's kernels.", Evidence.HOST)
    WALL = ("wall", "host_ns", "Host time from the first call until everything is over.", Evidence.HOST)

    @property
    def on_device_clock(self) -> bool:
        """True if the quantum of the device's timer is in it."""
        return Evidence.HOST not in self.rests_on

    @property
    def is_of_commands(self) -> bool:
        """True if it is the time that the commands take, beside which work on the host would be free."""
        return self in {Metric.DEVICE, Metric.SPAN}


def metric_named(name: str) -> Metric:
    """The metric of a word; a `KeyError` when there is none."""
    return {str(metric): metric for metric in Metric}[name]


class Flag(Word):
    """A remark on a sample, as in the column ``sample_flags`` of table ``samples``.

    Attributes:
        meaning: description in reports.
        spoils: kinds of evidence that the flag makes invalid. The sample is kept, but metrics that rest on this
            evidence are not used.
    """

    def __init__(self, name: str, meaning: str, *spoils: Evidence) -> None:
        self.meaning = meaning
        self.spoils = frozenset(spoils)

    ORDER = (
        "order",
        "an event's submit, start and end are not in this order (a clock that wraps looks like this)",
        Evidence.INTERVALS,
    )
    ZERO = ("zero", "the events have no duration at all", Evidence.INTERVALS)
    SHORT = ("short", "too short for the clock: few quanta of the device's timer, or a wall time of microseconds")
    STALE = (
        "stale",
        "an event starts exactly when one of an earlier sample did: its timestamps are old",
        Evidence.INTERVALS,
    )
    BACKWARDS = (
        "backwards",
        "an event starts before the end of the earlier sample: the device clock went backwards",
        Evidence.INTERVALS,
    )
    OUTSIDE_HOST = (
        "outside host",
        "first start to last end is longer than the host waited: the timing is not synchronised",
        Evidence.INTERVALS,
        Evidence.HOST,
    )
    # Where DPC++ estimates a submission from the host's clock it has been seen to be wrong by 0.5 ms, more the longer
    # the two clocks were not compared, while start and end are right (intel/llvm, pull requests 11324 and 18717).
    STALE_SUBMIT = (
        "stale submit",
        "first submit to last end is longer than the host waited, start to end is not: the submission is old",
        Evidence.SUBMISSIONS,
    )
    OVERLAP = ("overlap", "events overlap, so their sum exceeds the elapsed time")
    NOT_COLD = (
        "not cold",
        "a cold sample that was faster than the measured roof of the memory allows",
        Evidence.STATE,
    )
    CACHE_UNKNOWN = (
        "cache size unknown",
        "a cold sample of a device whose caches may be larger than what was flushed: their size is unknown",
    )
    UNSYNCHRONISED = (
        "unsynchronised",
        "a queue was still busy after the last recorded command: the sample timed only part of its work",
        Evidence.INTERVALS,
        Evidence.HOST,
    )
    STOPPED = (
        "stopped",
        "the process was stopped during the sample, or the machine slept",
        Evidence.INTERVALS,
        Evidence.HOST,
    )
    CONTENTION = ("contention", "others had more than a tenth of the core time that the process wanted")
    STOLEN = ("stolen time", "a hypervisor gave the cores to others more or less than at the start")
    CLOCK = ("clock", "the clock, or the limit of the GPU's clock, changed since the start")
    THROTTLING = ("throttling", "the device was slowed down for its temperature or power")
    SHARED = ("shared device", "another run of xebench used the same device, or programs came to the GPU or left it")

    def invalidates(self, metric: str) -> bool:
        """True if that time of a sample with this flag may not be used."""
        return not self.spoils.isdisjoint(metric_named(metric).rests_on)


#: What to do about the flags about the machine. Such a sample counts: both sides of a ratio are disturbed alike.
REMEDIES: Final = {
    Flag.CONTENTION: "end the other programs that use the cores",
    Flag.STOLEN: "use another machine or another hour: other guests of the host took its cores",
    Flag.CLOCK: "fix the clock (a CPU's governor 'performance', a GPU's lowest frequency as its highest)",
    Flag.THROTTLING: "cool the device, or lower the limit of its clock",
    Flag.SHARED: "end the other programs on the device",
}


#: What to do where flags spoil the samples of a metric, by the evidence that they spoil.
RESCUES: Final = {
    Evidence.SUBMISSIONS: "declare metric='device' or metric='wall', which need no submissions",
    Evidence.INTERVALS: "declare metric='wall', and look at what 'xebench doctor' says of the device",
    Evidence.HOST: "wait for everything that the variant submits",
    Evidence.STATE: "use a larger preset, or state='hot'",
}


class Reason(StrEnum):
    """The reason for an answer, for programs; the sentence beside it is for people."""

    MEASURED = "measured"  # the samples, the errors or the variant's right result answer
    NOISE = "noise"
    ONE_INSTANCE = "one instance"
    TIMER = "timer"
    DRIFT = "drift"
    BUDGET = "budget"
    FEW_BLOCKS = "too few blocks"
    UNRECORDED = "unrecorded work?"
    NO_SAMPLE = "no valid sample"
    NO_ERRORS = "errors are not known"
    SAME_PROGRAM = "same program"
    OTHER_DEVICE = "other device"  # the claim is made of devices of another kind
    BASELINE = "baseline"  # the other side has no result: its case has the status


#: All values of ``reason_code``: also a flag about the machine, or the variant's status.
REASON_CODES: Final = (*Reason, *REMEDIES, *(status for status in Status if status != Status.OK))


def is_valid(flags: Iterable[Flag], metric: str) -> bool:
    """True if the metric of a sample with these flags may be used."""
    return not any(flag.invalidates(metric) for flag in flags)
