"""Devices, findings, patterns and progress."""

from __future__ import annotations

import io
import json
from typing import Any

from harness.analysis.claim import Claim, Figure
from harness.doctor.examination import Report
from harness.patterns.declaration import PatternInfo, VariantInfo
from harness.patterns.registry import discover
from harness.report import claim_text, devices_text, patterns_text
from harness.report import doctor_text as doctor_view
from harness.report.progress import ProgressLine
from harness.runtime.findings import Finding


def test_the_table_of_devices(gpu_row: dict[str, Any]) -> None:
    text = devices_text.as_text([gpu_row])
    for word in ("level_zero:gpu:0", "A GPU", "8,16,32", "64 KiB", "16.0 GiB"):
        assert word in text
    assert "xebench doctor" in devices_text.as_text([])
    assert json.loads(devices_text.as_json([gpu_row]))[0]["compute_units"] == 512


def test_findings_show_their_next_step() -> None:
    report = Report((Finding("packages", "error", "dpctl", "0.22.1, wanted 0.17.0", "make install"),), (), ())
    text = doctor_view.as_text(report)
    assert "ERROR   dpctl: 0.22.1, wanted 0.17.0" in text and "-> make install" in text and "no usable device" in text
    assert json.loads(doctor_view.as_json(report))["usable"] is False


def test_the_list_of_patterns_wraps_and_counts() -> None:
    infos = discover()
    text = patterns_text.as_text(infos, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert f"{len(infos)} patterns" in text
    assert {item["name"] for item in json.loads(patterns_text.as_json(infos))} == {info.name for info in infos}
    first = json.loads(patterns_text.as_json(infos))[0]
    assert {"name", "guide", "catalogue", "variants", "axes", "presets", "metric", "claims"} <= set(first)


CLAIMS = (
    Claim(
        "faster", against="one", at_least=1.5, where={"work": 1}, on=("gpu",), figure=Figure(2.9, "Max 1550", "G 4530")
    ),
    Claim("same", against="two", within=0.1, where={"n": [4, 8]}, source="G 4533", strength="implied"),
    Claim("error", against="one", kind="too large"),
    Claim("registers", against="one"),
)


def test_claims_are_told_with_who_makes_them() -> None:
    assert [f"{claim_text.said(claim)} [{claim_text.who(claim)}]" for claim in CLAIMS] == [
        "faster than one by at least 1.5 times where work=1, for GPUs [G 4530: 2.9 on Max 1550]",
        "same as two within 10% where n=4|8 [G 4533 (implied)]",
        "must end as error with 'too large' [ours]",
        "fewer registers than one [ours]",
    ]


def test_the_list_has_the_claims_of_each_pattern_once() -> None:
    variants = (VariantInfo("one", "naive", (), ""), VariantInfo("three", "optimized", CLAIMS, ""))
    info = PatternInfo("p", "slm", "", "Lesson.", (), "device", {}, {}, variants, "p.py")
    (told,) = json.loads(patterns_text.as_json([info]))
    assert [claim["variant"] for claim in told["claims"]] == ["three"] * len(CLAIMS)
    first = told["claims"][0]
    wanted = {"word": "faster", "against": "one", "where": {"work": 1}, "on": ["gpu"], "strength": "figure"}
    assert first | wanted == first
    assert first["source"] == "G 4530" and first["figure"]["speedup"] == 2.9
    assert all("claims" not in variant for variant in told["variants"])
    text = " ".join(patterns_text.as_text([info], 80).split())
    assert "claim: three faster than one by at least 1.5 times where work=1, for GPUs [G 4530" in text


def test_progress_is_quiet_when_nobody_watches() -> None:
    stream = io.StringIO()
    with ProgressLine(stream) as progress:
        progress.say("a notice about [opencl:cpu:0] " + 100 * "x")
        progress.family(0, 3, "first")
        progress.variant("plain")
    assert stream.getvalue() == f"xebench: a notice about [opencl:cpu:0] {100 * 'x'}\n"


def test_progress_in_a_terminal_says_what_and_how_far() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with ProgressLine(stream) as progress:
        progress.family(1, 3, "convolution")
        progress.variant("cached")
    assert "convolution: cached" in stream.getvalue() and "1/3" in stream.getvalue()
