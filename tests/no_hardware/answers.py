"""Answers of a process with pretended GPUs, as JSON: ``python answers.py QUESTION DEVICE``, a function of this file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from xebench.system import runtime

runtime.load()

import dpctl  # noqa: E402
import numpy as np  # noqa: E402

from numba_sycl import build, level_zero_library  # noqa: E402
from numba_sycl.compiler import compile_for  # noqa: E402
from numba_sycl.native_handles import device_handle  # noqa: E402
from numba_sycl.signature import signature_of  # noqa: E402
from xebench import kernel  # noqa: E402
from xebench import kernel_api as kapi  # noqa: E402
from xebench.dpex.binaries import native_code  # noqa: E402
from xebench.errors import Unsupported  # noqa: E402
from xebench.session.session import Session  # noqa: E402
from xebench.session.switches import looked_up  # noqa: E402
from xebench.system.runtime import level_zero  # noqa: E402
from xebench.system.runtime.devices import list_devices, open_device, select_device  # noqa: E402
from xebench.system.runtime.partitions import devices_alike  # noqa: E402

ITEMS = 1 << 14
MODES = ("standard", "bf16", "bf16x2", "bf16x3", "tf32")
SWITCHES = (
    *("ZE_FLAT_DEVICE_HIERARCHY", "ZEX_NUMBER_OF_CCS"),
    *("UR_L0_USE_IMMEDIATE_COMMANDLISTS", "LIBOMPTARGET_LEVEL_ZERO_USE_IMMEDIATE_COMMAND_LIST"),
    *("LIBOMPTARGET_LEVEL_ZERO_COMMAND_BATCH", "LIBOMPTARGET_LEVEL_ZERO_MEMORY_POOL"),
    "LIBOMPTARGET_LEVEL_ZERO_STAGING_BUFFER_SIZE",
)


@kernel
def plain(item: kapi.NdItem, y):
    y[item.get_global_id(0)] = np.float32(1)


@kernel
def plain_again(item: kapi.NdItem, y):
    place = item.get_global_id(0)
    y[place] = np.float32(1)


@kernel
def with_local(item: kapi.NdItem, y, slm):
    slm[item.get_local_id(0)] = np.float32(1)
    y[item.get_global_id(0)] = slm[0]


@kernel(sub_group_size=64)
def sixty_four(item: kapi.NdItem, y):
    y[item.get_global_id(0)] = np.float32(1)


@kernel
def in_double(item: kapi.NdItem, y):
    y[item.get_global_id(0)] = np.float32(np.float64(y[0]) * np.float64(1.1))


@kernel(large_grf=True)
def with_many_registers(item: kapi.NdItem, y):
    y[item.get_global_id(0)] = np.float32(2)


def ending(function: Callable[[], Any]) -> str:
    """``submitted``, or the error."""
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "submitted"


def launching(session: Session, asked: Any, group: int, *more: Any) -> str:
    y = session.alloc(ITEMS, np.float32)

    def launch() -> None:
        session.launch(asked, kapi.NdRange((ITEMS,), (group,)), y, *more)
        session.wait()

    return ending(launch)


def limits(device: str) -> dict[str, str]:
    """Launches at, and beyond, the limits of a device."""
    session = Session.on(device)
    return {
        "fits": launching(session, plain, 512),
        "work_group": launching(session, plain, 2048),
        "local_memory": launching(session, with_local, 64, kapi.LocalAccessor(64 * 1024, np.float32)),
        "sub_group": launching(session, sixty_four, 64),
        "fp64": launching(session, in_double, 64),
    }


def registers(device: str) -> dict[str, str]:
    """Kernels with each register file; the compiler's dump tells what became of it."""
    session = Session.on(device)
    return {
        "default": launching(session, plain, 256),
        "large": launching(session, with_many_registers, 256),
    }


def times(device: str) -> dict[str, str]:
    """Samples of each kind of command, which ask for times."""
    session = Session.on(device)
    y, host = session.alloc(ITEMS, np.float32), np.zeros(ITEMS, np.float32)
    samples = {
        "kernel": lambda: session.launch(plain, kapi.NdRange((ITEMS,), (256,)), y),
        "copy": lambda: session.copy(y, host),
        "fill": lambda: session.fill(y, 0),
        "barrier": session.barrier,
    }
    return {name: ending(partial(session.measure, sample)) for name, sample in samples.items()}


