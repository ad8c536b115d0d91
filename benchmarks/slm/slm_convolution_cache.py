"""Cache the input window of a 1-D convolution in shared local memory."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel
from xebench import kernel_api as kapi

from ..common import convolution
from ..common.convolution import HALO, M, read_padded
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


@kernel
def read_slm_serial(item: kapi.NdItem, x, weights, y, window):
    i = item.get_global_id(0)
    lane = item.get_local_id(0)
    size = item.get_local_range(0)
    first = item.get_group().get_group_id(0) * size
    window[lane + HALO] = x[i + HALO]
    # while the first and the last item fetch the neighbours on their sides, the others wait at the barrier
    if lane == 0:
        for k in range(HALO):
            window[k] = x[first + k]
    if lane == size - 1:
        for k in range(HALO):
            window[size + HALO + k] = x[first + size + HALO + k]
    kapi.group_barrier(item.get_group())
    total = np.int32(0)
    for k in range(M):
        total = np.int32(total + np.int32(window[lane + k] * weights[k]))
    y[i] = total


@kernel
def read_slm(item: kapi.NdItem, x, weights, y, window):
    i = item.get_global_id(0)
    lane = item.get_local_id(0)
    size = item.get_local_range(0)
    first = item.get_group().get_group_id(0) * size
    # every item of the group helps to fetch the group's part and the M - 1 elements behind it
    k = i
    while k < first + size + 2 * HALO:
        window[k - first] = x[k]
        k += size
    kapi.group_barrier(item.get_group())
    total = np.int32(0)
    for k in range(M):
        total = np.int32(total + np.int32(window[lane + k] * weights[k]))
    y[i] = total


@pattern.problem
def padded_by_zeros(rng, n, work_group_size):
    fields = convolution.fields(rng, n, work_group_size)
    return Problem(**fields, bytes_moved=4 * (n + M - 1 + M + n), operations=2 * M * n, operation_kind="int32")


pattern.reference(convolution.expected)


@pattern.naive
def global_memory(session, p, work_group_size):
    """Every work-item reads its whole window from global memory."""
    session.launch(read_padded, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.weights, p.y)


@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 3121 to 3193"))
def serial_halo(session, p, work_group_size):
    """Each item fetches one element into SLM; the first and the last one also fetch 128 neighbours each."""
    window = kapi.LocalAccessor(work_group_size + 2 * HALO, np.int32)
    session.launch(read_slm_serial, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.weights, p.y, window)


@pattern.optimized(claim=(Claim("faster", on=("gpu",)), Claim("faster", against="serial_halo", on=("gpu",))))
def cooperative_halo(session, p, work_group_size):
    """Our improvement: all items of the group fetch its part of the input and both sides into SLM together."""
    window = kapi.LocalAccessor(work_group_size + 2 * HALO, np.int32)
    session.launch(read_slm, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.weights, p.y, window)


in_opencl(pattern, cooperative_halo)
