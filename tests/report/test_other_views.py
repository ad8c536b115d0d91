"""Devices, findings and patterns."""

from __future__ import annotations

import json
from typing import Any

from xebench.cli import machine_views
from xebench.doctor.examination import Report
from xebench.patterns.registry import discover
from xebench.report import claims_text
from xebench.system.runtime.packages import Finding


def test_the_table_of_devices(gpu_row: dict[str, Any]) -> None:
    text = machine_views.DEVICES.as_text([gpu_row])
    for word in ("level_zero:gpu:0", "A GPU", "8,16,32", "64 KiB", "16.0 GiB"):
        assert word in text
    assert "xebench doctor" in machine_views.DEVICES.as_text([])
    assert json.loads(machine_views.DEVICES.as_json([gpu_row]))[0]["compute_units"] == 512


def test_findings_show_their_next_step() -> None:
    report = Report((Finding("packages", "error", "dpctl", "0.22.1, wanted 0.17.0", "make install"),), (), ())
    text = machine_views.FINDINGS.as_text(report)
    assert "ERROR   dpctl: 0.22.1, wanted 0.17.0" in text and "-> make install" in text and "no usable device" in text
    assert json.loads(machine_views.FINDINGS.as_json(report))["usable"] is False


def test_the_list_of_patterns_has_a_line_each_and_verbose_wraps_and_counts() -> None:
    infos = discover()
    whole, text = (claims_text.as_text(infos, 80, verbose=verbose) for verbose in (True, False))
    assert max(map(len, f"{whole}\n{text}".splitlines())) <= 80
    brief = [line for line in text.splitlines() if line.startswith("  ")]
    assert {line.split()[0] for line in brief} == {info.name for info in infos} and len(brief) == len(infos)
    assert f"{len(infos)} patterns" in whole
    assert f"{len(infos)} patterns" in text
    assert {item["name"] for item in json.loads(claims_text.as_json(infos))} == {info.name for info in infos}
    first = json.loads(claims_text.as_json(infos))[0]
    assert {"name", "guide", "catalogue", "variants", "axes", "presets", "metric", "claims"} <= set(first)