def devices(device: str) -> dict[str, Any]:
    """Every device in order with its stacks, and those that are chosen."""
    listed = list_devices()
    return {
        "listed": [each.device for each in listed],
        "units": {each.device: each.compute_units for each in listed},
        "memory": {each.device: each.global_memory_bytes for each in listed},
        "stacks": {each.device: stacks(each.device) for each in listed if each.device_class == "gpu"},
        "auto": select_device("auto").device.device,
        "gpu": select_device("gpu").device.device,
        "asked": select_device(device).device.device,
    }


def stacks(device: str) -> list[int]:
    """Compute units of each stack; none where it is not divided."""
    opened = open_device(device)
    try:
        return [part.max_compute_units for part in opened.create_sub_devices(partition="numa")]
    except dpctl.SyclSubDeviceCreationError:
        return []


def copies(device: str) -> dict[str, str]:
    """Copies between two devices: in one context, and by way of host memory between contexts of their own."""
    session = Session.on(device)
    try:
        return {
            **copies_in_one_context(session, session.queues_on(2)),
            **copies_by_way_of_host(session, session.queues_on(2, context="separate")),
            "on": session.take_devices() or "",
        }
    except Unsupported as error:
        return {"missing": str(error)}


def copies_in_one_context(session: Session, queues: Sequence[Any]) -> dict[str, str]:
    first, second = queues
    here, there = (session.alloc(ITEMS, np.float32, queue=queue) for queue in queues)

    def chained() -> None:
        written = session.launch(plain, kapi.NdRange((ITEMS,), (256,)), there, queue=second)
        session.copy(here, there, queue=first, depends=[written]).wait()

    return {
        "pushed": ending(lambda: session.copy(there, here, queue=first).wait()),
        "pulled": ending(lambda: session.copy(there, here, queue=second).wait()),
        "chained": ending(chained),
    }


def copies_by_way_of_host(session: Session, queues: Sequence[Any]) -> dict[str, str]:
    first, second = queues
    here, there = (session.alloc(ITEMS, np.float32, queue=queue) for queue in queues)
    host = np.zeros(ITEMS, np.float32)
    return {
        "to host": ending(lambda: session.copy(host, here, queue=first).wait()),
        "from host": ending(lambda: session.copy(there, host, queue=second).wait()),
    }


def switches(device: str) -> dict[str, Any]:
    """What is found of variables that change what a device is, and whether that is what they ask for."""
    session, asked = Session.on(device), {name: os.environ[name] for name in SWITCHES if name in os.environ}
    found: dict[str, str] = {}

    def look() -> None:
        with looked_up(asked, session.queue) as words:
            found.update(words)

    return {"end": ending(look), "found": found}


def peers(device: str) -> dict[str, bool]:
    """Whether a device can access the memory of all others of its platform."""
    first, *others = devices_alike(dpctl.SyclDevice(device))
    library = level_zero_library.open_library()
    pairs = [map(device_handle, (first, other)) for other in others]
    return {"all": all(level_zero.can_access_peer(library, *pair) for pair in pairs)}


def imported(device: str) -> dict[str, bool]:
    """Whether the driver knows memory of numpy: when it was imported, and when the array is gone."""
    session, array = Session.on(device), np.zeros(ITEMS, np.float32)
    address, library = array.ctypes.data, level_zero_library.open_library()
    before = level_zero.is_imported(library, address)
    session.import_memory(array)
    during = level_zero.is_imported(library, address)
    del array
    return {"before": before, "during": during, "after": level_zero.is_imported(library, address)}


def same_code(device: str) -> dict[str, bool]:
    """Whether machine code is that of one kernel: when built again, of an equal kernel, of one built otherwise."""
    session = Session.on(device)
    queue, y = session.queue, session.alloc(ITEMS, np.float32)
    asked = (plain, plain, plain_again, with_many_registers)
    signature = [signature_of(each, kapi.NdRange((ITEMS,), (256,)), (y,)) for each in asked]
    codes = [native_code(build(compile_for(*each, None), queue)) for each in zip(asked, signature, strict=True)]
    equal = [code is not None and code == codes[0] for code in codes[1:]]
    return dict(zip(("again", "equal", "otherwise"), equal, strict=True))


def products(device: str) -> dict[str, str]:
    """Products of oneMKL in each of its modes; its trace (MKL_VERBOSE) says which one it took."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from benchmarks.common import onemkl

    session = Session.on(device)
    square = session.alloc((1024, 1024), np.float32)
    return {mode: ending(partial(onemkl._multiply, square, square, square, 1, 0, mode)) for mode in MODES}


ASKED = (limits, registers, times, devices, copies, switches, peers, imported, same_code, products)
QUESTIONS = {each.__name__: each for each in ASKED}

if __name__ == "__main__":
    print("\n" + json.dumps(QUESTIONS[sys.argv[1]](sys.argv[2])))
