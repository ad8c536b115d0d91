"""Decide for each array where it lives: work arrays on the device, and of the others only what changed is copied.

The guide's loops of the chemistry program NWChem, with its names: four products are added to two work arrays, and these
are added up with weights. Of its 256 matrices ``tkj`` (4 GiB) and ``kkj``, one for each k, one serves all steps here.
Its sums end in two numbers, and here in two for each row: adding up is no part of the lesson.
"""

import math

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common import onemkl
from ..common.staging import host_array

pattern = Pattern(
    name="update_what_changed",
    catalogue=("nwchem_residency",),
    guide="OpenMP Offload Best Practices / Fortran Example",
    lesson="Shared memory for all arrays is little to write and much to move; place each by who reads and writes it.",
    presets={
        "smoke": {"n": (32, 31), "occupied": 8, "steps": 3},
        "default": {"n": {"cpu": 128, "gpu": 1024}, "occupied": {"cpu": 16, "gpu": 128}, "steps": 6},
        "guide": {"n": 2048, "occupied": 256, "steps": 50},
    },
    metric="wall",
    requires=("onemkl",),
    rtol=1e-4,  # a row's sum in float32, of products that were added up in it
)

OF_I, OF_J = ("jia", "kia", "tia", "xia"), ("tkj", "kkj")  # what the host changes in the loops over i and j
READ = (*OF_I, *OF_J, "t1v2", "eorb")  # and t1v1, which the host sets in each step
WORK = ("f1", "f2")


def added(step):
    """Before a step, the host changes the last element of some matrices: what it has added by then, by name.

    A step is one of the loop over k, which ends at i; i counts from 1, and j stays the same for all steps.
    """
    i = (math.isqrt(8 * step + 1) + 1) // 2
    changed = (*OF_J, *OF_I) if step == 0 else OF_I if step == i * (i - 1) // 2 else ()
    return dict.fromkeys(changed, i)


@pattern.problem
def matrices(rng, n, occupied, steps):
    """Numbers from 0 to 1; ``tkj`` is the transposed of the guide's."""
    shapes = dict.fromkeys(("jia", "kia", "tkj"), (n, n))
    shapes |= {"tia": (n, occupied), "xia": (n, occupied), "kkj": (occupied, n), "t1v2": n, "eorb": n}
    return Problem(
        **{name: rng.random(shape, np.float32) for name, shape in shapes.items()},
        sums=output((2, n), np.float32, host=True),
        bytes_moved=4 * (3 * n * n + 3 * n * occupied + 4 * n),
        operations=steps * (4 * n**2 * (n + occupied) + 12 * n**2),
    )


def change(p, step, of_host):
    """What the host does before a step: it changes these arrays."""
    numbers = added(step)
    for name, number in numbers.items():
        of_host[name][-1, -1] = getattr(p.host, name)[-1, -1] + np.float32(number)
    of_host["t1v1"][:] = of_host["tkj"][-1]
    return *numbers, "t1v1"


@pattern.reference
def expected(p):
    arrays = {name: getattr(p, name).astype(np.float64) for name in READ}
    f1, f2, sums = np.zeros((p.n, p.n)), np.zeros((p.n, p.n)), np.zeros((2, p.n))
    denominators = -1 / (arrays["eorb"][:, None] + arrays["eorb"] + 1)
    for step in range(p.steps):
        for name, number in added(step).items():
            arrays[name][-1, -1] = np.float64(getattr(p, name)[-1, -1]) + number
        f1 += arrays["jia"] @ arrays["tkj"] - arrays["tia"] @ arrays["kkj"]
        f2 += arrays["kia"] @ arrays["tkj"] - arrays["xia"] @ arrays["kkj"]
        sums[0] += (denominators * (arrays["tkj"][-1][:, None] * f1 + 2 * f1.T)).sum(axis=1)
        sums[1] += (denominators * (arrays["t1v2"][:, None] * f2 + 3 * f2.T)).sum(axis=1)
    return {"sums": sums}


@kernel
def add_sums(item: kapi.Item, f1, f2, t1v1, t1v2, eorb, sums):
    """A work-item for each row of the work arrays, and for the column of the same number."""
    b = item.get_id(0)
    of_first = np.float32(0)
    of_second = np.float32(0)
    for c in range(eorb.shape[0]):
        denominator = np.float32(-1) / (eorb[b] + eorb[c] + np.float32(1))
        of_first += denominator * (t1v1[b] * f1[b, c] + np.float32(2) * f1[c, b])
        of_second += denominator * (t1v2[b] * f2[b, c] + np.float32(3) * f2[c, b])
    sums[0, b] += of_first
    sums[1, b] += of_second


