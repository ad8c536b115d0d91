"""In a launch of three dimensions, neighbouring work-items should work on neighbouring elements."""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, ceil_div, device_func, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="stream_loop_order",
    catalogue=(
        "E85",
        "implicit_scaling_stream_1d",
        "implicit_scaling_stream_3d",
        "implicit_partition_heuristics",
    ),
    guide="Implicit Scaling / 3D STREAM",
    lesson="Whatever the shape of the launch, its fastest dimension must be the one in which elements are neighbours.",
    # The guide's table is of a card of two stacks, where each stack gets a half of the arrays and a half of the slowest
    # dimension. What one device can say is asked, too: the order of the loops, and whether one dimension is as good.
    presets={
        "smoke": {"short": (16, 13), "middle": 32, "long": 128},
        "default": {
            "short": 64,
            "middle": {"cpu": 64, "gpu": 256},
            "long": {"cpu": 256, "gpu": fit(1024, bytes_each=3 * 8 * 64 * 256)},
        },
        "guide": {"short": 64, "middle": 256, "long": 16384},  # printed as 16834; the product is that of 16384
    },
    # The guide's three shapes: z, x or y is the long dimension, and the next one the short.
    axes={"long_dimension": ("z", "x", "y"), "work_group_size": (64,)},
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "FLAT"},  # the device is a stack
)

# GB/s of one stack of a Max and of both: in three dimensions, by the long one, and in one dimension of as many bytes
THREE_DIMENSIONS = {"z": (1040, 2100), "x": (1040, 2077), "y": (1037, 2079)}
LINES = {"z": "G 18118", "x": "G 18119", "y": "G 18120"}
ONE_DIMENSION = (1063, 2113)
UNDIVIDED = {"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"}  # the device is the card


def twice(against, bandwidths, line, **where):
    """The claim that both stacks are as many times as fast as one as the guide's bandwidths say."""
    of_stack, of_card = bandwidths
    figure = Figure(of_card / of_stack, device="Max", line=line)
    return Claim("faster", against=against, where=where, on=("gpu",), requires=("stacks=2",), figure=figure)


# Dimension 0 is the hardware's fastest.


@device_func
def place(x, y, z, nx, ny):
    """In memory."""
    return x + nx * (y + ny * z)


@kernel
def add_x_fastest(item: kapi.NdItem, a, b, c, nx, ny):
    x = item.get_global_id(0)
    y = item.get_global_id(1)
    z = item.get_global_id(2)
    if x < nx:
        i = place(x, y, z, nx, ny)
        c[i] = a[i] + b[i]


@kernel
def add_y_fastest(item: kapi.NdItem, a, b, c, nx, ny):
    y = item.get_global_id(0)
    x = item.get_global_id(1)
    z = item.get_global_id(2)
    if y < ny:
        i = place(x, y, z, nx, ny)
        c[i] = a[i] + b[i]


@kernel
def add_z_fastest(item: kapi.NdItem, a, b, c, nx, ny, nz):
    z = item.get_global_id(0)
    y = item.get_global_id(1)
    x = item.get_global_id(2)
    if z < nz:
        i = place(x, y, z, nx, ny)
        c[i] = a[i] + b[i]


@kernel
def add_linear(item: kapi.NdItem, a, b, c):
    i = item.get_global_id(0)
    if i < c.shape[0]:
        c[i] = a[i] + b[i]


@pattern.problem
def two_arrays(rng, short, middle, long, long_dimension):
    """Elements of 8 bytes; neighbours in memory are neighbours in x, then in y."""
    shapes = {"z": (short, middle, long), "x": (long, short, middle), "y": (middle, long, short)}
    n = short * middle * long
    a, b = (rng.integers(0, 1 << 40, n, dtype=np.int64) for _ in range(2))
    return Problem(a=a, b=b, c=output(n, np.int64), n=n, shape=shapes[long_dimension], bytes_moved=3 * 8 * n)


@pattern.reference
def expected(p):
    return {"c": p.a + p.b}


def items(work_group_size, fastest, *others):
    """Work-groups lie along the fastest dimension."""
    groups = ceil_div(fastest, work_group_size)
    return kapi.NdRange((groups * work_group_size, *others), (work_group_size, *(1 for _ in others)))


@pattern.naive
def z_fastest(session, p, work_group_size):
    """Neighbouring items are a whole plane apart: each touches a cache line of its own."""
    nx, ny, nz = p.shape
    session.launch(add_z_fastest, items(work_group_size, nz, ny, nx), p.a, p.b, p.c, nx, ny, nz)


@pattern.intermediate
def y_fastest(session, p, work_group_size):
    """Neighbouring items are a row apart."""
    nx, ny, nz = p.shape
    session.launch(add_y_fastest, items(work_group_size, ny, nx, nz), p.a, p.b, p.c, nx, ny)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), source="G 18113, 18139"),
        Claim("faster", against="y_fastest", on=("gpu",), source="G 18113"),
    )
)
def x_fastest(session, p, work_group_size):
    """Neighbouring items work on neighbouring elements."""
    nx, ny, nz = p.shape
    session.launch(add_x_fastest, items(work_group_size, nx, ny, nz), p.a, p.b, p.c, nx, ny)


@pattern.optimized(
    claim=Claim(
        "same",
        against="x_fastest",
        within=0.05,  # the guide's differ by 2 %
        on=("gpu",),
        strength="implied",
        figure=Figure(ONE_DIMENSION[0] / THREE_DIMENSIONS["z"][0], device="Max", line="G 18011, 18118"),
    )
)
def one_dimension(session, p, work_group_size):
    """All elements in one dimension, in which they lie in memory."""
    session.launch(add_linear, items(work_group_size, p.n), p.a, p.b, p.c)


@pattern.optimized(
    environment=UNDIVIDED,
    claim=tuple(twice("x_fastest", THREE_DIMENSIONS[way], LINES[way], long_dimension=way) for way in THREE_DIMENSIONS),
)
def x_fastest_on_all_stacks(session, p, work_group_size):
    """The same launch on the undivided card: the driver cuts its slowest dimension, and each array, in halves."""
    x_fastest(session, p, work_group_size)


@pattern.optimized(environment=UNDIVIDED, claim=twice("one_dimension", ONE_DIMENSION, "G 18011"))
def one_dimension_on_all_stacks(session, p, work_group_size):
    """The same launch on the undivided card."""
    one_dimension(session, p, work_group_size)
