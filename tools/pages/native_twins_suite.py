"""What the cures of the compiler save in the whole suite, kept for docs/native-twins.md.

``python -m tools.pages.native_twins_suite [--ocloc PATH]...``, on the pinned stack. Every kernel in Python that the
suite launches at smoke is compiled three times: without the cures, with those of every launch, and with indices in 32
bits. Each pattern has a process of its own, since a driver may end it, and numba-dpex is changed in it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp, log
from multiprocessing.connection import Connection
from statistics import fmean
from types import SimpleNamespace
from typing import Any, Final

import click

from tools.pages import generated_code
from tools.pages.native_twins import COLUMNS, LANES, SUITE
from xebench.cli.gpu_commands import plan_for
from xebench.cli.output import run_program, say
from xebench.isa.collect import CollectFamily, KernelLaunch
from xebench.isa.compilation import CompileCache, Compiler
from xebench.isa.ocloc import find_compiler
from xebench.isa.table import compile_launches, row, targets
from xebench.patterns.plan import Family
from xebench.system import runtime
from xebench.vocabulary import DeviceClass

#: How a kernel is compiled, the first without any cure.
WAYS: Final = ("plain", "exact", "narrow")
#: Without a kernel, after which a pattern has no more.
TIMEOUT_S: Final = 60


def collected(way: str, families: Sequence[Family]) -> dict[tuple[str, ...], KernelLaunch]:
    """The kernels that these families launch, by what is the same in every way."""
    found: dict[tuple[str, ...], KernelLaunch] = {}
    for family in families:
        receiver, sender = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(target=_collect, args=(way, family, sender))
        child.start()
        sender.close()
        for launch in _received(receiver):
            place = (launch.pattern, launch.kernel, launch.axes, *launch.build_options, str(launch.local_bytes))
            found.setdefault(place, launch)
        child.kill()
        child.join()
    return found


def _received(receiver: Connection) -> Iterator[KernelLaunch]:
    while receiver.poll(TIMEOUT_S):
        try:
            launch = receiver.recv()
        except EOFError:  # the driver ended the process
            return
        if launch is None:
            return
        yield launch


def _collect(way: str, family: Family, sender: Connection) -> None:
    from xebench.isa import collect_worker

    os.environ["XEBENCH_NARROW"] = "gpu" if way == "narrow" else "off"
    _without_cache()
    if way == "plain":
        _without_cures()

    def send(note: Any) -> None:
        for launch in note.collected.launches:
            if launch.language == "spirv" and not launch.sized_here:
                sender.send(launch)

    parent: Any = SimpleNamespace(activity=SimpleNamespace(show=lambda *_: None), answers=SimpleNamespace(send=send))
    collect = collect_worker.prepare("opencl:cpu:0", parent)
    collect(
        CollectFamily(
            source=family.pattern.source,
            pattern=family.pattern.name,
            chapter=family.pattern.chapter,
            parameters=family.parameters,
            axes_json=family.axes_json(),
            variants=[variant.name for variant in family.pattern.variants],
        )
    )
    sender.send(None)  # this process may not end by itself: it is one of two that share a driver


def _without_cache() -> None:
    from xebench.dpex import kernel_store

    stores: Any = kernel_store
    stores.SpirvCache = lambda: None


def _without_cures() -> None:
    """Numba's own ``range`` and ``//``, nothing stated of a launch, and all fences."""
    from numba.core.base import BaseContext
    from numba_dpex.kernel_api_impl.spirv.target import SPIRVTargetContext

    from xebench.dpex import llvm_text, numba_compiler

    SPIRVTargetContext.refresh = BaseContext.refresh
    texts: Any = llvm_text
    hooks: Any = numba_compiler
    texts.state_launch = lambda text, kernel, facts: text
    texts.without_freezes = lambda text: text
    hooks.settled_module = lambda text, kernel, signature: ""
    hooks.narrow_module = lambda text, kernel, signature: ("", 0)


def means(instructions: Mapping[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    """For each GPU, how many kernels there are, and the geometric mean of each cured way over the plain one."""
    return {
        gpu: {"kernels": len(counts)}
        | {way: exp(fmean(log(count[way] / count["plain"]) for count in counts)) for way in WAYS[1:]}
        for gpu, counts in instructions.items()
    }


def counted(
    launched: Mapping[str, Mapping[tuple[str, ...], KernelLaunch]],
    places: Sequence[tuple[str, ...]],
    compiler: Compiler,
) -> dict[str, list[dict[str, float]]]:
    """For each GPU, the instructions of each kernel that it can have, by the way in which it was compiled."""
    gpus = [gpu for name, gpu in COLUMNS if name == generated_code.name({"igc": compiler.igc})]
    counts: dict[str, dict[str, dict[str, float]]] = {}
    for way, launches in launched.items():
        # a variant's name tells the places apart
        plan = [replace(launches[place], variant=str(number)) for number, place in enumerate(places)]
        for kernel in compile_launches(plan, targets(gpus), compiler, CompileCache()):
            values = row(kernel)
            if values["status"] == "ok":
                count = float(str(values["instructions"])) * LANES / float(str(values["simd_width"]))
                counts.setdefault(str(values["gpu"]), {}).setdefault(str(values["variant"]), {})[way] = count
    return {gpu: [one for one in of_gpu.values() if len(one) == len(WAYS)] for gpu, of_gpu in counts.items()}


@click.command()
@click.option("--ocloc", "programs", multiple=True, default=("ocloc",), help="Intel's offline compiler, or several.")
def main(programs: Sequence[str]) -> None:
    """Compile the whole suite three times, and keep the means."""
    compilers = [find_compiler(program) for program in programs]
    runtime.load()
    import xebench.dpex  # noqa: F401  (loaded once, before the processes)

    families = [family.on(DeviceClass.GPU) for family in plan_for((), (), "smoke")]
    launched = {way: collected(way, families) for way in WAYS}
    places = [place for place in launched["plain"] if all(place in launched[way] for way in WAYS)]
    say(f"{len(places)} kernels")
    kept = json.loads(SUITE.read_text(encoding="utf-8")) if SUITE.is_file() else {}
    for compiler in compilers:
        say(compiler.label)
        kept[compiler.igc] = means(counted(launched, places, compiler))
        SUITE.write_text(json.dumps(kept) + "\n", encoding="utf-8")
        say(f"{kept[compiler.igc]}, kept in {SUITE}")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.native_twins_suite")
