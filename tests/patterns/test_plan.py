"""From declarations to families of cases."""

from __future__ import annotations

from typing import Any

import pytest

from xebench.errors import PatternError
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.plan import build_plan, parse_override, without_repeats
from xebench.patterns.problem import Room, fit
from xebench.records.claim import Claim


def info(name: str = "one", **changes: Any) -> PatternInfo:
    fields: dict[str, Any] = {
        "name": name,
        "chapter": "f",
        "guide": "g",
        "lesson": "l",
        "catalogue": (),
        "metric": "device",
        "presets": {"smoke": {"n": 4}, "default": {"n": 8}},
        "axes": {"stride": (1, 2)},
        "variants": (),
        "source": "s.py",
    }
    return PatternInfo(**{**fields, **changes})


def test_each_point_of_the_axes_is_a_family() -> None:
    plan = build_plan([info()], "default")
    assert [f.parameters for f in plan] == [{"n": 8, "stride": 1}, {"n": 8, "stride": 2}]
    assert plan[1].case_id("naive", "cpu") == "one/naive/default/stride=2/cpu"


def test_overrides_replace_axis_values_and_sweep_sizes() -> None:
    plan = build_plan([info()], "smoke", {"stride": (16,), "n": (1, 2)})
    assert [f.parameters for f in plan] == [{"n": 1, "stride": 16}, {"n": 2, "stride": 16}]
    assert [f.case_id("naive", "cpu") for f in plan] == [
        "one/naive/smoke/n=1;stride=16/cpu",
        "one/naive/smoke/n=2;stride=16/cpu",
    ]


def test_a_size_that_is_set_makes_another_family_with_other_cases() -> None:
    (own,) = build_plan([info(axes={})], "default")
    (set_to_64,) = build_plan([info(axes={})], "default", {"n": (64,)})
    assert own.case_id("naive", "cpu") == "one/naive/default/-/cpu"
    assert set_to_64.case_id("naive", "cpu") == "one/naive/default/n=64/cpu"
    assert set_to_64 != own
    assert (own.parameters["n"], own.at_preset) == (8, True)
    assert (set_to_64.parameters["n"], set_to_64.at_preset) == (64, False)
    assert own.preset_parameters == set_to_64.preset_parameters == {"n": 8}


def test_a_size_that_is_set_to_the_presets_own_is_the_presets() -> None:
    plan = build_plan([info(axes={})], "default", {"n": (8.0, 16)})
    assert plan[0] == build_plan([info(axes={})], "default")[0]
    assert repr(plan[0].parameters["n"]) == "8"
    assert plan[1].case_id("naive", "cpu") == "one/naive/default/n=16/cpu"


def test_sizes_after_the_first_are_one_more_family_each_at_the_first_value_of_every_axis() -> None:
    several = info(
        presets={"smoke": {"n": 4, "m": 2, "steps": 1}, "default": {"n": 8}},
        axes={"stride": (1, 16)},
        further_sizes={"smoke": ({"n": 7, "m": 3}, {"n": 5})},
    )
    points = [family.point() for family in build_plan([several], "smoke")]
    assert points == ["stride=1", "stride=16", "m=3;n=7;stride=1", "n=5;stride=1"]
    assert len(build_plan([several], "default")) == 2
    # a size that is set is no more than that, the others keep theirs
    points = [family.point() for family in build_plan([several], "smoke", {"n": (6,), "stride": (9,)})]
    assert points == ["n=6;stride=9", "m=3;n=6;stride=9"]


def test_an_override_need_only_fit_one_of_the_patterns() -> None:
    plan = build_plan([info(), info("two", axes={})], "smoke", {"stride": (3,)})
    assert [f.pattern.name for f in plan] == ["one", "two"]


@pytest.mark.parametrize(
    ("axes", "override", "message"),
    [
        (
            {"work_group_size": (64,)},
            {"work_group_size": ("abc",)},
            "work_group_size=abc: give a whole number, such as 64",
        ),
        ({"stride": (1, 2)}, {"stride": (1.5,)}, "stride=1.5: give a whole number, such as 1"),
        ({"scale": (0.5,)}, {"scale": ("x",)}, "scale=x: give a number, such as 0.5"),
        ({}, {"n": (float("inf"),)}, "n=inf: give a whole number, such as 4"),
    ],
)
def test_a_value_that_cannot_be_is_refused_before_anything_is_measured(axes: Any, override: Any, message: str) -> None:
    with pytest.raises(PatternError, match=f"^--set {message}$"):
        build_plan([info(axes=axes)], "smoke", override)


def test_values_are_taken_as_the_pattern_has_them() -> None:
    axes = {"kind": ("a", "b"), "scale": (0.5,), "sub_group_size": ("device",)}
    override: dict[str, tuple[Any, ...]] = {
        "n": (1e3,),
        "kind": ("c",),
        "scale": (2,),
        "sub_group_size": ("device", 16.0),
    }
    plan = build_plan([info(axes=axes)], "smoke", override)
    assert [family.point() for family in plan] == [
        "kind=c;n=1000;scale=2;sub_group_size=device",
        "kind=c;n=1000;scale=2;sub_group_size=16",
    ]


