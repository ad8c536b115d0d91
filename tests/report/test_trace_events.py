"""A trace is what Chrome's Trace Event Format asks for, and says what the tables say."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from hypothesis import strategies as some
from synthetic import Synthetic

from xebench.cli.main import commands
from xebench.errors import XebenchError
from xebench.report import trace_events
from xebench.results import Run

FIXTURE = Path(__file__).parents[1] / "results/fixtures/schema-6"
#: The keys that the format asks for, by phase: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
REQUIRED = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "s": {"name", "cat", "id", "pid", "tid", "ts"},
    "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
}

COMMANDS = some.lists(
    some.tuples(
        some.sampled_from(["kernel", "copy", "barrier"]),
        some.sampled_from(["q0", "q1"]),
        some.one_of(some.none(), some.integers(0, 60)),
        some.integers(0, 60),
        some.integers(0, 60),
    ),
    min_size=1,
    max_size=8,
)


def validated(text: str) -> list[dict[str, Any]]:
    """The events of a trace, after a check of what the format asks for."""
    trace = json.loads(text)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    events: list[dict[str, Any]] = trace["traceEvents"]
    for event in events:
        assert set(event) == REQUIRED[event["ph"]] | {"ph"}, event
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
    timed = [event for event in events if event["ph"] != "M"]
    moments = [event["ts"] for event in timed]
    assert moments == sorted(moments) and min(moments) == 0
    tracks = defaultdict(list)
    for event in timed:
        if event["ph"] == "X":
            assert event["dur"] >= 0
            tracks[event["pid"], event["tid"]].append(_interval(event))
    names = [(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"]
    assert len(names) == len(set(names)) and set(names) == set(tracks), "each track has one name"
    threads = [thread for _, thread in names]
    assert len(threads) == len(set(threads)) and 0 not in threads, "Perfetto takes threads of one number for one"
    hosts = {(event["pid"], event["tid"]) for event in events if event.get("cat") == "execution"}
    assert all(process == thread for process, thread in hosts), "the host is the main thread"
    for slices in tracks.values():
        _require_nested(slices)
    _require_flows(timed, tracks)
    return events


def _interval(event: dict[str, Any]) -> tuple[int, int]:
    """In whole ns, as the tables have them."""
    begin = round(1000 * event["ts"])
    return begin, begin + round(1000 * event["dur"])


def _require_nested(slices: list[tuple[int, int]]) -> None:
    open_ends: list[int] = []
    for begin, end in slices:
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1], "a slice reaches out of the one around it"
        open_ends.append(end)


def _require_flows(timed: list[dict[str, Any]], tracks: dict[tuple[int, int], list[tuple[int, int]]]) -> None:
    begun: dict[int, float] = {}
    for event in timed:
        if event["ph"] == "X":
            continue
        moment = round(1000 * event["ts"])
        slices = tracks[event["pid"], event["tid"]]
        assert any(begin <= moment < end for begin, end in slices), "a flow is bound to a slice"
        if event["ph"] == "s":
            assert type(event["id"]) is int and event["id"] < 1 << 53, "Perfetto drops all others"
            assert event["id"] not in begun
            begun[event["id"]] = event["ts"]
        else:
            assert begun.pop(event["id"]) <= event["ts"] and event["bp"] == "e"
    assert not begun, "every flow ends"


def two_queues() -> Run:
    """A copy on one queue beside kernels on another, and three samples, of which the middle one is typical."""
    made = Synthetic()
    case = made.case("together", "naive", metric="wall")
    for block, stretch in enumerate((1, 2, 30)):
        made.sample(case, block=block, host_ns=200.0 * stretch, batch=1)
        made.event((10, 60 * stretch), kind="copy", queue="q1")
        made.event((20, 40 * stretch), (30 * stretch, 90 * stretch))
        for event, submitted in zip(made.events[-3:], (0, 5, 5), strict=True):
            event["submit_ns"] = submitted
        made.events[-3].update(bytes=220, route="pageable_to_device")
    return made.run()


def traced() -> Synthetic:
    """A case with a sample, and with a traced execution of which the rows are still to come."""
    made = Synthetic()
    case = made.case("v", "naive", metric="wall", claims='[{"word": "faster"}]')
    made.sample(case, host_ns=250.0, batch=1)
    made.sample(case, host_ns=400.0, batch=1, state="traced", block=-1)
    return made


def on_host(made: Synthetic, kind: str, name: str, begin: int, end: int, **more: Any) -> None:
    """A call of the host that submits nothing."""
    made.event((0, 0), kind=kind)
    times = {"submit_ns": None, "start_ns": None, "end_ns": None, "queue": None}
    made.events[-1].update(times, name=name, **submitted(begin, end), **more)


def submitted(began: int, ended: int, thread: int = 0) -> dict[str, int]:
    return {"submit_began_host_ns": began, "submit_ended_host_ns": ended, "thread": thread}


def slices_of(events: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Slices by the names of their track and their own."""
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    return {(tracks[event["tid"]], event["name"]): event for event in events if event["ph"] == "X"}


