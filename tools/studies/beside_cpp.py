"""Our variants of queues and buffers beside programs in C++: ``python -m tools.studies.beside_cpp``.

Both run interleaved in one process, so that the machine's load meets both. They need the current stack and a C++
compiler.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

from xebench.cli.output import run_program
from xebench.errors import XebenchError
from xebench.system import runtime

runtime.load()

from numba_sycl import libraries  # noqa: E402  (after the runtime)
from numba_sycl.stacks import installed_version  # noqa: E402
from xebench.measuring.bound_problem import Binding  # noqa: E402
from xebench.measuring.place import start  # noqa: E402
from xebench.measuring.prepare import find_pattern, make_problem  # noqa: E402
from xebench.patterns.registry import BENCHMARKS  # noqa: E402
from xebench.report.table_forms import table  # noqa: E402
from xebench.results.analysis.intervals import speedup  # noqa: E402
from xebench.session.device_memory import DeviceMemory  # noqa: E402
from xebench.session.session import Session  # noqa: E402
from xebench.system.runtime import sycl_headers  # noqa: E402

SOURCE: Final = Path(__file__).with_suffix(".cpp")
QUEUES: Final = {"n": 1 << 20, "steps": 10, "work_group_size": 512}
TURNS: Final = {"n": 1 << 19, "steps": 3, "device_steps": 20, "work_group_size": 256}
#: Chapter, pattern, parameters, baseline, variants: a program in C++ has the name of its variant.
CASES: Final[list[tuple[str, str, Mapping[str, int], str, tuple[str, ...]]]] = [
    (
        *("queues", "redundant_queue_construction", QUEUES, "queue_each_step"),
        ("one_queue", "queue_each_step_shared_context"),
    ),
    ("memory", "allocation_in_loop", {"n": 25, "steps": 1000}, "buffer_every_step", ("buffer_once",)),
    *(
        (
            "memory",
            "usm_vs_buffers",
            {**TURNS, "stride": stride},
            "shared_memory",
            ("device_memory", "buffer_by_reference"),
        )
        for stride in (1, 1000, 200_000)
    ),
]
#: For each side the baseline's time, and the speed-up with its interval.
HEADINGS: Final = ("pattern", "at", "variant", "over", "C++", "", "", "Python", "", "")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--device", default="cpu", show_default=True, help="Filter string of the SYCL device.")
@click.option(
    "--rounds", default=30, show_default=True, help="Number of rounds, each of which runs every program once."
)
def main(device: str, rounds: int) -> None:
    """Print the speed-ups of both as a table; a few minutes."""
    session = Session.on(device)
    session.records_direct_calls = False
    with tempfile.TemporaryDirectory() as folder:
        library = _library(Path(folder, "beside.so"))
    library.prepare.restype = ctypes.c_void_p
    programs = ctypes.c_void_p(library.prepare(ctypes.c_void_p(session.queue.addressof_ref())))
    rows = []
    for chapter, name, parameters, baseline, variants in CASES:
        sides = {}
        for variant in (baseline, *variants):
            sides["C++", variant] = _in_cpp(getattr(library, variant), programs, parameters)
            sides["Python", variant] = _in_python(session, f"{chapter}/{name}.py", name, variant, parameters)
        times = _interleaved(sides, rounds)
        at = f"stride {parameters['stride']}" if "stride" in parameters else f"{parameters['steps']} steps"
        for variant in variants:
            cells = []
            for side in ("C++", "Python"):
                ratio = speedup(times[side, baseline], times[side, variant])
                of_baseline = f"{np.median(times[side, baseline]) / 1e6:.2f} ms"
                cells += [of_baseline, f"{ratio.estimate:.2f}x", f"{ratio.low:.2f} to {ratio.high:.2f}"]
            rows.append((f"`{name}`", at, f"`{variant}`", f"`{baseline}`", *cells))
    versions = ", ".join(f"{package} {installed_version(package)}" for package in ("intel-sycl-rt", "dpctl"))
    click.echo(f"{date.today()}, {session.device.name}, {versions}, {rounds} interleaved rounds\n")
    click.echo("\n".join(table(HEADINGS, rows, right=range(4, len(HEADINGS)))))


def _library(path: Path) -> ctypes.CDLL:
    if missing := sycl_headers.obstacle():
        raise XebenchError(f"the programs in C++ need {missing}")
    sycl = libraries.sycl_library()
    assert sycl is not None
    options = ["-std=c++17", "-O2", "-shared", "-fPIC", f"-I{sycl_headers.headers()}"]
    linked = [f"-L{sycl.parent}", f"-l:{sycl.name}"]
    subprocess.run([sycl_headers.compiler() or "", *options, str(SOURCE), "-o", str(path), *linked], check=True)
    return ctypes.CDLL(str(path))


def _in_cpp(program: Any, programs: ctypes.c_void_p, parameters: Mapping[str, int]) -> Callable[[], float]:
    program.restype = ctypes.c_double

    def timed() -> float:
        taken: float = program(programs, parameters["n"], parameters["steps"], parameters.get("stride", 1))
        if taken < 0:
            raise XebenchError(f"{program.__name__} in C++ computes wrong results")
        return taken

    return timed


def _in_python(
    session: Session, file: str, name: str, variant: str, parameters: Mapping[str, int]
) -> Callable[[], float]:
    pattern = find_pattern(str(BENCHMARKS / file), name)
    binding = Binding(make_problem(pattern, parameters, 0), parameters, DeviceMemory(session.queue))
    binding.reset()
    sample = start(pattern.variants[variant].function, session, binding.bound, parameters)

    def timed() -> float:
        binding.reset()
        return float(session.measure(sample).host_ns)

    return timed


def _interleaved(sides: Mapping[Any, Callable[[], float]], rounds: int) -> dict[Any, list[float]]:
    times: dict[Any, list[float]] = {side: [] for side in sides}
    for number in range(rounds + 1):
        for side, timed in sides.items():
            taken = timed()
            if number:  # the first round builds
                times[side].append(taken)
    return times


if __name__ == "__main__":
    run_program(main, "python -m tools.studies.beside_cpp")