def test_an_unknown_override_or_preset_is_named() -> None:
    with pytest.raises(PatternError, match="--set width"):
        build_plan([info()], "smoke", {"width": (1,)})
    with pytest.raises(PatternError, match="'huge'.*default, smoke"):
        build_plan([info()], "huge")
    with pytest.raises(PatternError, match=r"'defaults': did you mean default\?"):
        build_plan([info()], "defaults")
    with pytest.raises(PatternError, match=r"--set strid: .*: did you mean stride\?"):
        build_plan([info()], "smoke", {"strid": (1,)})


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("a=1", ("a", (1,))),
        ("a=1,2.5,x", ("a", (1, 2.5, "x"))),
        ("a = 64, 256", ("a", (64, 256))),
        ("a=1,2,1", ("a", (1, 2))),
        ("a=nan,-inf,1e999", ("a", ("nan", "-inf", "1e999"))),
    ],
)
def test_overrides_are_parsed(text: str, parsed: Any) -> None:
    assert parse_override(text) == parsed


@pytest.mark.parametrize("text", ["n=nan", "n=inf", "n=-1", "part=nan", "part=inf", "part=-0.5"])
def test_a_size_that_is_no_number_from_0_is_refused(text: str) -> None:
    name, values = parse_override(text)
    sizes = {"n": 4, "part": 0.5}
    with pytest.raises(PatternError, match=f"--set {text}: give a (whole )?number"):
        build_plan([info(presets={"smoke": sizes, "default": sizes})], "smoke", {name: values})


@pytest.mark.parametrize("text", ["a", "=1", "a="])
def test_a_malformed_override_is_refused(text: str) -> None:
    with pytest.raises(PatternError, match="NAME=VALUE"):
        parse_override(text)


FOLLOWING: dict[str, Any] = {
    "axes": {"sub_group_size": ("device",)},
    "presets": {"smoke": {"n": 4}, "default": {"n": {"cpu": 8, "gpu": 64}}},
}


def test_what_follows_the_device_has_its_values() -> None:
    (family,) = build_plan([info(**FOLLOWING)], "default")
    on_gpu, on_cpu = family.on("gpu", (32,)), family.on("cpu", (4, 8, 16, 32, 64))
    assert (on_gpu.parameters, on_gpu.axes) == ({"n": 64, "sub_group_size": 32}, {"sub_group_size": 32})
    assert (on_cpu.parameters, on_cpu.axes) == ({"n": 8, "sub_group_size": 16}, {"sub_group_size": 16})
    assert on_gpu.case_id("naive", "gpu") == "one/naive/default/sub_group_size=32/gpu"
    assert on_gpu.on("cpu", (16,)) == on_gpu, "what is known stays"


def test_what_the_user_gives_does_not_follow_the_device() -> None:
    plan = build_plan([info(**FOLLOWING)], "default", {"sub_group_size": (8, 16, 32), "n": (64, 128)})
    on_gpu = [family.on("gpu", (32,)) for family in plan]
    assert [family.axes["sub_group_size"] for family in on_gpu] == [8, 8, 16, 16, 32, 32]
    assert [family.at_preset for family in on_gpu[:2]] == [True, False], "64 is the preset's own there"


def test_the_plan_of_a_pattern_that_follows_nothing_stays() -> None:
    plan = build_plan([info()], "default")
    assert [family.on("gpu", (32,)) for family in plan] == plan


def test_a_fitted_size_is_known_on_the_device_with_its_reason() -> None:
    presets = {"smoke": {"n": 4}, "default": {"n": {"cpu": 8, "gpu": fit(64, per_lane=16)}, "rounds": 3}}
    (family,) = build_plan([info(presets=presets, axes={})], "default")
    on_gpu = family.on("gpu", (32,), Room(lanes=100))
    assert on_gpu.parameters == {"n": 2048, "rounds": 3} and on_gpu.at_preset
    assert on_gpu.reasons == {"n": "16 for each of the device's 100 lanes"}
    assert family.on("cpu").reasons == {"n": "given for a cpu device"}
    (given,) = build_plan([info(presets=presets, axes={})], "default", {"n": (1e3,)})
    own = given.on("gpu", (32,), Room(lanes=100))
    assert (own.parameters["n"], own.at_preset, own.reasons) == (1000, False, {})
    with pytest.raises(PatternError, match="--set n=large: give a whole number, such as 8"):
        build_plan([info(presets=presets, axes={})], "default", {"n": ("large",)})


def test_sizes_that_are_equal_on_a_device_are_measured_once() -> None:
    presets = {"smoke": {"n": fit(4, per_lane=1)}, "default": {"n": 4}}
    plan = build_plan([info(presets=presets, axes={}, further_sizes={"smoke": ({"n": 128},)})], "smoke")
    for lanes, sizes in ((100, [128]), (200, [256, 128])):
        families = without_repeats(family.on("gpu", (32,), Room(lanes=lanes)) for family in plan)
        assert [family.parameters["n"] for family in families] == sizes


def test_a_family_knows_what_its_claims_compare_beside_the_baseline() -> None:
    variants = (
        VariantInfo("plain", "naive", (), ""),
        VariantInfo("few", "intermediate", (Claim("faster", against="plain"),), ""),
        VariantInfo(
            "many", "optimized", (Claim("same", against="few", where={"stride": 2}), Claim("wrong", against="few")), ""
        ),
    )
    plan = build_plan([info(variants=variants)], "smoke")
    assert [family.compared("cpu") for family in plan] == [[], [("many", "few")]]
