"""The declarative API: what is recorded, and which mistakes are named."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from xebench import Claim, Pattern, fit
from xebench.errors import PatternError


def declare(**changes: Any) -> Pattern:
    settings: dict[str, Any] = {
        "name": "sample",
        "guide": "Chapter / Section",
        "lesson": "A lesson.",
        "presets": {"smoke": {"n": 1}, "default": {"n": 2}},
    }
    return Pattern(**{**settings, **changes})


def test_variants_keep_role_claim_and_summary() -> None:
    pattern = declare(claim={"gpu": "faster"})

    @pattern.naive
    def plain(session: Any, p: Any) -> None:
        """The plain way."""

    @pattern.optimized(claim="same", requires=("fp64",))
    def clever(session: Any, p: Any) -> None: ...

    @pattern.intermediate
    def between(session: Any, p: Any) -> None: ...

    assert [(v.name, v.role) for v in pattern.variants.values()] == [
        ("plain", "naive"),
        ("clever", "optimized"),
        ("between", "intermediate"),
    ]
    assert pattern.variants["plain"].summary == "The plain way."
    assert pattern.variants["clever"].claims == (Claim("same"),)
    assert pattern.variants["clever"].requires == ("fp64",)
    assert pattern.variants["between"].claims == ()


def test_an_optimized_variant_takes_the_patterns_claim() -> None:
    pattern = declare(claim={"gpu": "faster"})

    @pattern.optimized
    def clever(session: Any, p: Any) -> None: ...

    assert pattern.variants["clever"].claims == (Claim("faster", on=("gpu",)),)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "Bad Name"}, "name"),
        ({"metric": "cycles"}, "metric"),
        ({"presets": {"smoke": {"n": 1}}}, "presets"),
        ({"claim": "better"}, "claim"),
        ({"claim": {"fpga": "faster"}}, "claim"),
        ({"claim": 3}, "claim"),
        ({"claim": Claim("faster", where={"width": 1})}, "claim"),
        ({"claim": Claim("faster", at_least=0)}, "claim"),
        ({"state": "lukewarm"}, "state"),
        ({"environment": {"NEO_CACHE_PERSISTENT": 0}}, "environment"),
        ({"ranks": -1}, "ranks"),
        ({"ranks": "2"}, "ranks"),
        ({"axes": {"stride": ()}}, "axes"),
        ({"axes": {"n": (1, 2)}}, "axes"),
        ({"axes": {"dtype": (object(),)}}, "axes"),
        ({"axes": {"scale": (np.float64(2),)}}, "axes"),
        ({"presets": {"smoke": {"n": np.int64(1)}, "default": {"n": 2}}}, "presets"),
        ({"presets": {"smoke": {"n": ()}, "default": {"n": 2}}}, "presets"),
        ({"presets": {"smoke": {"n": (1, np.int64(3))}, "default": {"n": 2}}}, "presets"),
    ],
)
def test_a_wrong_declaration_names_the_pattern_and_the_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(PatternError, match=f"test_pattern.py\\): {field}: "):
        declare(**changes)


def test_two_variants_of_one_name_are_refused() -> None:
    pattern = declare()

    def plain(session: Any, p: Any) -> None: ...

    pattern.naive(plain)
    with pytest.raises(PatternError, match="two variants"):
        pattern.optimized(plain)


def test_an_incomplete_pattern_is_refused() -> None:
    pattern = declare()
    with pytest.raises(PatternError, match="problem"):
        pattern.complete()
    pattern.problem(lambda rng, n: None)
    pattern.reference(lambda p: {})
    with pytest.raises(PatternError, match="naive"):
        pattern.complete()


def test_speed_ups_are_counted_from_the_naive_variant_then_from_a_baseline() -> None:
    pattern = declare()

    @pattern.baseline
    def library(session: Any, p: Any) -> None: ...

    assert pattern.baseline_variant.name == "library"

    @pattern.naive
    def plain(session: Any, p: Any) -> None: ...

    assert pattern.baseline_variant.name == "plain"


def test_an_axis_may_say_device_and_a_size_may_be_of_a_class() -> None:
    sizes = {"n": {"cpu": 1, "gpu": 8}}
    pattern = declare(axes={"sub_group_size": "device", "stride": (1, 2)}, presets={"smoke": sizes, "default": sizes})
    assert pattern.axes == {"sub_group_size": ("device",), "stride": (1, 2)}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"axes": {"stride": "device"}}, "axes: stride: only sub_group_size can be 'device'"),
        ({"presets": {"smoke": {"n": {"gpu": 1}}, "default": {"n": 2}}}, "smoke: .* one each for cpu and gpu"),
    ],
)
def test_what_cannot_follow_the_device_is_named(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(PatternError, match=why):
        declare(**changes)


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (Claim("same", against="hand"), "clever: there is no variant 'hand': .* handy"),
        (Claim("same", against="clever"), "clever is the baseline itself"),
    ],
)
def test_a_claim_against_nobody_is_refused(claim: Claim, why: str) -> None:
    pattern = declare()
    pattern.problem(lambda rng, n: None)
    pattern.reference(lambda p: {})
    for name in ("plain", "handy", "clever"):
        function = lambda session, p: None  # noqa: E731
        function.__name__ = name
        pattern.naive(function) if name == "plain" else pattern.optimized(claim=claim if name == "clever" else ())(
            function
        )
    with pytest.raises(PatternError, match=why):
        pattern.complete()


def test_a_size_may_be_fitted_to_the_device() -> None:
    sizes = {"n": {"cpu": 1, "gpu": fit(8, per_lane=16)}, "m": fit(4)}
    assert declare(presets={"smoke": sizes, "default": sizes}).presets["smoke"] == sizes


def test_the_second_of_several_sizes_go_together() -> None:
    pattern = declare(presets={"smoke": {"n": (8, 7, 5), "m": (4, 3), "k": 1}, "default": {"n": 2}})
    assert pattern.presets == {"smoke": {"n": 8, "m": 4, "k": 1}, "default": {"n": 2}}
    assert pattern.further_sizes == {"smoke": ({"n": 7, "m": 3}, {"n": 5})}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rtol": float("inf")}, "rtol: inf"),
        ({"rtol": 1.0}, "rtol: 1.0: give a number from 0, below 1"),
        ({"rtol": True}, "rtol: True"),
        ({"atol": 10**400}, "give a number from 0, below infinity"),
        ({"catalogue": (3,)}, "catalogue: give texts"),
        ({"requires": (3,)}, "requires: 3 is no text"),
        ({"requires": ("fp128",)}, "requires: unknown requirement 'fp128'; known are fp64"),
        ({"requires": ("sub_group_size=wide",)}, "requires: requirement sub_group_size=wide is no whole number"),
        ({"presets": {"smoke": {"n": (4, 4)}, "default": {"n": 1}}}, "smoke: the sizes {'n': 4} are given twice"),
        ({"presets": {"smoke": {"n": (4, 8, 4), "m": 1}, "default": {}}}, "the sizes {'n': 4, 'm': 1} are given twice"),
        ({"axes": {"kind": (1, "1")}}, "axes: kind: 1 is given twice"),
        ({"atol": -1e-9}, "atol: -1e-09"),
        ({"rtol": float("nan")}, "rtol: nan"),
        ({"atol": 1j}, "atol: 1j"),
        ({"presets": {"smoke": {"n": float("nan")}, "default": {"n": 1}}}, "presets: smoke"),
        ({"presets": {"smoke": {"n": (1, float("inf"))}, "default": {"n": 1}}}, "presets: smoke"),
        ({"axes": {"part": (0.5, float("inf"))}}, "axes: part"),
        ({"axes": {"wide\x1b[31m": (1,)}}, "use letters, digits and underscores"),
        ({"axes": {"kind": ("a", "b\u202e")}}, "axes: kind"),
        ({"presets": {"smoke": {"n": -1}, "default": {"n": 1}}}, "presets: smoke: give numbers from 0"),
        ({"presets": {"smoke": {"n": (1, -1)}, "default": {"n": 1}}}, "presets: smoke: give numbers from 0"),
        ({"guide": "Chapter\x1b]52;c;Cg==\x07"}, "guide: give text without control characters"),
        ({"guide": 3}, "guide: give text"),
        ({"lesson": "x" * 10_000_000}, "lesson: give text"),
        ({"environment": {"": "1"}}, "cannot be set"),
        ({"environment": {"A=B": "1"}}, "cannot be set"),
        ({"environment": {"A": "\0"}}, "cannot be set"),
        ({"environment": {"A": "x" * 3_000_000}}, "environment: give 30000 characters at most"),
        ({"environment": {"A\x1b": "1"}}, "cannot be set"),
        ({"environment": {"A": "\ud800"}}, "cannot be set"),
        ({"environment": ["A=1"]}, "environment: give values by name"),
        ({"presets": None}, "presets: give the sizes of each preset by name"),
        ({"presets": {"smoke": {"n": 10**400}, "default": {"n": 1}}}, "presets: smoke: give numbers from 0"),
        ({"presets": {"smoke": {"host": 1}, "default": {"host": 1}}}, "'host' is a name of what variants receive"),
        ({"axes": {"work_group_size": (0,)}}, "axes: work_group_size: give numbers from 1"),
        ({"catalogue": "E13"}, "catalogue: 'E13': give several"),
        ({"catalogue": ("E13\x07",)}, "catalogue: give texts without control characters"),
        ({"ranks": 100_000}, "ranks: 100000: give a number of processes up to 1024"),
    ],
)
def test_nonsense_is_refused_when_it_is_declared(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(PatternError, match=r"pattern 'sample' \(test_pattern.py\)") as error:
        declare(**changes)
    assert why in str(error.value)


def test_tolerances_may_be_numbers_of_numpy() -> None:
    assert declare(rtol=np.float32(0.25), atol=np.int64(1)).rtol == 0.25
    assert type(declare(rtol=Fraction(1, 4)).rtol) is float


def test_a_variant_is_not_compared_with_itself() -> None:
    pattern = declare()
    pattern.problem(lambda rng, n: None)
    pattern.reference(lambda p: {})

    def clever(session: Any, p: Any) -> None: ...

    pattern.naive(against="clever")(clever)
    with pytest.raises(PatternError, match="against: clever cannot be compared with itself"):
        pattern.complete()


def test_a_variant_is_a_function_with_a_name() -> None:
    with pytest.raises(PatternError, match="has no name: give a function that def made"):
        declare().naive(partial(print))
    with pytest.raises(PatternError, match="requires: unknown requirement 'fp65'"):
        declare().naive(requires=("fp65",))(print)


def test_a_variant_works_when_it_is_called() -> None:
    async def later(session: Any, p: Any) -> None: ...

    def in_steps(session: Any, p: Any) -> Any:
        yield

    for function in (later, in_steps):
        with pytest.raises(PatternError, match=f"variants: a call of {function.__name__} would not run it"):
            declare().naive(function)


def test_a_problem_and_a_reference_are_declared_once() -> None:
    pattern = with_variants()
    for register, name in ((pattern.problem, "problem"), (pattern.reference, "reference")):
        with pytest.raises(PatternError, match=f"{name}: it is declared twice"):
            register(lambda p: {})


def test_a_variants_name_is_an_identifier() -> None:
    def plain(session: Any, p: Any) -> None: ...

    plain.__name__ = "plain\x1b[2J"
    with pytest.raises(PatternError, match=r"variants: 'plain\\x1b\[2J': use letters"):
        declare().naive(plain)


def test_what_is_changed_after_the_declaration_is_checked_again() -> None:
    pattern = with_variants()
    pattern.complete()
    pattern.guide = 5  # type: ignore[assignment]
    with pytest.raises(PatternError, match="guide: give text"):
        pattern.complete()


def with_variants(**functions: Any) -> Pattern:
    """A pattern with an axis, whose functions are these or right ones."""
    pattern = declare(axes={"stride": (1, 2)})
    right = {"problem": lambda rng, n: None, "reference": lambda p: {}, "plain": lambda session, p, stride: None}
    for name, function in {**right, **functions}.items():
        function.__name__ = name
        register = {"problem": pattern.problem, "reference": pattern.reference}.get(name, pattern.naive)
        register(function)
    return pattern


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ({"problem": lambda rng, m: None}, "parameter 'm' is no size of preset 'smoke' and no axis"),
        ({"problem": lambda: None}, "it receives rng"),
        ({"reference": lambda p, rnk: {}}, "parameter 'rnk' is neither rank nor ranks: did you mean rank"),
        (
            {"plain": lambda session, p, strid: None},
            "parameter 'strid' is no size of preset 'smoke' and no axis: did you mean stride",
        ),
        ({"plain": lambda session, p, *, k: None}, "parameter 'k' is no size of preset 'smoke' and no axis"),
        ({"plain": lambda session: None}, "it receives session, problem"),
        ({"plain": lambda session, stride: None}, "plain receives session and problem first: rename the size 'stride'"),
    ],
)
def test_a_parameter_that_nothing_gives_is_named(functions: dict[str, Any], why: str) -> None:
    with pytest.raises(PatternError) as error:
        with_variants(**functions).complete()
    assert why in str(error.value)


def test_parameters_may_have_defaults_and_take_the_rest() -> None:
    with_variants(problem=lambda rng, n, much=2, **others: None, plain=lambda *arguments, **axes: None).complete()


def test_a_lesson_of_ones_own_needs_no_place_in_the_guide() -> None:
    assert Pattern("own", lesson="L.", presets={"smoke": {"n": 1}, "default": {"n": 1}}).guide == ""
