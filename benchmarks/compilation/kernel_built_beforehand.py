"""Build a specialized kernel before it is needed: the launch that has to build it waits many times its own length.

SYCL sets the constant in the SPIR-V that it has, which no release of dpctl can. Here the SPIR-V is made with it before
the clock starts, so that what is timed is the same: what the driver makes of that.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output, specialize
from xebench import kernel_api as kapi

pattern = Pattern(
    name="kernel_built_beforehand",
    catalogue=("E73",),
    guide="Compilation / Specialization Constants",
    lesson="A constant that is bound at run time costs a build: pay it in a pause, not in the launch that needs it.",
    presets={
        "smoke": {"n": 5},
        "default": {"n": 5},
        "guide": {"n": 5},
    },
    metric="wall",
    environment={"NEO_CACHE_PERSISTENT": "0"},  # else Intel's GPU driver reads the build of an earlier process
)

VALUE = 10


def store_value(value):
    """The kernel for one value, which is a constant of the code that the driver builds."""

    @kernel
    def store_constant(item: kapi.Item, y):
        y[item.get_id(0)] = np.float32(value)

    return store_constant


@kernel
def store_argument(item: kapi.Item, y, value):
    y[item.get_id(0)] = value


@pattern.problem
def one_value(rng, n):
    return Problem(y=output(n, np.float32, host=True), bytes_moved=4 * n)


@pattern.reference
def expected(p):
    return {"y": np.full(p.n, VALUE)}


def run_in(session, p, queue, stored, store, *arguments):
    """One launch on a queue; arrays belong to the queue's context, and so do builds."""
    session.launch(store, kapi.Range(p.n), stored, *arguments, queue=queue)
    session.copy(p.y, stored, queue=queue)
    session.wait()


@pattern.naive
def built_by_launch(session, p):
    """Nobody has built the kernel in this context: its first launch does, while the clock runs."""
    store_constant = specialize(store_value, value=VALUE)
    queue = session.new_queue(context="separate")
    run_in(session, p, queue, session.alloc(p.n, np.float32, queue=queue), store_constant)


def with_a_new_context(session, p, store, *arguments):
    """The sample makes a context and an array, as the naive one does, and launches what another context has built."""
    built_for = session.new_queue(context="separate")
    stored = session.alloc(p.n, np.float32, queue=built_for)
    run_in(session, p, built_for, stored, store, *arguments)

    def timed():
        session.alloc(p.n, np.float32, queue=session.new_queue(context="separate"))
        run_in(session, p, built_for, stored, store, *arguments)

    return timed


@pattern.optimized(claim=Claim("faster", source="G 8440"))
def built_beforehand(session, p):
    """The kernel was built for its value before the clock started."""
    return with_a_new_context(session, p, specialize(store_value, value=VALUE))


@pattern.baseline
def any_value(session, p):
    """The value is an argument, so one build serves all values; it was made before the clock started."""
    return with_a_new_context(session, p, store_argument, np.float32(VALUE))