def step_on_device(session, p, arrays):
    """What the device does in a step: four products, added to the work arrays, and the sums."""
    jia, kia, tia, xia, tkj, kkj = (arrays[name] for name in (*OF_I, *OF_J))
    f1, f2 = (arrays[name] for name in WORK)
    session.call(onemkl.gemm, jia, tkj, f1, beta=1)
    session.call(onemkl.gemm, kia, tkj, f2, beta=1)
    session.call(onemkl.gemm, tia, kkj, f1, alpha=-1, beta=1)
    session.call(onemkl.gemm, xia, kkj, f2, alpha=-1, beta=1)
    of_sums = (arrays[name] for name in ("t1v1", "t1v2", "eorb", "sums"))
    session.launch(add_sums, kapi.Range(p.n), f1, f2, *of_sums)


def allocate(session, p, usm):
    """All arrays, by name."""
    shapes = {name: getattr(p.host, name).shape for name in READ}
    shapes |= {"t1v1": p.n, "sums": p.sums.shape, **dict.fromkeys(WORK, (p.n, p.n))}
    return {name: session.alloc(shape, np.float32, usm=usm) for name, shape in shapes.items()}


@pattern.naive(requires=("usm_shared",))
def all_shared(session, p):
    """Every array in shared memory: whoever touches it has it moved."""
    arrays = allocate(session, p, "shared")
    views = {name: np.frombuffer(each.usm_data, np.float32).reshape(each.shape) for name, each in arrays.items()}

    def timed():
        for name in READ:
            views[name][...] = getattr(p.host, name)
        for name in (*WORK, "sums"):
            views[name][...] = 0
        for step in range(p.steps):
            change(p, step, views)
            step_on_device(session, p, arrays)
            session.wait()
        p.sums[...] = views["sums"]

    return timed


def on_host(session, shape, in_usm):
    """An array of the host, twice: as `session.copy` takes it, and as numpy sees it."""
    if in_usm:
        return host_array(session, shape, np.float32)
    array = np.empty(shape, np.float32)
    return array, array


def copied(session, p, copy_work_arrays, in_usm=False):
    """Arrays of the host and their copies on the device; in each step, what the host changed is copied."""
    arrays = allocate(session, p, "device")
    both = {name: on_host(session, getattr(p.host, name).shape, in_usm) for name in READ}
    both["t1v1"] = on_host(session, (p.n,), in_usm)
    to_copy, of_host = ({name: pair[side] for name, pair in both.items()} for side in (0, 1))
    for name in READ:
        of_host[name][...] = getattr(p.host, name)
    zeros = np.zeros((p.n, p.n), np.float32)

    def timed():
        for name in READ:
            session.copy(arrays[name], to_copy[name])
        for name in WORK:
            if copy_work_arrays:
                session.copy(arrays[name], zeros)
            else:
                session.fill(arrays[name], 0)
        session.fill(arrays["sums"], 0)
        for step in range(p.steps):
            session.wait()  # the host may not write what is being copied
            for name in change(p, step, of_host):
                session.copy(arrays[name], to_copy[name])
            step_on_device(session, p, arrays)
        session.copy(p.sums, arrays["sums"])

    return timed


# The guide's times (G 15857 to 15859) are of the call in each step, without the copies between two calls and the first
# upload, which are in these samples: no figure.
@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 15857 to 15858"))
def mapped(session, p):
    """Every array is on both sides; the changed matrices are copied in each step."""
    return copied(session, p, copy_work_arrays=True)


# The guide's third version changes both at once.
@pattern.intermediate(claim=Claim("faster", against="mapped", on=("gpu",)))
def work_arrays_on_device(session, p):
    """The work arrays are on the device alone, and never copied; the others stay where they were."""
    return copied(session, p, copy_work_arrays=False)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 15857 to 15859"),
        Claim("faster", against="mapped", on=("gpu",), strength="implied", source="G 15424 to 15441, 15858 to 15859"),
    ),
    requires=("usm_host",),
)
def others_in_host_memory(session, p):
    """The work arrays are on the device alone, and the nine others in host memory, which the device copies itself."""
    return copied(session, p, copy_work_arrays=False, in_usm=True)
