#!/usr/bin/env python3
"""Hold `xebench roofline` beside probes in OpenCL C and clpeak, on one device and in one run.

    .venv/bin/python tools/roofline_vs_clpeak.py --rounds 8

Each round runs all three, in another order each time, so that what others do to the machine hits all sides alike, and
waits for a quiet moment before each of them.
The outcome is written to results/studies/roofline/ as JSON and Markdown. The probes in OpenCL C are written here and
built by ``dpctl.program`` (OpenCL devices only), so that neither numba-dpex nor our forms have a part in them: reading,
copying, BabelStream's triad, and chains of fp32 multiply-adds. clpeak is Debian's package ``clpeak``; it is shown the
CPU driver of this environment, and left out where it is not installed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from xebench.dpex import DeviceEvent
from xebench.results.provenance import now
from xebench.roofs.bench import Bench
from xebench.roofs.core_probes import Arithmetic
from xebench.roofs.measure import ask_probes
from xebench.roofs.memory_probes import GlobalMemory
from xebench.roofs.search import Form, WrongResult
from xebench.session.session import Session
from xebench.system import runtime
from xebench.system.runtime.libraries import CPU_DRIVER_LIBRARY, find_library

ALLOWED = 0.95  # of the best of the others
QUIET_PERCENT = 5.0
QUIET_LIMIT_S = 30
OPENCL_BANDWIDTHS = ("read", "copy", "triad")
BANDWIDTH_PROBES = ("stream_copy", "stream_triad", "read", "write")
CLPEAK_SECTIONS = {"bandwidth": "Global memory bandwidth", "fp32": "Single-precision compute"}

Numbers = dict[str, float]

#: The kernels in OpenCL C; T is float or a vector of floats.
SOURCE = """
__kernel void copy(__global T *a, __global const T *b)
{
    a[get_global_id(0)] = b[get_global_id(0)];
}
__kernel void triad(__global T *a, __global const T *b, __global const T *c)
{
    const size_t i = get_global_id(0);
    a[i] = b[i] + 0.4f * c[i];
}
__kernel void read(__global T *a, __global const T *b)
{
    size_t i = get_group_id(0) * get_local_size(0) * READS + get_local_id(0);
    T sum = 0;
    for (int k = 0; k < READS; ++k, i += get_local_size(0)) sum += b[i];
    a[get_global_id(0)] = sum;
}
__kernel void fp32(__global T *a, __global const T *b, const float factor)
{
    const T start = b[get_global_id(0)];
    T x[CHAINS];
    for (int k = 0; k < CHAINS; ++k) x[k] = start * (k + 1);
    for (int step = 0; step < STEPS; ++step)
        for (int k = 0; k < CHAINS; ++k) x[k] = mad(x[k], (T)factor, start);
    T sum = 0;
    for (int k = 0; k < CHAINS; ++k) sum += x[k];
    a[get_global_id(0)] = sum;
}
"""
ELEMENTS = 1 << 25  # BabelStream's own size
READS = 16
CHAINS = 8
STEPS = 512
ITEMS_PER_UNIT = 1 << 14
GROUPS = (16, 64, 256, 1024)
WIDTHS = (1, 4)
SCREENING = 4
FINALISTS = 2
RUNS = 100  # BabelStream's own number

#: Our probe for each kernel.
PROBES = {"copy": "stream_copy", "triad": "stream_triad", "read": "read", "fp32": "fp32"}


class OpenCL:
    """The kernels of the source on one device, timed by the same events as ours."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._a, self._b, self._c = (self._filled(value) for value in (0, 1, 2))

    def _filled(self, value: float) -> Any:
        array = self._bench.session.alloc(ELEMENTS, np.float32)
        self._bench.write(array, value)
        return array

    def forms(self, name: str) -> Iterator[Form]:
        """A kernel with each width and work-group."""
        from dpctl.program import create_program_from_source  # once the runtime is loaded

        for width in WIDTHS:
            floats = "float" if width == 1 else f"float{width}"
            options = f"-DT={floats} -DREADS={READS} -DCHAINS={CHAINS} -DSTEPS={STEPS} -cl-fast-relaxed-math"
            program = create_program_from_source(self._bench.session.queue, SOURCE, options)
            kernel = program.get_sycl_kernel(name)
            for group in GROUPS:
                if group <= self._bench.device.max_work_group_size:
                    yield self._form(name, kernel, width, group)

    def _form(self, name: str, kernel: Any, width: int, group: int) -> Form:
        queue, b, c = self._bench.session.queue, self._b.usm_data, self._c.usm_data
        items, amount, wanted = self._work(name, width)
        others = {"triad": [b, c], "fp32": [b, ctypes.c_float(1)]}.get(name, [b])

        def launch() -> DeviceEvent:
            return DeviceEvent(queue.submit(kernel, [self._a.usm_data, *others], [items], [group]))

        def run() -> float:
            _, start_ns, end_ns = launch().times()
            return end_ns - start_ns

        def verify() -> None:
            self._bench.write(self._a, -1)
            launch().wait()
            if not np.allclose(self._bench.memory.read(self._a[: items * width]), wanted):
                raise WrongResult(f"{name} in OpenCL C is wrong")

        return Form({"work-group": group, "width": width}, amount, run, verify)

    def _work(self, name: str, width: int) -> tuple[int, float, float]:
        """Work-items, bytes or operations, and what every element of the output must be."""
        if name == "read":
            return ELEMENTS // width // READS, 4 * ELEMENTS, READS
        if name == "fp32":
            items = ITEMS_PER_UNIT * self._bench.compute_units
            return items, 2 * items * width * CHAINS * STEPS, CHAINS * (CHAINS + 1) / 2 + CHAINS * STEPS
        copies = name == "copy"
        return ELEMENTS // width, (8 if copies else 12) * ELEMENTS, 1 if copies else 1.8


