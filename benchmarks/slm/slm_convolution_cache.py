"""Cache the input window of a 1-D convolution in shared local memory."""

import numpy as np

from xebench import Claim, Pattern, Problem, device_func, fit, kernel
from xebench import kernel_api as kapi

from ..common import convolution
from ..common.convolution import HALO, M, check_ends
from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="slm_convolution_cache",
    catalogue=("E34",),
    guide="Shared Local Memory / Using SLM as Cache",
    lesson="The work-items of a group read overlapping windows: fetch the group's part once, into SLM.",
    presets={
        "smoke": {"n": (1 << 13, 31 * 256)},
        "default": {"n": {"cpu": 1 << 19, "gpu": fit(1 << 22, per_lane=16)}},
        "guide": {"n": 8192 * 8192},
    },
    axes={"work_group_size": (256,)},
)


# The guide's program, G 3131 to 3187. While the first and the last item fetch the neighbours on their sides, the others
# wait at the barrier.
@kernel
def read_slm_serial(item: kapi.NdItem, signal, weights, y, window):
    i = item.get_global_id(0)
    group = item.get_group().get_group_id(0)
    size = item.get_local_range(0)
    lane = item.get_local_id(0)
    window[lane + HALO] = signal[i]
    if lane == 0:
        if group == 0:
            for k in range(HALO):
                window[k] = np.int32(0)
        else:
            for k in range(HALO):
                window[k] = signal[np.uint32(i - HALO + k)]  # unsigned: no negative index, which would need a look
    if lane == size - 1:
        if group == item.get_group().get_group_range(0) - 1:
            for k in range(HALO):
                window[size + HALO + k] = np.int32(0)
        else:
            for k in range(HALO):
                window[size + HALO + k] = signal[i + 1 + k]
    kapi.group_barrier(item.get_group())
    total = np.int32(0)
    for k in range(M):
        total = np.int32(total + np.int32(window[lane + k] * weights[k]))
    y[i] = total


@device_func
def or_zero(signal, k):
    """Element k, or the zero that stands before the first one and behind the last."""
    return signal[k] if 0 <= k < signal.shape[0] else np.int32(0)


@kernel
def read_slm(item: kapi.NdItem, signal, weights, y, window):
    i = item.get_global_id(0)
    lane = item.get_local_id(0)
    size = item.get_local_range(0)
    first = item.get_group().get_group_id(0) * size - HALO
    # every item of the group helps to fetch the group's part and the M - 1 elements around it
    k = lane
    while k < size + 2 * HALO:
        window[k] = or_zero(signal, first + k)
        k += size
    kapi.group_barrier(item.get_group())
    total = np.int32(0)
    for k in range(M):
        total = np.int32(total + np.int32(window[lane + k] * weights[k]))
    y[i] = total


@pattern.problem
def one_signal(rng, n, work_group_size):
    if work_group_size < HALO:
        raise ValueError(f"work_group_size={work_group_size}: a side of {HALO} comes from one group, so give as many")
    fields = convolution.fields(rng, n, work_group_size)
    products = M * n - HALO * (HALO + 1)  # windows at the ends are cut
    return Problem(**fields, bytes_moved=4 * (n + M + n), operations=2 * products, operation_kind="int32")


pattern.reference(convolution.expected)


@pattern.naive
def global_memory(session, p, work_group_size):
    """Every work-item reads its whole window from global memory."""
    session.launch(check_ends, kapi.NdRange((p.n,), (work_group_size,)), p.signal, p.weights, p.y)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 3121 to 3193"))
def serial_halo(session, p, work_group_size):
    """The guide's: each item fetches one element; the first and the last one also fetch 128 neighbours each."""
    window = kapi.LocalAccessor(work_group_size + 2 * HALO, np.int32)
    session.launch(read_slm_serial, kapi.NdRange((p.n,), (work_group_size,)), p.signal, p.weights, p.y, window)


@pattern.optimized(claim=(Claim("faster", on=("gpu",)), Claim("faster", against="serial_halo", on=("gpu",))))
def cooperative_halo(session, p, work_group_size):
    """Our improvement: all items of the group fetch its part of the input and both sides into SLM together."""
    window = kapi.LocalAccessor(work_group_size + 2 * HALO, np.int32)
    session.launch(read_slm, kapi.NdRange((p.n,), (work_group_size,)), p.signal, p.weights, p.y, window)


in_opencl(pattern, serial_halo)
in_opencl(pattern, cooperative_halo)
