"""Decide for each array where it lives: work arrays on the device, and of the others only what changed is copied.

A small stand-in for a loop of the chemistry program NWChem: products of matrices, of which the host changes an element
in every step, then sums over all elements. The guide adds four products to what the arrays hold; dpnp cannot add to an
array while it multiplies, so there are two products here, as the guide's text says.
"""

import dpnp
import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="update_what_changed",
    catalogue=("nwchem_residency",),
    guide="OpenMP Offload Best Practices / Fortran Example",
    lesson="Shared memory for all arrays is little to write and much to move; place each by who reads and writes it.",
    presets={
        "smoke": {"n": (32, 31), "steps": 2},
        "default": {"n": {"cpu": 128, "gpu": 1024}, "steps": 4},
        "guide": {"n": 2048, "steps": 50},
    },
    metric="wall",
    rtol=1e-5,  # a row's sum in float32
)


@pattern.problem
def matrices(rng, n, steps):
    """Numbers from 0 to 1. The host adds one to the last element of two of the matrices before each step."""
    left, right, factor = rng.random((3, n, n), np.float32)
    return Problem(
        left=left,
        right=right,
        factor=factor,
        weights=rng.random(n, np.float32),
        sums=output((2, n), np.float32, host=True),
        bytes_moved=4 * (3 * n * n + 3 * n),
        operations=steps * (4 * n**3 + 6 * n**2),
    )


def changed(p, step):
    """The last element of each matrix that the host changes, in a step."""
    return p.host.left[-1, -1] + np.float32(step + 1), p.host.right[-1, -1] + np.float32(step + 1)


@pattern.reference
def expected(p):
    left, right = (matrix.astype(np.float64) for matrix in (p.left, p.right))
    weights = p.weights.astype(np.float64)
    sums = np.zeros((2, p.n))
    for _ in range(p.steps):
        left[-1, -1] += 1
        right[-1, -1] += 1
        for row, matrix, times in ((0, left, 2), (1, right, 3)):
            product = matrix @ p.factor
            sums[row] += product @ weights + times * product.sum(axis=0)
    return {"sums": sums}


@kernel
def add_sums(item: kapi.Item, first, second, weights, sums, clear):
    """A work-item for each row of the products, and for the column of the same number."""
    b = item.get_id(0)
    if clear:
        sums[0, b] = np.float32(0)
        sums[1, b] = np.float32(0)
    of_first = np.float32(0)
    of_second = np.float32(0)
    for c in range(weights.shape[0]):
        of_first += weights[c] * first[b, c] + np.float32(2) * first[c, b]
        of_second += weights[c] * second[b, c] + np.float32(3) * second[c, b]
    sums[0, b] += of_first
    sums[1, b] += of_second


def step_on_device(session, arrays, clear):
    """What the device does in a step: two products, and the sums."""
    left, right, factor, weights, first, second, sums = arrays
    session.call(dpnp.matmul, left, factor, out=first)
    session.call(dpnp.matmul, right, factor, out=second)
    session.launch(add_sums, kapi.Range(weights.shape[0]), first, second, weights, sums, np.int32(clear))


def allocate(session, p, usm):
    """Three matrices and the weights, two work arrays, and the sums."""
    shapes = [(p.n, p.n)] * 3 + [(p.n,)] + [(p.n, p.n)] * 2 + [(2, p.n)]
    return [session.alloc(shape, np.float32, usm=usm) for shape in shapes]


@pattern.naive(requires=("usm_shared",))
def all_shared(session, p):
    """Every array in shared memory: whoever touches it has it moved."""
    arrays = allocate(session, p, "shared")
    views = [np.frombuffer(array.usm_data, np.float32).reshape(array.shape) for array in arrays]
    of_host = (p.host.left, p.host.right, p.host.factor, p.host.weights)

    def timed():
        for view, values in zip(views, of_host, strict=False):
            view[...] = values
        for step in range(p.steps):
            views[0][-1, -1], views[1][-1, -1] = changed(p, step)
            step_on_device(session, arrays, clear=step == 0)
            session.wait()
        p.sums[...] = views[-1]

    return timed


def copied(session, p, copy_work_arrays):
    """Arrays of the host and their copies on the device; in each step, what the host changed is copied."""
    arrays = allocate(session, p, "device")
    of_host = [array.copy() for array in (p.host.left, p.host.right, p.host.factor, p.host.weights)]
    of_host += [np.zeros((p.n, p.n), np.float32) for _ in range(2 if copy_work_arrays else 0)]

    def timed():
        for array, values in zip(arrays, of_host, strict=False):
            session.copy(array, values)
        for step in range(p.steps):
            session.wait()  # the host may not write what is being copied
            for matrix, element, array in zip(of_host, changed(p, step), arrays, strict=False):
                matrix[-1, -1] = element
                session.copy(array, matrix)
            step_on_device(session, arrays, clear=step == 0)
        session.copy(p.sums, arrays[-1])

    return timed


# The guide's times (G 15857 to 15859) are of the call in each step, without the copies between two calls and the first
# upload, which are in these samples: no figure.
@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 15857 to 15858"))
def mapped(session, p):
    """Every array is on both sides; the changed matrices are copied in each step."""
    return copied(session, p, copy_work_arrays=True)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 15857 to 15859"),
        Claim("faster", against="mapped", on=("gpu",), strength="implied", source="G 15858 to 15859"),
    )
)
def work_arrays_on_device(session, p):
    """The products are on the device alone, and never copied."""
    return copied(session, p, copy_work_arrays=False)
