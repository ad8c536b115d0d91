"""Every variant asks a device of few capabilities for nothing that it lacks: prepared for it, and launched nowhere."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_device import GPU

from xebench.errors import Unsupported
from xebench.patterns.plan import build_plan
from xebench.patterns.problem import device_bytes
from xebench.patterns.registry import discover
from xebench.system.runtime import missing

pytestmark = pytest.mark.nightly
INFOS = {info.name: info for info in discover()}

#: Of no generation of Intel's: wide sub-groups alone, no double precision, little shared local memory.
SMALL = replace(
    GPU,
    name="another GPU",
    vendor="another",
    sub_group_sizes=(32,),
    max_work_group_size=1024,
    local_memory_bytes=48 << 10,
    compute_units=132,
    aspects=tuple(aspect for aspect in GPU.aspects if aspect not in ("fp64", "fp16")),
)


class Asked:
    """What the kernels of one variant asked for in vain."""

    def __init__(self) -> None:
        self.lacking: list[str] = []
        self.launches = 0

    def note(self, kernel: Any, index_space: Any, arguments: Sequence[Any]) -> None:
        """Compare a launch with what the device has."""
        from numba_sycl.kernel_options import options_of
        from numba_sycl.launch import check_index_space
        from numba_sycl.signature import signature_of
        from xebench.dpex import ForeignKernel

        self.launches += 1
        foreign = isinstance(kernel, ForeignKernel)
        name, options = (kernel.name, kernel.options) if foreign else (kernel.py_func.__name__, options_of(kernel))
        signature = signature_of(kernel, index_space, arguments)
        as_built: Any = SimpleNamespace(
            compiled=SimpleNamespace(name=name, signature=signature, options=options),
            device=small_device(),
            max_work_group_size=SMALL.max_work_group_size,
        )
        try:
            options.check_device(name, small_device())
            check_index_space(as_built, index_space)
        except Exception as error:
            self.lacking.append(str(error))
        local_bytes = sum(map(_local_bytes, arguments))
        if local_bytes > SMALL.local_memory_bytes:
            self.lacking.append(f"kernel {name} needs {local_bytes} bytes of local memory")
        if foreign:
            wide = {word for word in ("double", "half") if re.search(rf"\b{word}\d*\b", kernel.opencl_c)}
        else:
            wide = capabilities(kernel, signature) & {"Float64", "Float16"}
        if wide:
            self.lacking.append(f"kernel {name} needs {', '.join(wide)}: say requires or mend it")


def _local_bytes(argument: Any) -> int:
    from numba_sycl.kernel_api import LocalAccessor

    if not isinstance(argument, LocalAccessor):
        return 0
    return int(math.prod(argument._shape) * np.dtype(argument._dtype).itemsize)


def capabilities(kernel: Any, signature: Any) -> set[str]:
    """Those that the kernel's module declares, of the types that devices may lack."""
    from numba_sycl.compiler import compile_for
    from numba_sycl.spirv_cache import SpirvCache

    spirv = compile_for(kernel, signature, SpirvCache()).spirv
    words = struct.unpack(f"<{len(spirv) // 4}I", spirv)
    declared, at = set(), 5
    while words[at] & 0xFFFF == 17:  # OpCapability: the first instructions of a module
        declared.add(words[at + 1])
        at += words[at] >> 16
    return {name for name, number in {"Float16": 9, "Float64": 10}.items() if number in declared}


def small_device() -> Any:
    """The device here, which says of itself what the small one would."""
    import dpctl

    class Small(dpctl.SyclDevice):
        sub_group_sizes = list(SMALL.sub_group_sizes)
        max_work_group_size = SMALL.max_work_group_size
        local_mem_size = SMALL.local_memory_bytes
        max_compute_units = SMALL.compute_units
        name = SMALL.name
        vendor = SMALL.vendor
        has_aspect_fp64 = False
        has_aspect_fp16 = False

    return Small("cpu")


@pytest.fixture(scope="module")
def session() -> Any:
    """A session on the small device that launches nothing."""
    from xebench.system import runtime

    runtime.load()
    from tools.compilers.suite_kernels import CompilingSession, NotingStore
    from xebench.dpex import direct_calls
    from xebench.session.session import Session

    direct_calls.install()

    def note(kernel: Any, index_space: Any, arguments: Sequence[Any]) -> None:
        compiling.asked.note(kernel, index_space, arguments)

    compiling: Any = CompilingSession(Session.on("cpu").queue, NotingStore(note))
    compiling.device = small_device()
    compiling.sub_group_size = SMALL.sub_group_sizes[0]
    return compiling


@pytest.mark.device
@pytest.mark.parametrize("name", INFOS)
def test_no_variant_asks_for_what_the_device_lacks(name: str, session: Any) -> None:
    from tools.compilers.suite_kernels import run_variant
    from xebench.measuring.bound_problem import Binding
    from xebench.measuring.prepare import find_pattern, make_problem, require_device
    from xebench.session.device_memory import DeviceMemory

    info = INFOS[name]
    pattern = find_pattern(info.source, name)
    for family in build_plan([info], "smoke"):
        concrete = family.on("gpu", SMALL.sub_group_sizes)
        numbers = dict(concrete.parameters)
        try:
            require_device(pattern, concrete.axes, SMALL)
        except Unsupported as error:
            assert pattern.requires and str(error) == missing(SMALL, pattern.requires), "a value of an axis is skipped"
            continue
        problem = make_problem(pattern, numbers, 0)
        wide = [key for key, field in problem.fields.items() if device_bytes(field) and _dtype(field) == np.float64]
        assert not wide, f"{wide} are of double precision: say requires=('fp64',)"
        bound = Binding(problem, numbers, DeviceMemory(session.queue)).bound
        for variant in pattern.variants.values():
            fails_as_claimed = any(claim.word == "error" for claim in variant.claims)
            if missing(SMALL, variant.requires) or fails_as_claimed:
                continue
            session.asked = asked = Asked()
            assert run_variant(session, variant, bound, concrete.axes) == "", variant.name
            assert not asked.lacking, f"{variant.name} at {concrete.point()}"


def _dtype(field: Any) -> Any:
    return np.dtype(field.initial.dtype if hasattr(field, "initial") else field.dtype)


@pytest.mark.numba_dpex
@pytest.mark.device
def test_what_is_lacking_is_seen(session: Any) -> None:
    from numba_sycl import kernel, kernel_api

    @kernel(sub_group_size=16)
    def wide(item: kernel_api.NdItem, x, of_group):
        of_group[item.get_local_id(0)] = x[0]
        x[item.get_global_id(0)] = of_group[0] * np.float64(1.1)

    session.asked = asked = Asked()
    x = session.alloc(4096, np.float32)
    of_group = kernel_api.LocalAccessor(1 << 14, np.float32)
    session.launch(wide, kernel_api.NdRange((4096,), (2048,)), x, of_group)
    assert asked.launches == 1
    assert [line.split(": ")[0] for line in asked.lacking] == [
        "kernel wide requires sub-groups of 16; another GPU offers 32",
        "kernel wide needs 65536 bytes of local memory",
        "kernel wide needs Float64",
    ]
    session.asked = asked = Asked()
    plain = kernel(wide.py_func)
    session.launch(plain, kernel_api.NdRange((4096,), (2048,)), x, of_group)
    assert asked.lacking[0] == "kernel wide: a work-group of 2048; another GPU allows 1024"