def in_turn(sides: dict[str, list[Form]]) -> Numbers:
    """The fastest launch of each side, and the median of its best form, in GB/s or GFLOP/s."""
    times: dict[Form, list[float]] = {form: [] for forms in sides.values() for form in forms}
    for form in times:
        form.verify()

    def sample(count: int) -> None:
        for _ in range(count):
            for form in random.sample([*times], len(times)):
                times[form].append(form.run())

    def fastest(side: str) -> list[Form]:
        return sorted(sides[side], key=lambda form: min(times[form]) / form.amount)[:FINALISTS]

    sample(SCREENING)
    sides = {side: fastest(side) for side in sides}
    times = {form: times[form] for forms in sides.values() for form in forms}
    sample(RUNS)
    numbers = {}
    for side in sides:
        best, *_ = fastest(side)
        numbers[side] = best.amount / min(times[best])
        numbers[f"{side} median"] = best.amount / statistics.median(filter(math.isfinite, times[best]))
    return numbers


def opencl_in_turn(device: str) -> dict[str, Numbers]:
    """Our kernels and those in OpenCL C, launch by launch in turn."""
    bench = Bench(Session.on(device))
    opencl, memory, rates = OpenCL(bench), GlobalMemory(bench), Arithmetic(bench)
    groups = {name: rates if name == "fp32" else memory for name in PROBES}
    return {
        name: in_turn({"xebench": list(groups[name].forms(probe)), "opencl": list(opencl.forms(name))})
        for name, probe in PROBES.items()
    }


def xebench_round(device: runtime.DeviceInfo) -> Numbers:
    """Fastest sample of each probe, and its median."""
    numbers: Numbers = {}
    for result in ask_probes(device.device, [*BANDWIDTH_PROBES, "fp32"], "patient"):
        if result.value is None or result.median is None:
            raise SystemExit(f"xebench: {result.probe}: {result.reason}")
        numbers |= {result.probe: result.value, f"{result.probe} median": result.median}
    return numbers


def opencl_round(device: runtime.DeviceInfo) -> Numbers:
    """`opencl_in_turn` in a process of its own, as each group of our probes has one."""
    command = [sys.executable, __file__, "--opencl-of", device.device]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    found: dict[str, Numbers] = json.loads(done.stdout)
    return {f"{name} {side}": value for name, sides in found.items() for side, value in sides.items()}