def test_the_hosts_track_is_what_was_read_and_the_devices_times_lie_beside_it() -> None:
    made = traced()
    ahead = 5 * 10**15
    made.event((ahead + 1040, ahead + 1090))
    made.events[-1].update(name="triad", over_host_ns=1100, **submitted(1020, 1035))
    made.event((ahead + 1150, ahead + 1160), kind="copy", queue="q1")
    made.events[-1].update(name="memcpy", over_host_ns=1180, **submitted(1140, 1145, thread=1))
    made.event((ahead + 1120, ahead + 1130), kind="copy", queue="q1")
    made.events[-1].update(name="nobody knows")
    on_host(made, "execution", "one execution", 1000, 1400)
    on_host(made, "build", "build triad", 1022, 1030)
    on_host(made, "wait", "wait for triad", 1050, 1101)
    text = trace_events.as_json(made.run(), "p")
    slices = slices_of(validated(text))
    times = {key: (round(1000 * each["ts"]), round(1000 * each["dur"])) for key, each in slices.items()}
    assert times == {
        ("host", "one execution"): (0, 400),
        ("host", "launch triad"): (20, 15),
        ("host", "build triad"): (22, 8),
        ("host", "wait for triad"): (50, 51),
        ("host thread 1", "memcpy"): (140, 5),
        # 10 ns is the shortest way to the device, and also the one back
        ("q0 kernels", "triad"): (40, 50),
        ("q1 copies", "memcpy"): (150, 10),
        ("q1 copies", "nobody knows"): (120, 10),
    }
    facts = slices["host", "one execution"]["args"]
    assert (facts["host_ns"], facts["median_of_samples_ns"], facts["metric"]) == (400, 250, "wall")
    (clock,) = json.loads(text)["otherData"]["clocks"]
    assert (clock["added_ns"], clock["uncertainty_ns"], clock["all_commands_agree"]) == (-ahead, 10, True)
    arrows = [event["id"] for event in validated(text) if event["ph"] == "s"]
    assert len(arrows) == 2, "a submission that nobody saw is not invented"


def test_ranks_are_processes_on_one_clock_of_the_host() -> None:
    made = traced()
    for rank, begin in ((0, 1000), (1, 1070)):
        made.event((10**15 * rank + begin + 30, 10**15 * rank + begin + 50))
        made.events[-1].update(mpi_rank=rank, clock=rank, **submitted(begin + 5, begin + 25))
        on_host(made, "execution", "one execution", begin, begin + 200, mpi_rank=rank)
    run = made.run()
    events = validated(trace_events.as_json(run, "p"))
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == ["v (naive), rank 0", "v (naive), rank 1"]
    begins = [event["ts"] for event in events if event["ph"] == "X" and event["cat"] == "execution"]
    assert begins == [0, 0.07], "what one waits for the other is seen"
    assert [event["args"]["name"] for event in events if event["name"] == "thread_name"] == ["host", "q0 kernels"] * 2
    assert run.summaries["overlap"].isna().all(), "times of two processes are not one clock's for the summaries"


def test_a_run_without_traced_executions_shows_the_typical_sample_and_no_host() -> None:
    events = validated(trace_events.as_json(two_queues(), "p"))
    names = {event["tid"] - event["pid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert names == {1: "q0 kernels", 2: "q0 kernels (2)", 3: "q1 copies"}
    copy = slices_of(events)["q1 copies", "copy"]
    assert copy["cat"] == "copy" and copy["dur"] == pytest.approx(0.110)
    assert (copy["args"]["bytes"], copy["args"]["route"], copy["args"]["GB/s"]) == (220, "pageable_to_device", 2)


def test_devices_of_such_a_run_begin_at_the_same_moment() -> None:
    made = Synthetic()
    made.sample(made.case("two", "naive", metric="wall"), host_ns=200.0, batch=1)
    for clock, offset in ((0, 1000), (1, 5 * 10**15)):
        made.event((offset + 50, offset + 90), queue=f"q{clock}")
        made.events[-1].update(submit_ns=offset, clock=clock)
    events = validated(trace_events.as_json(made.run(), "p"))
    names = [event["args"]["name"] for event in events if event["name"] == "thread_name"]
    assert names == ["q0 kernels", "q1 by clock 1 kernels"]
    kernels = [event for event in events if event["ph"] == "X" and event["cat"] == "kernel"]
    assert len({event["ts"] for event in kernels}) == 1
    assert all(event["dur"] == 0.04 for event in kernels)


@pytest.mark.nightly
@pytest.mark.slow
@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(some.lists(COMMANDS, min_size=1, max_size=3), some.integers(0, 200))
def test_commands_of_any_times_make_a_trace(samples: list[list[tuple[Any, ...]]], host_ns: int) -> None:
    made = Synthetic()
    for number, listed in enumerate(samples):
        made.sample(made.case(f"v{number}", "naive", metric="wall"), host_ns=float(host_ns + 1), batch=1)
        for kind, queue, submit, start, end in listed:
            made.event((start, end), kind=kind, queue=queue)
            made.events[-1]["submit_ns"] = submit
    events = validated(trace_events.as_json(made.run(), "p"))
    shown = [event for event in events if event["ph"] == "X"]
    assert len(shown) == sum(map(len, samples)), "no command is lost"


def test_a_run_of_today_is_traced_by_the_command(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    done = CliRunner().invoke(commands, ["trace", str(FIXTURE), "partial_subgroups", "-o", str(file)])
    assert done.exit_code == 0
    events = validated(file.read_text())
    processes = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    # two variants that are right, two sizes, two points of the axis
    assert len(processes) == len(set(processes)) == 8


def test_what_is_not_there_is_one_line() -> None:
    run = two_queues()
    with pytest.raises(XebenchError, match="has no pattern 'q': known are p$"):
        trace_events.as_json(run, "q")
    made = Synthetic()
    made.case("v", "naive", status="skipped", reason="needs fp64")
    with pytest.raises(XebenchError, match="p has no sample with events that counts in synthetic"):
        trace_events.as_json(made.run(), "p")
