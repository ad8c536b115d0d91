"""Advice: facts of launches, rules on them, and the gate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from xebench.advisor.advice import advise_on
from xebench.advisor.facts import Access, Device, Facts, KernelFacts, SampleFacts
from xebench.advisor.lessons import Gain, Lesson
from xebench.advisor.text import as_text
from xebench.cli.main import commands
from xebench.vocabulary import DeviceClass

PATTERNS = Path(__file__).with_name("advised_patterns.py")
LARGE = 1 << 30
DEVICE = Device("A device", "A vendor", DeviceClass.GPU, 1 << 20, 16, 100.0)
SAMPLE = SampleFacts(1_000_000_000, 990_000_000, 1, 0, 0, 0, 0, 0)
ACROSS = Access("load", "u", "global", "float32", 4, LARGE, "own.py", 14, "u[i, j]", 1, 16384, 4, None, 1 / 16, 1.0)


def facts_of(*accesses: Access, **sample: int) -> Facts:
    kernel = KernelFacts("jacobi", (4096, 4096), None, accesses=accesses, divergent_share=0.0)
    return Facts("step", DEVICE, [kernel], replace(SAMPLE, **sample))


def gains(gain: float | None, low: float | None = None) -> Any:
    def find(lesson: Lesson, *device: str) -> Gain | None:
        return None if gain is None else Gain(lesson, gain, low, None, "", 1, 1)

    return find


def test_a_rule_speaks_where_its_lesson_gained() -> None:
    (advice,) = advise_on(facts_of(ACROSS), gains(4.0)).advice
    assert (advice.rule, advice.gain.lesson.pattern) == ("dimensions", "stencil_row_reuse")
    assert "16 KiB apart" in advice.what
    assert "own.py:14, u[i, j]" in advice.what


@pytest.mark.parametrize(("gain", "low"), [(1.05, None), (0.5, None), (1.3, 0.9)])
def test_a_rule_is_silent_where_its_lesson_gained_nothing(gain: float, low: float | None) -> None:
    advised = advise_on(facts_of(ACROSS), gains(gain, low))
    assert not advised.advice
    assert not advised.unmeasured


def test_a_lesson_that_was_not_measured_is_named_once() -> None:
    advised = advise_on(facts_of(ACROSS), gains(None))
    assert not advised.advice
    assert as_text([advised]).count("Not measured here: xebench run stencil_row_reuse") == 1


@pytest.mark.parametrize(
    "access",
    [
        replace(ACROSS, lane_stride=4),
        replace(ACROSS, row_stride=16384),
        replace(ACROSS, array_bytes=1 << 20),
    ],
)
def test_neighbours_side_by_side_or_in_a_cache_get_no_advice(access: Access) -> None:
    assert not advise_on(facts_of(access), gains(4.0)).advice


def test_scattered_reads_are_another_lesson() -> None:
    (advice,) = advise_on(facts_of(replace(ACROSS, lane_stride=None)), gains(4.0)).advice
    assert (advice.rule, advice.gain.lesson.pattern) == ("gather", "byte_gathers")


def test_a_kernel_at_its_roof_gets_no_advice() -> None:
    at_roof = round(LARGE / (4096 * 4096) * 4096 * 4096 / 100 / 16)
    facts = facts_of(ACROSS, device_ns=at_roof // 4, host_ns=at_roof // 4)
    assert facts.memory_fraction is not None
    assert facts.memory_fraction > 0.6
    assert not advise_on(facts, gains(4.0)).advice


def test_an_unknown_roof_or_an_unreadable_kernel_gets_none() -> None:
    facts = facts_of(ACROSS)
    assert not advise_on(replace(facts, device=replace(DEVICE, memory_gbps=None)), gains(4.0)).advice
    assert not advise_on(replace(facts, kernels=[replace(facts.kernels[0], unreadable="why")]), gains(4.0)).advice


def test_advice_comes_in_the_order_of_the_expected_gain() -> None:
    facts = facts_of(ACROSS, copied_bytes=1 << 20, copies=1, copy_ns=500_000_000)

    def find(lesson: Lesson, *device: str) -> Gain:
        return Gain(lesson, 8.0 if lesson.pattern == "stencil_row_reuse" else 2.0, None, None, "", 1, 1)

    assert [advice.rule for advice in advise_on(facts, find).advice] == ["dimensions", "copies"]


@pytest.mark.device
def test_the_command_shows_facts_of_a_file() -> None:
    done = CliRunner().invoke(
        commands, ["advise", str(PATTERNS), "--preset", "smoke", "--format", "json"], catch_exceptions=False
    )
    (advised,) = json.loads(done.stdout)
    facts = {(row["kernel"], row["fact"]): row for row in advised["facts"]}
    load, store = facts["across", "load x[i, j]"], facts["across", "store out[i, j]"]
    assert (load["value"]["lane_stride"], load["value"]["row_stride"]) == (256, 4)
    assert load["source"].startswith("advised_patterns.py:")
    assert store["value"]["line_use"] == 4 / 64
    assert facts["across", "divergent_share"]["value"] == 0
    assert facts["across", "global_size"]["value"] == [64, 64]


def test_an_unknown_variant_is_one_line() -> None:
    done = CliRunner().invoke(commands, ["advise", str(PATTERNS), "row", "--preset", "smoke"])
    assert "read_across has no variant 'row'" in str(done.exception)
