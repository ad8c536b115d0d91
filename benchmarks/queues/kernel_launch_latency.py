"""Submit all kernels, then wait: waiting for each adds the way to the device and back to every one."""

import numpy as np

from xebench import Claim, Pattern, Problem, inout, kernel
from xebench import kernel_api as kapi

pattern = Pattern(
    name="kernel_launch_latency",
    catalogue=("E49",),
    guide="Kernels / Kernel Launch",
    lesson="Submission returns before the kernel starts: a host that does not wait submits while the device works.",
    # the guide measures both and compares them in no sentence: it says what the wait adds to a submission
    claim=Claim("faster", strength="implied", source="G 4703 to 4730"),
    presets={
        "smoke": {"launches": 20},
        "default": {"launches": 200},
        "guide": {"launches": 10_000},  # of the guide's published program
    },
    metric="wall",
)


# In C++ a launch costs a fifth, and the wait weighs more: 2.6x on a CPU device where Python has 1.13x
# (results/studies/beside-cpp.md).
# The guide's kernel is empty; this one counts its launches, or nobody could tell whether it ran.
@kernel
def count_launch(item: kapi.Item, count):
    count[item.get_id(0)] += 1


@pattern.problem
def counter(rng, launches):
    return Problem(count=inout(np.zeros(1, np.int32)), bytes_moved=2 * 4 * launches)


@pattern.reference
def expected(p):
    return {"count": [p.launches]}


@pattern.naive
def wait_for_each(session, p):
    """The host waits for each kernel before it submits the next."""
    for _ in range(p.launches):
        session.launch(count_launch, kapi.Range(1), p.count).wait()


@pattern.optimized
def wait_once(session, p):
    """The host submits all kernels, and waits when it needs their result."""
    for _ in range(p.launches):
        session.launch(count_launch, kapi.Range(1), p.count)
    session.wait()
