"""Which variants are one program: what they ask of the device, and the machine code of their kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from family_kit import measure
from pattern_copies import write_pattern

pytestmark = pytest.mark.device

PATTERN = """
import numpy as np
from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="programs", catalogue=(), guide="", lesson="Some of these are one program.",
    presets={"smoke": {"n": 64}, "default": {"n": 64}}, metric=METRIC,
)

@kernel
def once(item: kapi.Item, x, y, factor):
    i = item.get_id(0)
    y[i] = factor * x[i]

@kernel
def another_name(item: kapi.Item, x, y, factor):
    place = item.get_id(0)
    y[place] = factor * x[place]

@kernel
def other_code(item: kapi.Item, x, y, factor):
    i = item.get_id(0)
    y[i] = factor * max(x[i], 0)

@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.integers(0, 9, n, dtype=np.int32), y=output(n, np.int32))

@pattern.reference
def expected(p):
    return {"y": 2 * p.x}

def two():
    return np.int32(2)

@pattern.naive
def plain(session, p):
    session.launch(once, kapi.Range(p.n), p.x, p.y, two())

@pattern.optimized
def same(session, p):
    session.launch(once, kapi.Range(p.n), p.x, p.y, two())

@pattern.optimized
def renamed(session, p):
    session.launch(another_name, kapi.Range(p.n), p.x, p.y, two())

@pattern.optimized
def computed_otherwise(session, p):
    session.launch(other_code, kapi.Range(p.n), p.x, p.y, two())

@pattern.optimized
def of_another_width(session, p):
    session.launch(once, kapi.Range(p.n), p.x, p.y, np.int64(2))

@pattern.optimized
def twice(session, p):
    session.launch(once, kapi.Range(p.n), p.x, p.y, two())
    session.launch(once, kapi.Range(p.n), p.x, p.y, two())

@pattern.optimized
def twice_with_a_wait(session, p):
    session.launch(once, kapi.Range(p.n), p.x, p.y, two()).wait()
    session.launch(once, kapi.Range(p.n), p.x, p.y, two())

@pattern.optimized
def twice_with_a_pause(session, p):
    session.launch(once, kapi.Range(p.n), p.x, p.y, two())
    session.pause(0.001)
    session.launch(once, kapi.Range(p.n), p.x, p.y, two())

@pattern.optimized
def on_two_queues(session, p):
    queue = session.new_queue()
    def sample():
        first = session.launch(once, kapi.Range(p.n), p.x, p.y, two())
        session.launch(once, kapi.Range(p.n), p.x, p.y, two(), queue=queue, depends=[first])
    return sample

@pattern.optimized
def from_own_memory(session, p):
    own = session.alloc(p.n, np.int32)
    session.copy(own, p.x)
    session.launch(once, kapi.Range(p.n), own, p.y, two())

@pattern.optimized
def from_own_memory_too(session, p):
    mine = session.alloc(p.n, np.int32)
    session.copy(mine, p.x)
    session.launch(another_name, kapi.Range(p.n), mine, p.y, two())

@pattern.optimized
def other_code_later(session, p):
    kernels = [once]
    def sample():
        session.launch(kernels[0], kapi.Range(p.n), p.x, p.y, two())
        kernels[0] = other_code
    return sample

@pattern.optimized
def from_shared_memory(session, p):
    own = session.alloc(p.n, np.int32, usm="shared")
    session.copy(own, p.x)
    session.launch(once, kapi.Range(p.n), own, p.y, two())
"""


@pytest.fixture(params=["device", "wall"])
def programs(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str | None]:
    write_pattern(tmp_path / "programs.py", PATTERN.replace("METRIC", repr(request.param)))
    done = measure(tmp_path / "programs.py", "programs")
    assert {case["status"] for case in done.cases.values()} == {"ok"}
    return {name: case["program"] for name, case in done.cases.items()}


@pytest.mark.parametrize("programs", ["device"], indirect=True)
def test_one_program_is_one_by_its_machine_code_sizes_arguments_queues_waits_and_pauses(
    programs: dict[str, str | None],
) -> None:
    assert programs["plain"] == programs["same"] is not None
    import dpctl

    if "Intel" in dpctl.SyclDevice().vendor:  # other drivers' binaries may have more in them than code and names
        assert programs["renamed"] == programs["plain"]
        assert programs["from_own_memory"] == programs["from_own_memory_too"]
    assert programs["from_shared_memory"] is programs["other_code_later"] is None
    apart = programs.keys() - {"same", "renamed", "from_own_memory_too", "from_shared_memory", "other_code_later"}
    assert None not in {programs[name] for name in apart}
    assert len({programs[name] for name in apart}) == len(apart)


@pytest.mark.parametrize("programs", ["wall"], indirect=True)
def test_where_the_hosts_work_counts_nobody_says_that_programs_are_equal(programs: dict[str, str | None]) -> None:
    assert set(programs.values()) == {None}
