"""Answers to what is claimed of generated code: has the variant fewer registers, messages, branches, or the like?

One answer a claim, a GPU with its options, and a point on the axes at which other kernels are launched. Numbers are of
the program text, as in the table ``isa``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from xebench.isa.collect import Collected
from xebench.isa.compilation import Target
from xebench.isa.table import KernelOnGpu
from xebench.patterns.plan import Family
from xebench.tables.analysis.claim import Claim, to_json
from xebench.vocabulary import Answer, CodeClaim, DeviceClass

#: What the numbers of a variant's kernels make together, by the word of a claim.
_TOGETHER: Final[Mapping[str, Callable[[Sequence[int]], int]]] = {
    "largest": max,
    "sum": sum,
    "count": lambda numbers: sum(map(bool, numbers)),
}


@dataclass(frozen=True)
class CodeAnswer:
    """The answer to a claim on generated code.

    Attributes:
        pattern, variant: of whose code it is said.
        claim: what is said.
        axes: the point on the axes, as JSON.
        target: what both sides were compiled for, without options of a kernel's own.
        number, against_number: what was compared; None where a side has no code.
        answer: holds, inverts, no effect or undecided.
        reason: one line.
    """

    pattern: str
    variant: str
    claim: Claim
    axes: str
    target: Target
    number: int | None
    against_number: int | None
    answer: Answer
    reason: str


def code_answers(families: Iterable[Family], collected: Collected, kernels: Sequence[KernelOnGpu]) -> list[CodeAnswer]:
    """The answers, in the order of the patterns.

    Args:
        families: whose kernels were collected.
        collected: which kernels each variant launches at each point of its axes.
        kernels: these, compiled.
    """
    code = _Code(collected, kernels)
    answers: dict[tuple[Any, ...], CodeAnswer] = {}
    for family in families:
        for variant in family.pattern.variants:
            claims = [claim for claim in family.claims(variant, DeviceClass.GPU) if claim.of_code]
            for claim, target in itertools.product(claims, code.targets):
                own = code.side(family, variant.name, target)
                other = code.side(family, claim.against, target)
                # the same kernels at another point of the axes would only say it again
                key = (family.pattern.name, variant.name, to_json([claim]), target, own, other)
                if key not in answers:
                    answers[key] = _answer(family, variant.name, claim, target, own, other)
    return [*answers.values()]


@dataclass(frozen=True)
class _CodeSide:
    """A variant's kernels at one point of the axes and their figures, or why there are none."""

    name: str
    identities: tuple[Any, ...] = ()
    figures: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    fault: str = ""

    def number(self, word: CodeClaim) -> int | None:
        if self.fault:
            return None
        return _TOGETHER[word.together]([sum(one[name] or 0 for name in word.columns) for one in self.figures])


class _Code:
    """The compiled code, by launch and target."""

    def __init__(self, collected: Collected, kernels: Sequence[KernelOnGpu]) -> None:
        self.targets = tuple(dict.fromkeys(_plain(kernel.target) for kernel in kernels))
        self._compiled = {
            (kernel.launch.pattern, kernel.launch.variant, kernel.launch.identity, _plain(kernel.target)): kernel
            for kernel in kernels
        }
        self._launched: dict[tuple[str, str, str], list[Any]] = {}
        for launch in collected.launches:
            self._launched.setdefault((launch.pattern, launch.variant, launch.axes), []).append(launch.identity)
        self._missing = {(missing.pattern, missing.variant): missing.reason for missing in collected.missing}

    def side(self, family: Family, variant: str, target: Target) -> _CodeSide:
        pattern = family.pattern.name
        launched = self._launched.get((pattern, variant, family.axes_json()), ())
        if not launched:
            return _CodeSide(variant, fault=self._missing.get((pattern, variant), "it launches no kernel"))
        kernels = [self._compiled[pattern, variant, identity, target] for identity in launched]
        fault = next((f"{kernel.status}: {kernel.reason}" for kernel in kernels if kernel.status != "ok"), "")
        return _CodeSide(variant, tuple(launched), tuple(kernel.figures for kernel in kernels), fault)


def _plain(target: Target) -> Target:
    """A target without the options that a kernel itself requires."""
    return replace(target, build_options=())


def _answer(family: Family, variant: str, claim: Claim, target: Target, own: _CodeSide, other: _CodeSide) -> CodeAnswer:
    word = next(each for each in CodeClaim if each == claim.word)
    number, against = own.number(word), other.number(word)
    if number is None or against is None:
        faulty = own if number is None else other
        answer, reason = Answer.UNDECIDED, f"no code of {faulty.name}: {faulty.fault}"
    else:
        answer, reason = judge(number, against, claim.at_least), f"{number} against {against} {word.unit}"
    return CodeAnswer(family.pattern.name, variant, claim, family.axes_json(), target, number, against, answer, reason)


def judge(number: int, against: int, at_least: float = 1.0) -> Answer:
    """The answer of two numbers, of which the first is claimed to be smaller.

    Args:
        number: of the variant that the claim is made of.
        against: of the other one.
        at_least: how many times as large ``against`` is claimed to be.
    """
    if number > against:
        return Answer.INVERTS
    return Answer.HOLDS if number < against and against >= at_least * number else Answer.NO_EFFECT
