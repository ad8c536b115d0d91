"""Pattern: one lesson of the guide, its variants, and the data they are compared on.

The decorators only record what the author said; nothing is compiled, allocated or imported until a worker
runs the pattern.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import EllipsisType
from typing import Any, Final, NoReturn, Protocol, TypeVar, overload

from xebench.errors import PatternError, escape_controls, suggestion
from xebench.patterns import conditions
from xebench.patterns.conditions import contradiction
from xebench.patterns.problem import RESERVED
from xebench.patterns.values import (
    can_be_set,
    further_sizes,
    is_plain,
    is_size,
    is_tolerance,
    repeated,
    several,
)
from xebench.records.claim import Claim, Claims, claims_of
from xebench.system.runtime import fault_of_requirement
from xebench.system.runtime.devices import LIMITED_AXES
from xebench.vocabulary import SAMPLED_STATES, Metric, Role, find_baseline

#: Characters of a lesson at most: one or two sentences are a few hundred.
LONGEST_TEXT: Final = 4000
#: Characters of variables at most, each of four bytes at most: Linux takes 128 KiB of each.
LONGEST_ENVIRONMENT: Final = 30_000
#: Processes of MPI at most on the one machine that measures.
MOST_RANKS: Final = 1024
#: Kinds of functions that do not run when they are called, but later.
_NOT_RUN_BY_A_CALL: Final = (
    inspect.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
)
#: On an axis: the value that the device which measures offers (`xebench.patterns.plan.Family.on`).
DEVICE: Final = "device"
#: Axes that may have this value.
DEVICE_AXES: Final = ("sub_group_size",)
F = TypeVar("F", bound=Callable[..., Any])


class VariantDecorator(Protocol):
    """Registers a variant: ``@pattern.naive``, or ``@pattern.naive(claim="same", requires=("fp64",))``."""

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(
        self,
        *,
        claim: Claims = ...,
        requires: Sequence[str] = ...,
        environment: Mapping[str, str] | None = ...,
        ranks: int | None = ...,
        against: str = ...,
    ) -> Callable[[F], F]: ...


@dataclass(frozen=True)
class Variant:
    """One program of a pattern.

    Attributes:
        name: the function's name.
        role: a word of `xebench.vocabulary.Role`.
        function: ``(session, problem, **axes)``. What it does is measured; if it returns a function, its own body
            was preparation and the returned function is what is measured.
        claims: the claims about this variant.
        requires: names of device capabilities without which the variant is skipped.
        summary: first line of the function's docstring.
        environment: variables that it needs when a process starts, beside the pattern's: one with them runs it.
        ranks: processes of MPI that run it together; 0 for none.
        against: the variant that it is compared with where nothing is claimed; "" for the one that all are.
    """

    name: str
    role: str
    function: Callable[..., Any]
    claims: tuple[Claim, ...]
    requires: tuple[str, ...]
    summary: str
    environment: Mapping[str, str] = field(default_factory=dict)
    ranks: int = 0
    against: str = ""


class Pattern:
    """One lesson of the guide.

    Args:
        name: identifier; unique among all patterns.
        guide: place in the guide, ``Chapter / Section``; "" for a lesson that is not the guide's.
        lesson: one or two sentences in the author's own words.
        catalogue: ids of the catalogue's entries that this pattern covers, such as ``E34`` or ``collapse_loops``.
        claim: the claim about each optimized variant without one of its own: a `xebench.Claim` or several. In
            short a word, ``"faster"``, or a word for each class of devices, ``{"gpu": "faster"}``: these are ours,
            since they name no line of the guide. ``None``: no claim.
        presets: sizes by preset name; ``smoke`` and ``default`` are required, ``guide`` has the guide's own sizes. A
            size that depends on the device is a mapping from device class, ``{"cpu": 1 << 18, "gpu": 1 << 24}``, or
            `xebench.fit`, or both: ``{"cpu": 1 << 18, "gpu": fit(1 << 24, per_lane=16)}``. Several sizes, ``{"n": (1 <<
            16, 65521)}``: those after the first are one more family each, at the first value of every axis.
        axes: swept parameters, name to values; the first value is the default. ``sub_group_size`` may be
            ``"device"``: 16 where the device offers it, else the largest size that it offers; or ``("narrow",)``: 8,
            else the smallest.
        metric: ``device`` (union of the device commands' intervals), ``span`` (first submit to last end), or
            ``wall`` (host time).
        state: state of the caches before each sample unless the user sets one: ``hot`` (as the samples before left
            them), or ``cold`` (flushed).
        environment: variables set at the start of the measuring process, such as ``{"NEO_CACHE_PERSISTENT": "0"}``,
            which stops Intel's GPU driver from keeping builds on disk.
        requires: capabilities that every variant needs (``fp64``, ``atomic64``, ``usm_shared``, ``sub_groups``, ...).
        ranks: number of MPI processes (``session.comm``) that run each variant, unless the variant sets its own; 0 for
            none.
        rtol: relative tolerance of the check against the reference; 0 means equal.
        atol: absolute tolerance of that check.
        own_sizes: reason why the sizes of preset ``guide`` are ours; empty if they are the guide's. The guide's figures
            are not judged at our sizes.
        short_launches: reason why launches at a GPU's sizes are shorter than 25 empty kernels (launching then costs
            more than 4 % of the time); empty if none is.
        odd_sizes: sizes of the smoke preset that are no multiples of a work-group, at which each variant runs once,
            untimed; None: each integer less one; {}: the lesson needs its even sizes.
        stand_in: description of a substitute, if the lesson's own program is not measured: the call that Python lacks
            or the program that the guide lacks, what was tried, and the substitute. Claims of such patterns are counted
            apart.

    Raises:
        PatternError: the declaration breaks one of these rules; the message names the pattern and the field.
    """

    #: The code of a competent newcomer, and the baseline of speed-ups.
    naive: VariantDecorator
    #: A step between naive and optimized; it has no claim unless one is given.
    intermediate: VariantDecorator
    #: The guide's advice; judged by the pattern's claim unless one is given.
    optimized: VariantDecorator
    #: A yardstick outside the lesson (a host loop, a library call).
    baseline: VariantDecorator
    #: The code that the guide warns of, if that is not the naive variant.
    antipattern: VariantDecorator

    def __init__(
        self,
        name: str,
        *,
        guide: str = "",
        lesson: str,
        presets: Mapping[str, Mapping[str, Any]],
        catalogue: Sequence[str] = (),
        claim: Claims = None,
        axes: Mapping[str, Sequence[Any] | str] | None = None,
        metric: str = "device",
        state: str = "hot",
        environment: Mapping[str, str] | None = None,
        requires: Sequence[str] = (),
        ranks: int = 0,
        rtol: float = 0.0,
        atol: float = 0.0,
        own_sizes: str = "",
        short_launches: str = "",
        stand_in: str = "",
        odd_sizes: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        # the file that declares it; inspect.stack() would read the source of every frame
        # the same, except where 'xebench ab' puts two versions into a file of its own
        self.source = self.declared_in = Path(sys._getframe(1).f_code.co_filename)
        if not isinstance(presets, Mapping) or not all(isinstance(own, Mapping) for own in presets.values()):
            self._fail("presets", "give the sizes of each preset by name: {'smoke': {'n': 64}, 'default': {'n': 4096}}")
        if isinstance(catalogue, str):
            self._fail("catalogue", f"{catalogue!r}: give several: ({catalogue!r},)")
        self.guide = guide
        self.lesson = lesson
        self.catalogue = tuple(catalogue)
        self.presets = {key: {name: several(size)[0] for name, size in own.items()} for key, own in presets.items()}
        self.further_sizes = {key: further for key, own in presets.items() if (further := further_sizes(own))}
        self.axes = {key: (DEVICE,) if values == DEVICE else tuple(values) for key, values in (axes or {}).items()}
        self.metric = metric
        self.state = state
        self.environment = self._variables(environment)
        self.requires = tuple(requires)
        self.ranks = ranks
        self.rtol = rtol
        self.atol = atol
        self.own_sizes = own_sizes
        self.short_launches = short_launches
        self.stand_in = stand_in
        self.odd_sizes = None if odd_sizes is None else dict(odd_sizes)
        self.variants: dict[str, Variant] = {}
        self.make_problem: Callable[..., Any] | None = None
        self.make_reference: Callable[..., Any] | None = None
        self.canonical_form: Callable[..., Any] | None = None
        self.validate: Callable[..., Any] | None = None
        self.claims = self._claims(claim)
        vars(self).update((str(role), partial(self._register, role)) for role in Role)
        self._check()

    def problem(self, function: F) -> F:
        """Register ``(rng, **sizes) -> Problem``; it receives the preset's numbers and the axes that it names."""
        return self._once("problem", "make_problem", function)

    def reference(self, function: F) -> F:
        """Register ``(problem) -> {output name: expected array}``, computed on the host from the inputs.

        Where ranks of MPI hold different results it names ``rank`` and ``ranks`` among its parameters.
        """
        return self._once("reference", "make_reference", function)

    def canonical(self, function: F) -> F:
        """Register ``({name: array}) -> {name: array}`` for results that are right in any order.

        Results and reference are brought into this form, untimed, before they are compared: a sorted copy, for example.
        """
        return self._once("canonical", "canonical_form", function)

    def check(self, function: F) -> F:
        """Register ``(problem, {name: array}) -> str`` for results of which several are valid.

        It receives the problem as the reference does, and what a variant has written. A sentence says what is wrong;
        "" or None accepts the results. It must accept the reference, and is called instead of the comparison with it.
        """
        return self._once("check", "validate", function)

    def _once(self, name: str, attribute: str, function: F) -> F:
        if getattr(self, attribute) is not None:
            self._fail(name, "it is declared twice")
        setattr(self, attribute, function)
        return function

    def _register(
        self,
        role: Role,
        function: Callable[..., Any] | None = None,
        *,
        claim: Claims | EllipsisType = ...,
        requires: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        ranks: int | None = None,
        against: str = "",
    ) -> Any:
        if function is None:
            asked = partial(self._register, role, claim=claim, requires=requires, environment=environment)
            return partial(asked, ranks=ranks, against=against)
        name = getattr(function, "__name__", None)
        if not isinstance(name, str):
            self._fail("variants", f"{function!r} has no name: give a function that def made")
        if not name.isidentifier():
            self._fail("variants", f"{name!r}: use letters, digits and underscores for names")
        if any(kind(function) for kind in _NOT_RUN_BY_A_CALL):
            self._fail(
                "variants", f"a call of {name} would not run it: declare a plain function, without yield or async"
            )
        if name in self.variants:
            self._fail("variants", f"two variants are named {name!r}")
        if isinstance(claim, EllipsisType):
            claim = self.claims if role is Role.OPTIMIZED else None
        summary = (inspect.getdoc(function) or "").partition("\n")[0]
        claims, variables = self._claims(claim), self._variables(environment)
        self._check_environment(variables)
        self._check_requirements(requires)
        own_ranks = self.ranks if ranks is None else ranks
        self._check_ranks(own_ranks)
        self.variants[name] = Variant(
            name, role, function, claims, tuple(requires), summary, variables, own_ranks, against
        )
        return function

    def _claims(self, written: Claims) -> tuple[Claim, ...]:
        claims = claims_of(written)
        for claim in claims:
            fault = claim.fault() or conditions.fault(claim) if isinstance(claim, Claim) else f"{claim!r} is no Claim"
            if fault:
                self._fail("claim", fault)
            for place in claim.where:
                if place not in self.axes and not any(place in sizes for sizes in self.presets.values()):
                    self._fail("claim", f"where {place!r}: there is no such axis or size")
        return claims

    def _variables(self, environment: Mapping[str, str] | None) -> dict[str, str]:
        if not isinstance(environment or {}, Mapping):
            self._fail("environment", "give values by name: {'NAME': 'value'}")
        return dict(environment or {})

    def _check(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.name):
            self._fail("name", "use lower case letters, digits and underscores")
        for name in ("guide", "lesson", "own_sizes", "short_launches", "stand_in"):
            text = getattr(self, name)
            if type(text) is not str or len(text) > LONGEST_TEXT or text != escape_controls(text):
                self._fail(name, f"give text without control characters, {LONGEST_TEXT} characters at most")
        if self.metric not in list(Metric):
            self._fail("metric", f"{self.metric!r} is none of {', '.join(Metric)}")
        if self.state not in list(SAMPLED_STATES):
            self._fail("state", f"{self.state!r} is none of {', '.join(SAMPLED_STATES)}")
        if not is_tolerance(self.rtol) or self.rtol >= 1:
            self._fail("rtol", f"{self.rtol!r}: give a number from 0, below 1: from there on 0 passes for everything")
        if not is_tolerance(self.atol):
            self._fail("atol", f"{self.atol!r}: give a number from 0, below infinity")
        self.rtol, self.atol = float(self.rtol), float(self.atol)
        if not all(isinstance(word, str) and word == escape_controls(word) for word in self.catalogue):
            self._fail("catalogue", "give texts without control characters")
        self._check_requirements(self.requires)
        for name in (*self.presets, *self.axes, *(name for sizes in self.presets.values() for name in sizes)):
            if not isinstance(name, str) or not name.isidentifier():
                self._fail("presets and axes", f"{name!r}: use letters, digits and underscores for names")
            if name in RESERVED:
                self._fail("presets and axes", f"{name!r} is a name of what variants receive: give it another")
        self._check_environment(self.environment)
        self._check_ranks(self.ranks)
        self._check_presets()
        if unknown := [name for name in self.odd_sizes or {} if name not in self.presets["smoke"]]:
            self._fail("odd_sizes", f"{', '.join(map(str, unknown))}: preset smoke has no such size")
        self._check_axes()

    def _check_presets(self) -> None:
        for preset in ("smoke", "default", *self.presets):
            if preset not in self.presets:
                self._fail("presets", f"{preset!r} is missing")
            if not all(is_size(size) for size in self.presets[preset].values()):
                self._fail(
                    "presets", f"{preset}: give numbers from 0 or strings, fit(...), or one each for cpu and gpu"
                )
            further = self.further_sizes.get(preset, ())
            if not all(is_plain(size, least=0) for sizes in further for size in sizes.values()):
                self._fail("presets", f"{preset}: give numbers from 0 for the sizes after the first")
            if twice := repeated([{**self.presets[preset], **sizes} for sizes in ({}, *further)]):
                self._fail("presets", f"{preset}: the sizes {twice} are given twice")

    def _check_axes(self) -> None:
        for axis, values in self.axes.items():
            if not values or not all(map(is_plain, values)):
                self._fail("axes", f"{axis}: give plain numbers or strings, at least one")
            if twice := repeated(values):
                self._fail("axes", f"{axis}: {twice} is given twice")
            if axis in LIMITED_AXES and not all(isinstance(value, str) or value >= 1 for value in values):
                self._fail("axes", f"{axis}: give numbers from 1")
            if DEVICE in values and axis not in DEVICE_AXES:
                self._fail("axes", f"{axis}: only {', '.join(DEVICE_AXES)} can be {DEVICE!r}: give its values")
            if any(axis in sizes for sizes in self.presets.values()):
                self._fail("axes", f"{axis} is a number of a preset as well")

    def _check_environment(self, variables: Mapping[str, str]) -> None:
        if not all(isinstance(word, str) for pair in variables.items() for word in pair):
            self._fail("environment", "give text for names and values")
        for name, value in variables.items():
            if not name or "=" in name or name != escape_controls(name) or not can_be_set(value):
                self._fail(
                    "environment",
                    f"{name!r}={value!r} cannot be set: a name has no '=', and nothing a zero byte or half a character",
                )
        if sum(len(name) + len(value) for name, value in variables.items()) > LONGEST_ENVIRONMENT:
            self._fail("environment", f"give {LONGEST_ENVIRONMENT} characters at most: no process starts with more")

    def _check_requirements(self, requires: Sequence[str]) -> None:
        for word in requires:
            if fault := fault_of_requirement(word) if isinstance(word, str) else f"{word!r} is no text":
                self._fail("requires", fault)

    def _check_ranks(self, ranks: int) -> None:
        if type(ranks) is not int or not 0 <= ranks <= MOST_RANKS:
            self._fail("ranks", f"{ranks!r}: give a number of processes up to {MOST_RANKS}, or 0 for none under MPI")

    def complete(self) -> None:
        """Check what only the whole file shows.

        Raises:
            PatternError: no problem, no reference, no naive side or nothing to compare it with; or the file has broken
                a rule since it declared the pattern.
        """
        self._check()
        if self.make_problem is None or self.make_reference is None:
            self._fail("problem", "declare both @pattern.problem and @pattern.reference")
        if (self.canonical_form or self.validate) and any(variant.ranks for variant in self.variants.values()):
            self._fail("canonical and check", "results of ranks are compared element by element: leave it out")
        roles = [variant.role for variant in self.variants.values()]
        if roles.count(Role.NAIVE) > 1:
            self._fail("variants", "more than one naive variant")
        if not {Role.NAIVE, Role.BASELINE} & set(roles):
            self._fail("variants", "declare a naive variant, the baseline of speed-ups")
        for variant in self.variants.values():
            if variant.against:
                self._check_against(variant, variant.against)
            for claim in variant.claims:
                self._check_sides(variant, claim)
        claims = {variant.name: variant.claims for variant in self.variants.values()}
        if fault := contradiction(claims, self.baseline_variant.name):
            self._fail("claim", fault)
        self._check_parameters()
        self._check_taken()

    def _check_taken(self) -> None:
        """Refuse an axis that no function takes and the file names once: the same would be measured at each value."""
        functions = [self.make_problem, *(variant.function for variant in self.variants.values())]
        taken = {name for each in functions if each is not None for name in _parameters(each)}
        for axis, values in self.axes.items():
            if axis in taken or DEVICE in values:
                continue
            words = re.findall(rf"\b{axis}\b", self.declared_in.read_text(encoding="utf-8", errors="replace"))
            if len(words) < 2:
                self._fail(
                    "axes", f"nothing takes {axis!r}: make it a parameter of a variant or the problem, or drop it"
                )

    def _check_parameters(self) -> None:
        """See that every function gets all the parameters that it names: an error of seconds, not of a run."""
        assert self.make_problem is not None and self.make_reference is not None
        for preset, sizes in self.presets.items():
            names, otherwise = {*sizes, *self.axes}, f"no size of preset {preset!r} and no axis"
            self._check_signature(self.make_problem, ("rng",), names, otherwise)
            for variant in self.variants.values():
                self._check_signature(variant.function, ("session", "problem"), names, otherwise)
        self._check_signature(self.make_reference, ("problem",), ("rank", "ranks"), "neither rank nor ranks")

    def _check_signature(
        self, function: Callable[..., Any], given: Sequence[str], names: Collection[str], otherwise: str
    ) -> None:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # not written in Python
            return
        name = getattr(function, "__name__", "function")
        positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        if len(positional) < len(given) and not any(one.kind is one.VAR_POSITIONAL for one in parameters):
            self._fail(name, f"it receives {', '.join(given)}: name {'them' if len(given) > 1 else 'it'} first")
        if taken := [one.name for one in positional[: len(given)] if one.name in names]:
            self._fail("presets and axes", f"{name} receives {' and '.join(given)} first: rename the size {taken[0]!r}")
        for one in [*positional[len(given) :], *(one for one in parameters if one.kind is one.KEYWORD_ONLY)]:
            if one.default is one.empty and one.name not in names:
                self._fail(name, f"parameter {one.name!r} is {otherwise}: {suggestion(one.name, names)}")

    def _check_sides(self, variant: Variant, claim: Claim) -> None:
        against = claim.against or self.baseline_variant.name
        self._check_against(variant, against)
        if against == variant.name and not claim.of_end:
            self._fail("claim", f"{variant.name} is the baseline itself: name another variant with against=")

    def _check_against(self, variant: Variant, against: str) -> None:
        if variant.against == variant.name:
            self._fail("against", f"{variant.name} cannot be compared with itself: name another variant")
        if against not in self.variants:
            self._fail(
                "against", f"{variant.name}: there is no variant {against!r}: {suggestion(against, self.variants)}"
            )

    def _fail(self, field: str, why: str) -> NoReturn:
        raise PatternError(f"pattern {self.name!r} ({self.source.name}): {field}: {why}")

    @property
    def baseline_variant(self) -> Variant:
        """The variant that speed-ups are counted from: the naive one, else the first baseline."""
        baseline = find_baseline(self.variants.values(), role=lambda variant: variant.role)
        assert baseline is not None  # `complete` refuses a pattern without
        return baseline


def _parameters(function: Callable[..., Any]) -> Collection[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # not written in Python
        return ()