def clpeak_round(device: runtime.DeviceInfo) -> Numbers:
    """The best vector width of clpeak for bandwidth and fp32; it prints means over its launches."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        driver = find_library(CPU_DRIVER_LIBRARY)
        if device.device_class == "cpu" and driver is not None:
            (Path(folder) / "cpu.icd").write_text(f"{driver}\n")
            environment |= {"OCL_ICD_VENDORS": folder, "OCL_ICD_FILENAMES": str(driver)}
        command = ["clpeak", "--use-event-timer", "--global-bandwidth", "--compute-sp"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    widths = parse_clpeak(done.stdout, device.name)
    return {section: max(values.values()) for section, values in widths.items()}


def parse_clpeak(text: str, device: str) -> dict[str, Numbers]:
    """Parse clpeak's output for one device: for each section the number of each vector width.

    Raises:
        SystemExit: the device or a section is not there.
    """
    blocks = {block.partition("\n")[0].strip(): block for block in re.split(r"^ *Device: ", text, flags=re.M)[1:]}
    if device not in blocks:
        raise SystemExit(f"clpeak does not see {device!r}, only {', '.join(blocks) or 'nothing'}")
    numbers = {}
    for section, title in CLPEAK_SECTIONS.items():
        match = re.search(rf"{title}.*\n((?: +float\d* *: *[\d.]+\n?)+)", blocks[device])
        if match is None:
            raise SystemExit(f"clpeak prints no {title!r} of {device!r}")
        numbers[section] = {width: float(value) for width, value in re.findall(r"(float\d*) *: *([\d.]+)", match[1])}
    return numbers


def compare(rounds: list[dict[str, Numbers]]) -> list[dict[str, Any]]:
    """The best of all rounds of each side, for the roofs and like for like; is ours within 5 % of the others' best?"""
    sides = rounds[0]
    best = {side: {name: max(numbers[side][name] for numbers in rounds) for name in sides[side]} for side in sides}
    ours, opencl, clpeak = best["xebench"], best["opencl"], best.get("clpeak", {})
    roof = max(BANDWIDTH_PROBES, key=lambda name: ours[name])
    highest = max(opencl[f"{name} opencl"] for name in OPENCL_BANDWIDTHS)
    return [
        _row("bandwidth roof, GB/s", ours[roof], roof, clpeak.get("bandwidth"), highest),
        *(
            _row(f"{name}, launches in turn, GB/s", opencl[f"{name} xebench"], name, None, opencl[f"{name} opencl"])
            for name in OPENCL_BANDWIDTHS
        ),
        _row("fp32 roof, GFLOP/s", ours["fp32"], "fp32", clpeak.get("fp32"), opencl["fp32 opencl"]),
        _row("fp32, launches in turn, GFLOP/s", opencl["fp32 xebench"], "fp32", None, opencl["fp32 opencl"]),
    ]


def _row(quantity: str, ours: float, probe: str, clpeak: float | None, opencl: float | None) -> dict[str, Any]:
    ratio = ours / max(value for value in (clpeak, opencl) if value is not None)
    sides = {"xebench": ours, "probe": probe, "clpeak": clpeak, "opencl": opencl}
    return {"quantity": quantity, **sides, "ratio": ratio, "holds": ratio >= ALLOWED}


