"""Claim: a statement about a variant before it is measured.

Imports nothing that is slow to load.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from xebench.errors import escape_controls
from xebench.vocabulary import (
    ACCURACY_CLAIMS,
    END_CLAIMS,
    MAY_BE_WRONG,
    TIME_CLAIMS,
    CodeClaim,
    DeviceClass,
    Metric,
    Outcome,
    Status,
    Strength,
)

#: All words of claims.
WORDS: Final = (*TIME_CLAIMS, *ACCURACY_CLAIMS, *END_CLAIMS, *CodeClaim)

#: Statuses that confirm each claim about a variant's outcome; a kernel that a device cannot launch is skipped.
_ENDS: Final = {
    "wrong": (Status.WRONG,),
    MAY_BE_WRONG: (Status.WRONG,),
    "error": (Status.ERROR, Status.REFUSED, Status.SKIPPED),
}


class Figure(msgspec.Struct, frozen=True):
    """A speed-up that the guide prints, or that follows from two of its times.

    Attributes:
        speedup: time of the compared variant over the time of this one.
        device: product that the guide measured on, as drivers name it: "Max 1550"; "" where the guide does not say.
        line: place in the guide: "G 4530".
        metric: metric of the guide's times; "" for the pattern's own.
        inferred: lines that the product follows from, where none is named with the figure: "G 11858 to 11861".
    """

    speedup: float
    device: str = ""
    line: str = ""
    metric: str = ""
    inferred: str = ""

    @property
    def product(self) -> str:
        """The product for people: ``Max 1550``, ``Max (inferred)``, or ""."""
        return self.device + (" (inferred)" if self.inferred else "")


class Claim(msgspec.Struct, frozen=True):
    """A claim on a variant: how it compares with another, how it ends, or what the compiler makes of it.

    ``Claim("faster", against="few_items", on=("gpu",), source="G 4530")``

    Attributes:
        word: the claim. About time: ``faster``, ``slower``, ``same``; about the result: ``accurate`` (its largest error
            against a reference in higher precision is smaller); about the outcome: a ``wrong`` result, ``may be wrong``
            (a data race), ``error`` (it is refused, or fails); about the generated code, which has fewer:
            ``registers``, ``spills``, ``messages``, ``instructions`` or another of `xebench.vocabulary.CodeClaim`.
        against: variant on the other side; "" for the pattern's baseline.
        at_least: smallest ratio that the claim promises, of times, errors or counts in the generated code.
        within: largest relative difference of two times that are ``same``; 0 for the run's own band.
        where: values of axes and sizes for which the claim holds, one value or a list each; empty for all.
        on: device classes that the claim covers; empty for all.
        requires: facts that a device must have for the claim to apply (`xebench.patterns.conditions`).
        kind: text that the message of a claimed ``error`` must contain.
        figure: the guide's measured ratio.
        strength: ``figure``, ``stated``, ``implied`` or ``ours``. The default follows from what is given: a figure, a
            source, or neither (``ours``).
        source: lines of the guide that make the claim: "G 4520 to 4533".
        not_asked: reason why the claim does not apply to this device; pattern files leave it empty.
    """

    word: str
    against: str = ""
    at_least: float = 1.0
    within: float = 0.0
    where: Mapping[str, Any] = {}
    on: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    kind: str = ""
    figure: Figure | None = None
    strength: str = ""
    source: str = ""
    not_asked: str = ""

    def __post_init__(self) -> None:
        source = self.source or getattr(self.figure, "line", "")
        strength = Strength.FIGURE if self.figure else Strength.STATED if source else Strength.OURS
        msgspec.structs.force_setattr(self, "source", source)
        msgspec.structs.force_setattr(self, "strength", str(self.strength or strength))

    @property
    def is_ours(self) -> bool:
        """True if the guide does not make this claim."""
        return self.strength == Strength.OURS

    @property
    def of_time(self) -> bool:
        """True if a speed-up answers it."""
        return self.word in TIME_CLAIMS

    @property
    def of_accuracy(self) -> bool:
        """True if the errors of two results answer it."""
        return self.word in ACCURACY_CLAIMS

    @property
    def of_end(self) -> bool:
        """True if the variant must fail."""
        return self.word in END_CLAIMS

    @property
    def of_code(self) -> bool:
        """True if the offline compiler answers it."""
        return self.word in list(CodeClaim)

    @property
    def question(self) -> tuple[str, str]:
        """Its subject (time, end, errors or one count of the code), and the other variant."""
        return "time" if self.of_time else "end" if self.of_end else self.word, self.against

    def fault(self) -> str | None:
        """Describe in a few words what is wrong with the declaration; None if nothing is."""
        try:
            msgspec.convert(msgspec.to_builtins(self), Claim)
        except (TypeError, ValueError, OverflowError) as error:  # a pattern file may write anything
            return f"{error}: see xebench.Claim"
        figure = self.figure or Figure(1.0)
        texts = (self.against, self.kind, self.source, figure.device, figure.line, figure.inferred, *self.requires)
        rules = (
            (self.word in WORDS, f"{self.word!r} is none of {', '.join(WORDS)}"),
            (set(self.on) <= set(DeviceClass), f"on {self.on!r}: name classes of devices: {', '.join(DeviceClass)}"),
            (self.strength in list(Strength), f"strength {self.strength!r} is none of {', '.join(Strength)}"),
            (self.is_ours or self.source, f"strength {self.strength!r} needs a source: the line of the guide"),
            (self.strength != Strength.FIGURE or self.figure, "strength 'figure' needs figure=Figure(...)"),
            (1 <= self.at_least < math.inf, f"at_least {self.at_least!r}: give a ratio of 1 or more"),
            (0 <= self.within < 1, f"within {self.within!r}: give a part below 1, such as 0.1"),
            (0 < figure.speedup < math.inf, f"figure {figure.speedup!r}: give a speed-up above 0"),
            (self.word != Outcome.FASTER or figure.speedup >= 1, f"faster, with a figure of {figure.speedup!r}"),
            (self.word != Outcome.SLOWER or figure.speedup <= 1, f"slower, with a figure of {figure.speedup!r}"),
            (figure.device or not figure.inferred, "figure: inferred, but no device"),
            (figure.metric in ("", *Metric), f"figure: metric {figure.metric!r} is none of {', '.join(Metric)}"),
            (all(text == escape_controls(text) for text in texts), "give texts without control characters"),
            (all(map(_is_place, self.where.values())), f"where {dict(self.where)!r}: give numbers or texts"),
            (self.at_least == 1 or (self.word != Outcome.SAME and not self.of_end), f"{self.word} has no at_least"),
            (not self.within or self.word == Outcome.SAME, f"{self.word} has no within: that is of same"),
            (not self.kind or self.word == "error", f"{self.word} has no kind: that is of error"),
        )
        return next((message for kept, message in rules if not kept), None)

    def is_said_at(self, values: Mapping[str, Any]) -> bool:
        """True if it is made for these sizes and this point on the axes."""
        return all(
            values.get(name) in (wanted if isinstance(wanted, list | tuple) else (wanted,))
            for name, wanted in self.where.items()
        )

    def is_said_of(self, device_class: str) -> bool:
        """True if it is made for a class of devices."""
        return not self.on or device_class in self.on

    def expects(self, status: str, reason: str | None) -> bool:
        """True if it expects that a case ends with this status."""
        return not self.not_asked and status in _ENDS.get(self.word, ()) and self.kind in (reason or "")


def _is_place(wanted: Any) -> bool:
    """True for a value of an axis or of a size, or several."""
    values = wanted if isinstance(wanted, list | tuple) else (wanted,)
    return all(isinstance(one, str) or (isinstance(one, int | float) and math.isfinite(one)) for one in values)


#: The forms in which a pattern file may write claims.
Claims = str | Mapping[str, str] | Claim | list[Claim] | tuple[Claim, ...] | None


def claims_of(written: Claims) -> tuple[Claim, ...]:
    """The claims that a pattern file writes: a word, a word for each class of devices, a claim, or several."""
    if written is None:
        return ()
    if isinstance(written, str):
        return (Claim(written),)
    if isinstance(written, Mapping):
        return tuple(Claim(word, on=(device_class,)) for device_class, word in written.items())
    return tuple(written) if isinstance(written, list | tuple) else (written,)


def applying(claims: Iterable[Claim], device_class: str, values: Mapping[str, Any]) -> list[Claim]:
    """The claims that are tested on a device at one point, whatever the device's class.

    A claim about GPUs is also tested on a CPU device, unless a claim about CPU devices answers the same question.

    Args:
        claims: claims about one variant.
        device_class: ``gpu`` or ``cpu``.
        values: sizes, and the point on the axes.
    """
    here = [claim for claim in claims if claim.is_said_at(values)]
    own = {claim.question for claim in here if claim.is_said_of(device_class)}
    return [claim for claim in here if claim.is_said_of(device_class) or claim.question not in own]


def columns(claim: Claim | None) -> dict[str, Any]:
    """The columns of the table `pairs` for a claim; all None without one."""
    figure = claim.figure if claim else None
    return {
        "claim": claim.word if claim else None,
        "claimed_for": ",".join(claim.on) or None if claim else None,
        "claim_condition": ",".join(claim.requires) or None if claim else None,
        "strength": claim.strength if claim else None,
        "guide_source": claim.source or None if claim else None,
        "guide_speedup": figure.speedup if figure else None,
        "guide_device": figure.product or None if figure else None,
    }


def to_json(claims: Sequence[Claim]) -> str:
    """Claims as the table `cases` keeps them."""
    return msgspec.json.encode(claims).decode()


def from_json(text: str | None) -> list[Claim]:
    """Read claims that `to_json` wrote; an empty list without text.

    Raises:
        ValueError: it is damaged.
    """
    return msgspec.json.decode(text, type=list[Claim]) if text else []


def is_expected(status: str, reason: str | None, claims: Iterable[Claim]) -> bool:
    """True if a claim expects this end of the case, so that nothing has failed."""
    return any(claim.expects(status, reason) for claim in claims)
