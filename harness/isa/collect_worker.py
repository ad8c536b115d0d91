"""The child of ``collect``: runs each variant once and writes down what it launches.

Run as ``python -m harness.isa.collect_worker FOLDER SECONDS``: reads ``requests.json`` in the folder, writes the
SPIR-V modules and ``found.jsonl`` beside it.
"""

from __future__ import annotations

import json
import math
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness import runtime
from harness.children.ask import leave
from harness.errors import named
from harness.runner.worker.serve import die_with_parent
from harness.runner.worker.variant_run import accepted

NOTHING_LAUNCHED = "launches no kernel through the session"


def main(folder: Path, timeout_s: int) -> None:
    """Serve all requests; a hang is ended by the alarm, which native code cannot hold off."""
    runtime.load()
    requests = json.loads((folder / "requests.json").read_text(encoding="utf-8"))
    session, store = _recording_session(runtime.select_device().device.device)
    with (folder / "found.jsonl").open("a", encoding="utf-8") as file:

        def note(kind: str, **content: Any) -> None:
            file.write(json.dumps({"kind": kind, **content}) + "\n")
            file.flush()

        for request in requests:
            signal.alarm(timeout_s)
            note("begin", pattern=request["pattern"])
            _run_family(request, session, store, folder, note)
            note("done", pattern=request["pattern"])
        signal.alarm(0)


def _recording_session(device: str) -> tuple[Any, Any]:
    """A session, and its store of kernels, which hands every kernel to its ``found`` before it submits it."""
    import dpctl

    from harness.dpex import SpirvCache, compile_kernel
    from harness.dpex.kernel_store import KernelStore
    from harness.session.session import Session

    class NotingStore(KernelStore):
        found: Callable[[Any, Any, Sequence[Any]], None]
        spirv = SpirvCache()

        def submit(self, kernel: Any, queue: Any, index_space: Any, arguments: Sequence[Any], depends: Any) -> Any:
            # before the launch: a kernel that this device cannot run is of interest, too
            self.found(compile_kernel(kernel, index_space, arguments, cache=self.spirv), index_space, arguments)
            return super().submit(kernel, queue, index_space, arguments, depends)

    class NotingDevice(dpctl.SyclDevice):  # type: ignore[misc]
        """Knows whether a variant has asked for its number of compute units, which is not that of a GPU elsewhere."""

        asked = False

        @property
        def max_compute_units(self) -> int:
            self.asked = True
            return int(super().max_compute_units)

    store = NotingStore()
    session = Session(dpctl.SyclQueue(device, property=["in_order", "enable_profiling"]), store)
    session.device = NotingDevice(device)
    return session, store


def _run_family(request: Mapping[str, Any], session: Any, store: Any, folder: Path, note: Callable[..., None]) -> None:
    from harness.runner.worker.bound_problem import Binding
    from harness.runner.worker.prepare import find_pattern, make_problem
    from harness.session.device_memory import DeviceMemory

    pattern = find_pattern(request["source"], request["pattern"])
    numbers = {**request["sizes"], **request["axes"]}
    try:
        problem = make_problem(pattern, numbers, 0)
        binding = Binding(problem, numbers, DeviceMemory(session.queue))
    except Exception as error:
        for name in pattern.variants:
            note("missing", pattern=pattern.name, variant=name, reason=named(error))
        return
    note(
        "work",
        pattern=pattern.name,
        axes=request["axes_json"],
        bytes_moved=_whole(problem.bytes_moved),
        operations=_whole(problem.operations),
        operation_kind=problem.operation_kind,
    )
    for name, variant in pattern.variants.items():
        seen: set[tuple[str, tuple[str, ...]]] = set()

        def found(
            compiled: Any, index_space: Any, arguments: Sequence[Any], *, of: str = name, seen: Any = seen
        ) -> None:
            facts = _facts(request, compiled, index_space, arguments) | {"sized_here": session.device.asked}
            kernel = compiled.sha256, tuple(facts["build_options"])
            if kernel not in seen:
                seen.add(kernel)
                (folder / f"{compiled.sha256}.spv").write_bytes(compiled.spirv)
                note("kernel", pattern=pattern.name, variant=of, **facts)

        store.found = found
        session.device.asked = False
        reason = _run_variant(variant.function, session, binding, request["axes"])
        if not seen:
            note("missing", pattern=pattern.name, variant=name, reason=reason or NOTHING_LAUNCHED)
    session.release()


def _run_variant(function: Callable[..., Any], session: Any, binding: Any, axes: Mapping[str, Any]) -> str:
    """Run it once, as a sample would; why it failed, or ""."""
    try:
        binding.reset()
        session.begin()
        prepared = function(session, binding.bound, **accepted(function, axes))
        if callable(prepared):
            prepared()
        session.wait()
    except Exception as error:
        return named(error)
    return ""


def _facts(request: Mapping[str, Any], compiled: Any, index_space: Any, arguments: Sequence[Any]) -> dict[str, Any]:
    from harness.dpex.signature import index_space_extents

    global_size, local_size = index_space_extents(index_space)
    options, _ = compiled.options.flags("opencl", "Intel(R) Corporation", "gpu")
    return {
        "axes": request["axes_json"],
        "kernel": compiled.name,
        "spirv_sha256": compiled.sha256,
        "build_options": list(options),
        "global_size": list(global_size),
        "local_size": None if local_size is None else list(local_size),
        "local_bytes": sum(map(_local_bytes, arguments)),
    }


def _whole(number: Any) -> int | None:
    return None if number is None else int(number)


def _local_bytes(argument: Any) -> int:
    from numba_dpex import kernel_api

    if not isinstance(argument, kernel_api.LocalAccessor):
        return 0
    return int(math.prod(argument._shape) * np.dtype(argument._dtype).itemsize)


if __name__ == "__main__":
    die_with_parent()
    main(Path(sys.argv[1]), int(sys.argv[2]))
    leave(0)