def markdown(outcome: dict[str, Any]) -> str:
    """The outcome as a page."""

    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.1f}"

    device, machine = outcome["device"], outcome["machine"]
    lines = [
        "# Roofs beside probes in OpenCL C and clpeak",
        "",
        f"{device['name']} ({device['device']}, driver {device['driver_version']}), {outcome['utc']}, "
        f"{outcome['clpeak_version']}, {len(outcome['rounds'])} rounds of all in turn; load "
        f"{machine['load_begin']:.1f} to {machine['load_end']:.1f} on {machine['cores']} cores. Best of all rounds:",
        "",
        "| | xebench | by probe | clpeak | OpenCL C | ratio to the best other | at least 0.95 |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in outcome["table"]:
        cells = [
            row["quantity"],
            number(row["xebench"]),
            row["probe"],
            number(row["clpeak"]),
            number(row["opencl"]),
        ]
        lines.append("| " + " | ".join([*cells, f"{row['ratio']:.2f}", "yes" if row["holds"] else "**no**"]) + " |")
    lines += ["", "Each round:", ""]
    lines += ["| | bandwidth roof | OpenCL C | clpeak | fp32 roof | OpenCL C | clpeak |", "|---" * 7 + "|"]
    for index, sides in enumerate(outcome["rounds"], 1):
        ours, clpeak, opencl = sides["xebench"], sides.get("clpeak", {}), sides["opencl"]
        roof = max(ours[name] for name in BANDWIDTH_PROBES)
        highest = max(opencl[f"{name} opencl"] for name in OPENCL_BANDWIDTHS)
        bandwidths, rates = (roof, highest, clpeak.get("bandwidth")), (opencl["fp32 opencl"], clpeak.get("fp32"))
        lines.append(f"| {index} | " + " | ".join(map(number, (*bandwidths, ours["fp32"], *rates))) + " |")
    lines += [
        "",
        "In the rows of launches in turn, both sides take turns launch by launch in one process. xebench and OpenCL C",
        "take their fastest run; clpeak prints the mean of 10 or 20 launches, so load that comes and goes lowers it",
        "more, and the best of several rounds is its fairest number. clpeak's bandwidth is that of reads. Made by",
        "`tools/roofline_vs_clpeak.py`; all numbers are in `comparison.json`.",
    ]
    return "\n".join(lines) + "\n"


def clpeak_version() -> str:
    """The version that clpeak prints."""
    if shutil.which("clpeak") is None:
        return "no clpeak"
    done = subprocess.run(["clpeak", "--version"], capture_output=True, text=True, check=False)
    return " ".join(["clpeak", *re.findall(r"[\d.]+", done.stdout)])


def wait_for_quiet() -> None:
    """Return when the host has been idle for a second, or after a while: short jobs of others disturb no side then."""
    for _ in range(QUIET_LIMIT_S):
        if psutil.cpu_percent(interval=1.0) < QUIET_PERCENT:
            return


def run(device: runtime.DeviceInfo, count: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure ``count`` rounds."""
    sides = {"xebench": xebench_round, "opencl": opencl_round}
    if shutil.which("clpeak") is not None:
        sides["clpeak"] = clpeak_round
    load_begin = os.getloadavg()[0]
    rounds = []
    for index in range(count):
        order = [*sides][index % len(sides) :] + [*sides][: index % len(sides)]
        measured = {}
        for side in order:
            wait_for_quiet()
            measured[side] = sides[side](device)
        numbers = {side: {name: round(value, 1) for name, value in measured[side].items()} for side in sides}
        say(f"round {index + 1} of {count}: {json.dumps(numbers)}")
        rounds.append({side: measured[side] for side in sides})
    return {
        "utc": now(),
        "device": asdict(device),
        "clpeak_version": clpeak_version(),
        "machine": {"cores": os.cpu_count(), "load_begin": load_begin, "load_end": os.getloadavg()[0]},
        "table": compare(rounds),
        "rounds": rounds,
    }


def main() -> int:
    """Compare; exit status 1 when a roof is too low."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="auto, gpu, cpu, or a SYCL filter string of an OpenCL device")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--output", type=Path, default=Path("results/studies/roofline"))
    parser.add_argument(
        "--opencl-of", metavar="DEVICE", help="print the probes in OpenCL C and ours beside them as JSON"
    )
    arguments = parser.parse_args()
    if arguments.opencl_of:
        print(json.dumps(opencl_in_turn(arguments.opencl_of)))
        return 0
    device = runtime.select_device(arguments.device).device
    outcome = run(device, arguments.rounds, lambda text: print(text, file=sys.stderr, flush=True))
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "comparison.json").write_text(json.dumps(outcome, indent=1) + "\n")
    (arguments.output / "README.md").write_text(text := markdown(outcome))
    print(text)
    return 0 if all(row["holds"] for row in outcome["table"]) else 1


if __name__ == "__main__":
    sys.exit(main())
