"""Copy the next chunk while the kernel works on this one: do not wait between steps that do not need each other."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.staging import host_array, parts

pattern = Pattern(
    name="overlap_transfer_compute",
    catalogue=("E69",),
    guide="Host/Device Coordination / Overlapping Data Transfer from Host to Device with Computation on Device",
    lesson="Data in chunks: copies of one chunk overlap the kernel of another where the device has copy engines.",
    presets={
        "smoke": {"n": (1 << 14, 16381), "chunks": 4, "steps": 20},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 22, per_lane=16)}, "chunks": 10, "steps": 200},
        "guide": {"n": 12_500_000, "chunks": 10, "steps": 10_000},
    },
    own_sizes="an eighth of its elements",
    metric="span",
    rtol=1e-6,  # each step halves the rounding errors before it, so that two of 2**-24 stay at most
    requires=("usm_host",),  # pageable memory is copied by way of the driver's own buffers, and hardly overlaps
)

# The guide says this of "some GPUs", those with copy engines, and prints a timeline but no time: the claim is ours.
# Against the queue that keeps one row: what the host no longer waits for is not what overlaps.
OVERLAPS = Claim("faster", against="in_order_queue", on=("gpu",), strength="ours", source="G 7868 to 7973")


@kernel
def iterate(item: kapi.Item, x, steps):
    i = item.get_id(0)
    value = x[i]
    for _ in range(steps):
        value = value * np.float32(0.5) + x[i]
    x[i] = value


@pattern.problem
def numbers(rng, n, chunks, steps):
    parts(n, chunks)
    return Problem(
        x=rng.random(n, dtype=np.float32),
        y=output(n, np.float32, host=True),
        host_bytes=2 * 4 * n,
        bytes_moved=2 * 4 * n,
        operations=2 * steps * n,
        operation_kind="fp32",
    )


@pattern.reference
def expected(p):
    # x (1 + 1/2 + 1/4 + ...): the steps of a geometric series
    return {"y": p.x.astype(np.float64) * (2 - 0.5**p.steps)}


def pipeline(session, p, copy_in, compute, copy_out, wait_after_each=False):
    """The sample: each chunk is copied in, worked on and copied out, by these queues; dependences order its steps."""
    source, source_view = host_array(session, p.n, np.float32)
    result, result_view = host_array(session, p.n, np.float32)
    source_view[:] = p.host.x
    bounds = parts(p.n, p.chunks)
    chunks = [session.alloc(end - begin, np.float32) for begin, end in bounds]
    pause = session.wait if wait_after_each else lambda: None

    def sample():
        for (begin, end), chunk in zip(bounds, chunks, strict=True):
            arrived = session.copy(chunk, source[begin:end], queue=copy_in)
            pause()
            space = kapi.Range(end - begin)
            done = session.launch(iterate, space, chunk, p.steps, depends=[arrived], queue=compute)
            pause()
            session.copy(result[begin:end], chunk, depends=[done], queue=copy_out)
            pause()
        session.wait()
        p.y[:] = result_view

    return sample


@pattern.naive
def wait_after_each_step(session, p):
    """The host waits for every copy and every kernel: nothing can overlap, and the device waits for the host."""
    queue = session.new_queue()
    return pipeline(session, p, queue, queue, queue, wait_after_each=True)


@pattern.intermediate
def in_order_queue(session, p):
    """The host does not wait, but the queue keeps all steps in one row."""
    queue = session.new_queue()
    return pipeline(session, p, queue, queue, queue)


@pattern.optimized(claim=OVERLAPS)
def out_of_order_queue(session, p):
    """SYCL's default: a step waits for those of its own chunk alone, so that steps of several chunks run at once."""
    queue = session.new_queue(in_order=False)
    return pipeline(session, p, queue, queue, queue)


@pattern.optimized(claim=Claim("faster", against="in_order_queue"))
def queue_for_each_direction(session, p):
    """A queue for copies in, one for kernels and one for copies out.

    Not in-order ones: some runtimes forget what a kernel on such a queue depends on (intel/llvm, pull request 15412),
    and the copy of a byte that the harness then puts before it takes its time.
    """
    return pipeline(session, p, *(session.new_queue(in_order=False) for _ in range(3)))
