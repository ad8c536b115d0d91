"""Facts of a traced execution."""

from __future__ import annotations

from xebench.measuring.traced_facts import traced_facts
from xebench.records.events import EventTimes, HostCall
from xebench.session.recorder import MeasuredSample


def test_a_kernel_that_is_made_again_in_each_call_is_found_late() -> None:
    calls = [HostCall(0, 10**6, "execution", "one execution"), HostCall(0, 10**6, "compile", "find compiled k")]
    assert traced_facts(MeasuredSample(10**6, 0, [[]], calls=calls)) == {"making_ns": 10**6}


def test_what_an_execution_does_beside_its_kernels() -> None:
    commands = [
        EventTimes(0, 1, 2, "kernel", "k", 0),
        EventTimes(0, 2, 3, "copy", "memcpy", 0, 100, "pageable_to_device"),
        EventTimes(0, 3, 4, "copy", "memcpy", 0, 50, "pageable_to_device"),
        EventTimes(0, 4, 5, "fill", "fill", 0, 8),
        EventTimes(0, 5, 6, "library", "convert float64 to float32", 0),
        EventTimes(0, 6, 7, "library", "add", 0),
    ]
    calls = [
        HostCall(0, 100, "execution", "one execution"),
        HostCall(10, 30, "compile", "compile k"),
        HostCall(30, 35, "build", "build k"),
        HostCall(35, 38, "compile", "find compiled k"),
        HostCall(40, 41, "allocation", "allocate 8 bytes"),
    ]
    assert traced_facts(MeasuredSample(100, 0, [commands], calls=calls, launches={"k": (2, 64)})) == {
        "making_ns": 25,
        "own_ns": 71,
        "launches": {"k": [2, 64]},
        "allocations": 1,
        "moved": {"copies pageable_to_device": 150, "fills": 8},
        "converted": {"convert float64 to float32": 1},
    }
    assert traced_facts(MeasuredSample(100, 0, [commands[:1]], calls=calls[:1])) == {"own_ns": 100}
    of_rank = [each._replace(mpi_rank=1) for each in commands[:1]]
    assert traced_facts(MeasuredSample(100, 0, [of_rank], calls=calls[:1])) == {}, "ranks wait for each other"
