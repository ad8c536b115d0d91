"""Our variants beside programs in C++: ``python -m tools.studies.beside_cpp``.

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
from tools.studies.beside_cpp.cases import CASES, Case, is_far  # noqa: E402
from xebench.measuring.bound_problem import Binding  # noqa: E402
from xebench.measuring.place import start  # noqa: E402
from xebench.measuring.prepare import find_pattern, make_problem  # noqa: E402
from xebench.patterns.registry import BENCHMARKS  # noqa: E402
from xebench.report.table_forms import table  # noqa: E402
from xebench.results.analysis.intervals import Interval, log_ratios, speedup  # noqa: E402
from xebench.session.device_memory import DeviceMemory  # noqa: E402
from xebench.session.session import Session  # noqa: E402
from xebench.system.runtime import sycl_headers  # noqa: E402

FOLDER: Final = Path(__file__).parent
PATTERNS: Final = tuple(dict.fromkeys(case.pattern for case in CASES))
#: For each side the baseline's time, and the speed-up with its interval.
HEADINGS: Final = ("pattern", "at", "variant", "over", "C++", "", "", "Python", "", "", "far apart")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("patterns", nargs=-1, type=click.Choice(PATTERNS))
@click.option("--device", default="cpu", show_default=True, help="Filter string of the SYCL device.")
@click.option(
    "--rounds", default=30, show_default=True, help="Number of rounds, each of which runs every program once."
)
def main(patterns: tuple[str, ...], device: str, rounds: int) -> None:
    """Print the speed-ups of both as a table; a minute for each of PATTERNS (by default all)."""
    session = Session.on(device)
    session.records_direct_calls = False
    wanted = [case for case in CASES if case.pattern in (patterns or PATTERNS)]
    programs = {source: _programs(source, session) for source in dict.fromkeys(case.source for case in wanted)}
    rows = [row for case in wanted for row in _rows(case, session, programs[case.source], rounds)]
    versions = ", ".join(f"{package} {installed_version(package)}" for package in ("intel-sycl-rt", "dpctl"))
    click.echo(f"{date.today()}, {session.device.name}, {versions}, {rounds} interleaved rounds\n")
    click.echo("\n".join(table(HEADINGS, rows, right=range(4, len(HEADINGS) - 1))))


#: Makes a function that times the program of a name.
Programs = Callable[[str, tuple[int, ...]], Callable[[], float]]


def _rows(case: Case, session: Session, programs: Programs, rounds: int) -> list[tuple[str, ...]]:
    sides: dict[tuple[str, str], Callable[[], float]] = {}
    for variant in (case.baseline, *case.variants):
        given = tuple(case.parameters[name] for name in case.given)
        sides["C++", variant] = programs(f"{case.pattern}_{variant}", given)
        sides["Python", variant] = _in_python(session, case, variant)
    times = _interleaved(sides, rounds)
    at = ", ".join(f"{name} {case.parameters[name]}" for name in case.given)
    return [_row(case, at, variant, times) for variant in case.variants]


def _row(case: Case, at: str, variant: str, times: Mapping[tuple[str, str], list[float]]) -> tuple[str, ...]:
    ratios: list[Interval] = []
    cells: list[str] = []
    for side in ("C++", "Python"):
        ratio = speedup([log_ratios(times[side, case.baseline], times[side, variant])])
        of_baseline = f"{np.median(times[side, case.baseline]) / 1e6:.2f} ms"
        cells += [of_baseline, f"{ratio.estimate:.2f}x", f"{ratio.low:.2f} to {ratio.high:.2f}"]
        ratios.append(ratio)
    return f"`{case.pattern}`", at, f"`{variant}`", f"`{case.baseline}`", *cells, "yes" if is_far(*ratios) else ""


def _programs(source: str, session: Session) -> Programs:
    if missing := sycl_headers.obstacle():
        raise XebenchError(f"the programs in C++ need {missing}")
    sycl = libraries.sycl_library()
    assert sycl is not None
    options = ["-std=c++17", "-O2", "-shared", "-fPIC", f"-I{sycl_headers.headers()}"]
    linked = [f"-L{sycl.parent}", f"-l:{sycl.name}"]
    with tempfile.TemporaryDirectory() as folder:
        made = str(Path(folder, f"{source}.so"))
        text = str(FOLDER / f"{source}.cpp")
        subprocess.run([sycl_headers.compiler() or "", *options, text, "-o", made, *linked], check=True)
        library = ctypes.CDLL(made)
    library.prepare.restype = ctypes.c_void_p
    prepared = ctypes.c_void_p(library.prepare(ctypes.c_void_p(session.queue.addressof_ref())))

    def program(name: str, given: tuple[int, ...]) -> Callable[[], float]:
        function = getattr(library, name)
        function.restype = ctypes.c_double

        def timed() -> float:
            taken: float = function(prepared, *given, *(0,) * (3 - len(given)))
            if taken < 0:
                raise XebenchError(f"{name} in C++ computes wrong results")
            return taken

        return timed

    return program


def _in_python(session: Session, case: Case, variant: str) -> Callable[[], float]:
    pattern = find_pattern(str(BENCHMARKS / case.chapter / f"{case.pattern}.py"), case.pattern)
    binding = Binding(make_problem(pattern, case.parameters, 0), case.parameters, DeviceMemory(session.queue))
    binding.reset()
    sample = start(pattern.variants[variant].function, session, binding.bound, case.parameters)

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
