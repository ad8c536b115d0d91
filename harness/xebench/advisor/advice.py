"""Advice: the rules that hold for some facts, whose lessons gained on this device, the largest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from xebench.advisor.facts import Facts
from xebench.advisor.lessons import LEAST_GAIN, Gain, find_gain, stored_memory_roof
from xebench.advisor.rules import RULES, Rule
from xebench.report import units

if TYPE_CHECKING:
    from numba_sycl.sycl_types import Queue
    from xebench.session.session import Session

#: Most pieces of advice.
MOST: Final = 5


@dataclass(frozen=True)
class Advice:
    """A piece of advice.

    Attributes:
        rule: name of its rule.
        kernel: name of the kernel; "" for the whole call.
        what: observed fact, with its place.
        advice: sentence.
        refuted_by: observation that would refute it.
        gain: measured step of the lesson.
        share: share of the time that it is about, by which expected gains are ordered.
    """

    rule: str
    kernel: str
    what: str
    advice: str
    refuted_by: str
    gain: Gain
    share: float

    @property
    def expected(self) -> float:
        """The expected gain, for the order only: the lesson's, on this share of the time."""
        return 1 / (1 - self.share + self.share / self.gain.gain)


@dataclass(frozen=True)
class Advised:
    """The result of `advise`.

    Attributes:
        facts: facts that it follows from.
        advice: at most five pieces, the largest expected gain first.
        unmeasured: patterns of rules that hold, whose lessons were not measured on such a device.
    """

    facts: Facts
    advice: tuple[Advice, ...]
    unmeasured: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(_lines(self))


def _lines(advised: Advised) -> list[str]:
    facts = advised.facts
    fraction = facts.memory_fraction
    told = "" if fraction is None else f", {fraction:.1%} of the memory roof"
    lines = [f"{facts.name}: {units.duration(facts.sample.device_ns)} on the device{told}"]
    for number, advice in enumerate(advised.advice, 1):
        of = f"{advice.kernel}: " if advice.kernel and len(facts.kernels) > 1 else ""
        lines += [f"{number}. {of}{advice.what}. {advice.advice}.", f"   {_lesson(advice)}"]
        lines.append(f"   Refuted if {advice.refuted_by}.")
    if not advised.advice:
        lines.append("No advice: no rule holds whose lesson gains on this device.")
    for kernel in facts.kernels:
        if kernel.unreadable:
            lines.append(f"! the accesses of {kernel.name} are unknown: {kernel.unreadable}")
    if facts.device.memory_gbps is None:
        lines.append("! the memory roof is unknown, and with it what accesses could gain: run xebench roofline")
    if advised.unmeasured:
        lines.append(f"Not measured here: xebench run {' '.join(advised.unmeasured)}")
    return lines


def _lesson(advice: Advice) -> str:
    gain = advice.gain
    where = f"on {gain.device}" if gain.device else "here"
    ends = "" if gain.low is None or gain.high is None else f" ({gain.low:.2g} to {gain.high:.2g})"
    held = f"gained on {gain.held} of {gain.devices} devices"
    lesson = gain.lesson
    return (
        f"Lesson {lesson.pattern}, {lesson.before} to {lesson.after}: {gain.gain:.3g}x {where}{ends}; {held}.   "
        f"xebench show {lesson.pattern}"
    )


FindGain = Callable[..., Gain | None]


def advise_on(facts: Facts, find: FindGain = find_gain) -> Advised:
    """The advice that follows from facts.

    Args:
        facts: facts of a function or a variant.
        find: function that gives a lesson's gain; see `xebench.advisor.lessons.find_gain`.
    """
    device = facts.device
    if device.memory_gbps is None:
        device = replace(device, memory_gbps=stored_memory_roof(device.name))
        facts = replace(facts, device=device)
    given: list[Advice] = []
    unmeasured: dict[str, None] = {}
    for rule in RULES:
        for finding in list(rule.find(facts))[:1]:
            gain = _gain(rule, facts, find)
            if gain is None:
                unmeasured[rule.lessons[0].pattern] = None
            elif gain.gain >= LEAST_GAIN and (gain.low is None or gain.low > 1):
                given.append(
                    Advice(rule.name, finding.kernel, finding.what, rule.advice, rule.refuted_by, gain, finding.share)
                )
    given.sort(key=lambda one: -one.expected)
    return Advised(facts, tuple(given[:MOST]), tuple(unmeasured))


def _gain(rule: Rule, facts: Facts, find: FindGain) -> Gain | None:
    """The measured step of the first lesson that has one: on this device rather than on another."""
    device = facts.device
    found = [find(lesson, device.name, device.vendor, device.device_class) for lesson in rule.lessons]
    known = [gain for gain in found if gain is not None]
    return next((gain for gain in known if not gain.device), known[0] if known else None)


def advise(function: Callable[[], Any], *, queue: Session | Queue | None = None, device: str = "auto") -> Advised:
    """Advice on what would make a function's kernels faster, from facts of some calls and lessons measured here.

    The kernels' Python is run for some work-items, to see where neighbours read and write.

    Args:
        function: called without arguments, several times. It must not change its inputs.
        queue: the session or the ``dpctl.SyclQueue`` that its arrays are on; see `xebench.measure`.
        device: used if there is no queue.

    Returns:
        Facts and advice; printed, it is the text of ``xebench advise``.

    Raises:
        XebenchError: the function launches no kernel, or an argument is not valid.
    """
    from xebench.errors import XebenchError
    from xebench.functions.request import require_function, session_on

    require_function(function, "function")
    session = session_on(queue, device, timed=True)
    from xebench.advisor.worker import examine_function

    name = getattr(function, "__name__", type(function).__name__)
    facts = examine_function(function, "the function" if name == "<lambda>" else name, session)
    if not facts.kernels:
        raise XebenchError(
            f"{facts.name} launches no kernel that was recorded: open session = xebench.open_session() first, make "
            "arrays with sycl_queue=session.queue, and give queue=session"
        )
    return advise_on(facts)
