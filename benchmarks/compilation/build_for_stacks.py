"""Build a kernel once for a GPU, and run it on each of its stacks."""

import numpy as np

from xebench import Claim, Pattern

from ..common import parts

pattern = Pattern(
    name="build_for_stacks",
    catalogue=("build_per_root_device",),
    guide="Multiple Stacks / COMPOSITE Mode Programming, contexts",
    lesson="In one context the stacks of a GPU share a build, that for the whole GPU; other GPUs need their own.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": 1 << 16},
        "guide": {"n": 1 << 16},
    },
    own_sizes="the guide names no size",
    axes={"devices": (2,)},
    metric="build",
    environment={"NEO_CACHE_PERSISTENT": "0", "ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},
    stand_in="C++ registers device code with the runtime, which builds it for a context and decides how often. dpctl's "
    "create_program_from_spirv builds for one device. Registered by hand (__sycl_register_lib), SPIR-V was built by "
    "get_kernel_bundle_impl of the runtime of 2024 in one call for one device, for two stacks as for two GPUs, on "
    "Intel's driver without hardware; its structures are internal. The public functions could be called by a library "
    "in C++ on the current stack; nobody has tried that on two stacks. So a build for each stack is asked for here, or "
    "one for the whole device, which the stacks then launch: what the guide says is enough.",
)


@pattern.problem
def two_arrays(rng, n):
    return parts.two_arrays(rng, n)


@pattern.reference
def expected(p):
    return {"total": p.a + np.float32(parts.FACTOR) * p.b}


def first_launches_on(session, p, queues):
    """A sample: nothing is built before, and each queue computes its part, and sends it to the host."""
    placed = []
    for queue, where in zip(queues, parts.slices(p.n, [1] * len(queues)), strict=True):
        a, b = parts.upload(session, queue, p.host.a[where], p.host.b[where])
        placed.append((queue, where, a, b, session.alloc(a.shape, a.dtype, queue=queue)))

    def sample():
        session.forget_builds()
        for queue, where, a, b, total in placed:
            session.launch(parts.add_scaled, parts.items(total.shape[0]), a, b, total, queue=queue)
            session.copy(p.total[where], total, queue=queue)

    return sample


@pattern.naive
def build_for_each_stack(session, p, devices):
    """Each stack is built for by itself, as each of several GPUs is."""
    return first_launches_on(session, p, session.queues_on(devices, kind="sub-devices"))


@pattern.optimized(claim=Claim("faster", on=("gpu",), requires=("stacks=2",), strength="implied", source="G 17264"))
def one_build(session, p, devices):
    """The context has the undivided device, too: the kernel is built for that, and launched on each stack."""
    return first_launches_on(session, p, session.queues_on(devices, kind="sub-devices", context="with device"))


@pattern.baseline
def build_for_each_device(session, p, devices):
    """Two GPUs in one context: nobody can share a build."""
    return first_launches_on(session, p, session.queues_on(devices, kind="devices"))
