"""The loop nest of the guide's chapter on OpenMP offload: a small spectral-element operator over blocks of 16 cubed.

The guide computes in double precision, which not every GPU has and none of these lessons is about.
"""

import numpy as np

from xebench import Problem, device_func, kernel, output
from xebench import kernel_api as kapi

P = 16
CUBE = P * P * P  # results of a block


@device_func
def contract(dx, u, n):
    """The three sums of result ``n``, each of ``P`` products."""
    k = n % P
    j = n // P % P
    i = n // (P * P) % P
    block = n // CUBE * CUBE
    ur = np.float32(0)
    us = np.float32(0)
    ut = np.float32(0)
    for m in range(P):
        ur += dx[i * P + m] * u[block + m * P * P + j * P + k]
        us += dx[k * P + m] * u[block + i * P * P + m * P + k]
        ut += dx[j * P + m] * u[block + i * P * P + j * P + m]
    return ur, us, ut


@device_func
def compute(dx, u, w, n):
    """Result ``n``: the product of its sums."""
    ur, us, ut = contract(dx, u, n)
    w[n] = ur * us * ut


@kernel
def compute_each(item: kapi.NdItem, dx, u, w):
    """A work-item for each result."""
    compute(dx, u, w, item.get_global_id(0))


def fields(rng, blocks):
    """The problem: numbers from 0 to 1 in steps of a hundredth, as in the guide."""
    results = blocks * CUBE
    return Problem(
        dx=(rng.integers(0, 100, P * P) / 100).astype(np.float32),
        u=(rng.integers(0, 100, results) / 100).astype(np.float32),
        w=output(results, np.float32),
        bytes_moved=4 * (P * P + 2 * results),
        # `us` does not depend on j, nor `ut` on k: a block has 256 different ones of each
        operations=blocks * (2 * P * (CUBE + 2 * P * P) + 2 * CUBE),
    )


def fields_on_host(rng, blocks):
    """The same problem with its result on the host, where copies are a part of what is measured."""
    problem = fields(rng, blocks)
    results = blocks * CUBE
    return Problem(
        dx=problem.fields["dx"],
        u=problem.fields["u"],
        w=output(results, np.float32, host=True),
        bytes_moved=problem.bytes_moved,
        operations=problem.operations,
        host_bytes=4 * (P * P + 2 * results),
    )


def sums(p):
    """The three sums, in double precision, as arrays over (block, i, j, k)."""
    dx = p.dx.reshape(P, P).astype(np.float64)
    u = p.u.reshape(-1, P, P, P).astype(np.float64)
    ur = np.einsum("im,bmjk->bijk", dx, u)
    us = np.einsum("km,bimk->bik", dx, u)[:, :, None, :]
    ut = np.einsum("jm,bijm->bij", dx, u)[:, :, :, None]
    return ur, us, ut


def product(ur, us, ut):
    """What `compute` makes of the sums; single precision rounds each of 16 additions, so compare within 1e-5."""
    return {"w": (ur * us * ut).ravel()}
