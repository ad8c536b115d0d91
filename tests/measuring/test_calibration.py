"""What a run measures of its device before the first pattern."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from xebench.measuring import instrument
from xebench.results.device_facts import MIXES, Roof
from xebench.roofs.bench import Bench, forget_results, quick_result
from xebench.roofs.search import BRIEF

#: Memory of the host that a copy may begin or end in.
KINDS = ("pageable", "host", "shared")

pytestmark = pytest.mark.device


@pytest.fixture(autouse=True)
def _measured_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test sees the roofs of another. Caches of hundreds of MiB, where arrays would take long, count as small."""
    monkeypatch.setattr(Bench, "cache_bytes", 1 << 25)
    forget_results()
    yield
    forget_results()


def test_the_device_and_the_instrument_are_measured() -> None:
    from xebench.measuring.instrument import cold_limit_gbps, measure_roofs
    from xebench.results import TABLES
    from xebench.session.session import Session

    session = Session.on("cpu")
    columns = measure_roofs(session, brief=True)
    assert set(columns) <= set(TABLES["devices"])
    assert columns.pop("roofs_from") == "this run"
    disturbed = str(columns.pop("roofs_disturbed"))
    assert set(filter(None, disturbed.split(", "))) <= set(Roof)
    levels = json.loads(str(columns.pop("bandwidth_levels")))
    assert len(levels) > 2
    assert levels[-1] == {**levels[-1], "level": "memory", "gbps": columns["bandwidth_roof_gbps"]}
    assert [one["gbps"] for one in levels] == sorted((one["gbps"] for one in levels), reverse=True)
    assert columns.pop("link_roofs") == "{}", "a brief look is not at copies"
    finite: dict[str, Any] = {name: value for name, value in columns.items() if value is not None}
    assert all(math.isfinite(value) for value in finite.values())
    lacking = {*MIXES, Roof.PEER_LINK, Roof.HOST_LINK} | (set() if session.device.has_aspect_fp64 else {Roof.FP64})
    positive = {"empty_kernel_ns", "empty_kernel_host_ns", "launch_overhead_ns", "aa_speedup"}
    assert all(finite[name] > 0 for name in positive | {roof.column for roof in set(Roof) - lacking})
    assert finite["empty_kernel_ns"] <= finite["empty_kernel_host_ns"]
    assert finite["length_r2"] <= 1
    assert finite["aa_low"] <= finite["aa_speedup"] <= finite["aa_high"]
    quick = quick_result(session.device.filter_string, "read").value
    assert quick is not None and quick <= finite["bandwidth_roof_gbps"]
    assert cold_limit_gbps(session) == pytest.approx(4 / 3 * quick)
    assert session.measure(lambda: None).events == [], "the session is left as it was"
    assert session.take_kernels() == [] and session.take_compilations() == []


def test_a_run_that_is_not_brief_measures_copies_of_all_kinds_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.session.session import Session

    monkeypatch.setattr(instrument, "RUN", BRIEF)
    session = Session.on("cpu")
    columns = instrument.measure_roofs(session)
    # on a busy machine the roof of a copy is undetermined, and nothing else is
    this_run, *failures = str(columns["roofs_from"]).split("; ")
    undetermined = {
        failure.partition(": ")[0]
        for failure in failures
        if "half of its samples" in failure or "halves of its samples" in failure
    }
    assert this_run == "this run" and len(undetermined) == len(failures)
    links = json.loads(str(columns["link_roofs"]))
    assert set(links) == {f"{kind}_to_device" for kind in KINDS} | {f"device_to_{kind}" for kind in (*KINDS, "peer")}
    for kind in KINDS:
        if kind == "pageable" or getattr(session.device, f"has_aspect_usm_{kind}_allocations"):
            for route in {f"{kind}_to_device", f"device_to_{kind}"}:
                assert (links[route] or 0) > 0 or route in undetermined, route


def test_what_computes_wrong_is_no_roof_and_limits_no_cold_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.roofs import forms
    from xebench.session.session import Session

    monkeypatch.setattr(forms, "read_sums", lambda width, vectors, group: np.zeros(group, np.float32))
    monkeypatch.setattr(instrument, "measure_instrument", lambda session, **_: {})
    session = Session.on("cpu")
    columns = instrument.measure_roofs(session, brief=True)
    assert columns["bandwidth_roof_gbps"] is None
    assert columns["fp32_roof_gflops"] is not None
    source = str(columns["roofs_from"])
    assert source.startswith("this run; bandwidth: ") and "elements are wrong, first at" in source
    assert instrument.cold_limit_gbps(session) == 0


def test_nothing_of_the_roofs_shows_in_the_session_of_a_pattern() -> None:
    from xebench.measuring.instrument import cold_limit_gbps
    from xebench.session.session import Session

    session = Session.on("cpu")
    assert cold_limit_gbps(session) > 0
    assert session.take_kernels() == [] and session.take_compilations() == [] and session.queue_count == 1


def test_no_array_is_larger_than_the_process_may_hold() -> None:
    from xebench.session.session import Session

    columns = instrument.measure_roofs(Session.on("cpu"), brief=True, memory_bytes=1 << 24)
    assert columns["bandwidth_roof_gbps"] is None
    assert "bandwidth: the largest array here, of 2 MiB, would fit into the cache" in str(columns["roofs_from"])
    assert json.loads(str(columns["bandwidth_levels"]))[0]["gbps"] > 0, "what fits is measured"


def test_roofs_of_a_disturbed_look_are_named() -> None:
    from xebench.measuring.instrument import _disturbed
    from xebench.roofs.measure import ProbeResult

    steady, shaken = ProbeResult("p", "ok", 10.0, 9.5), ProbeResult("p", "ok", 10.0, 5.0)
    lacking = ProbeResult("p", "skipped", reason="the device has no fp64")
    results = {Roof.BANDWIDTH: steady, Roof.FP32: shaken, Roof.FP64: lacking, Roof.HOST_LINK: shaken}
    assert _disturbed(results, busy=False) == "fp32"
    assert _disturbed(results, busy=True) == "bandwidth, fp32, host link"


def test_a_cache_that_the_driver_does_not_tell_of_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.roofs.catalogue import WORKING_SETS, level_name
    from xebench.roofs.measure import ProbeResult
    from xebench.session.session import Session

    def results(device: str, names: Any, effort: Any = None) -> dict[str, ProbeResult]:
        fast = {level_name(size) for size in WORKING_SETS if size <= 32 << 20}
        return {name: ProbeResult(name, "ok", 9000.0 if name in fast else 4000.0) for name in names}

    monkeypatch.setattr(instrument, "quick_results", results)
    monkeypatch.setattr(instrument, "cold_limit_gbps", lambda session, memory_bytes: 0.0)
    monkeypatch.setattr(instrument, "cache_bytes", lambda device: 0)
    flusher = instrument.make_flusher(Session.on("cpu"))
    assert flusher._buffer.nbytes == 2 * (64 << 20) and flusher.covers
