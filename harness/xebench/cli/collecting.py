"""The parts that commands on generated code share: the user's names, and their kernels. Heavy rooms are imported when
used.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from xebench.cli import completion
from xebench.cli.output import say

if TYPE_CHECKING:
    from xebench.isa.collect import Collected
    from xebench.patterns.declaration import PatternInfo
    from xebench.patterns.plan import Family
    from xebench.system.gpu_model.gpus import GpuParameters


#: Where there is no terminal.
_SAID_EVERY_S: Final = 10.0


def split_words(value: str) -> tuple[str, ...]:
    """Words with commas between."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def gpus_option(**more: Any) -> Callable[[Any], Any]:
    """``--gpu`` of several GPUs, by its default or as one that must be given."""
    return click.option(
        "--gpu",
        "gpus",
        callback=_gpus,
        shell_complete=completion.gpus,
        help="pvc, dg2, tgllp, bmg, ..., or a file that describes one.",
        **more,
    )


def _gpus(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str | GpuParameters, ...]:
    """The GPUs, none twice: known facts of names, aliases, products and files; other names as ocloc may have them."""
    from xebench.system.gpu_model.gpus import GpuError, find_gpu

    found: dict[str, str | GpuParameters] = {}
    for name in split_words(value):
        try:
            gpu = find_gpu(name)
            found.setdefault(gpu.code, gpu)
        except GpuError:
            if Path(name).suffix in (".json", ".toml"):
                raise
            found.setdefault(name, name)
    if not found:
        raise click.BadParameter("name a GPU, such as pvc")
    return tuple(found.values())


def plan_for(
    names: Sequence[str], paths: Sequence[Path], preset: str, gpus: Sequence[str | GpuParameters] = ()
) -> list[Family]:
    """A plan of the patterns that a user names, made before the compiler is looked for: a wrong name ends at once.

    Args:
        names: patterns, chapters or catalogue ids; all patterns when there are none.
        paths: pattern files beside the built-in ones.
        preset: of the problem sizes.
        gpus: that are meant: what follows the device is what all of them offer of which that is known.
    """
    from xebench.patterns.registry import discover, select

    return _plan(select(discover(paths), names), preset, gpus)


def plan_of_files(files: Sequence[Path], preset: str, gpus: Sequence[str | GpuParameters]) -> list[Family]:
    """The plan of all patterns of a user's files."""
    from xebench.patterns.reading import read
    from xebench.patterns.registry import pattern_file

    return _plan(read([*map(pattern_file, files)]), preset, gpus)


def _plan(patterns: Sequence[PatternInfo], preset: str, gpus: Sequence[str | GpuParameters]) -> list[Family]:
    from xebench.patterns.plan import build_plan
    from xebench.vocabulary import DeviceClass

    known = [set(gpu.sub_group_sizes) for gpu in gpus if not isinstance(gpu, str)]
    offered = set.intersection(*known) if known else ()
    # the code of a kernel is the same at a preset's further sizes
    plan = [family for family in build_plan(patterns, preset) if family.at_preset]
    return [family.on(DeviceClass.GPU, sorted(offered)) for family in plan]


def collect_with_progress(plan: Sequence[Family]) -> Collected:
    """The kernels of a plan; a line announces each pattern as it begins."""
    from xebench.isa.collect import collect

    with progress(f"collecting the kernels of {len({family.pattern.name for family in plan})} patterns") as begins:
        return collect(plan, begins=begins)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, str], None]]:
    """Show the progress: a live line in a terminal, otherwise a line every few seconds.

    Gives the function to call when a part begins, with the number of all parts and its name, from any thread.
    """
    from xebench.report.progress import ProgressLine

    begun, said_s, lock = 0, time.monotonic(), threading.Lock()
    say(what)

    def begins(total: int, name: str) -> None:
        nonlocal begun, said_s
        with lock:
            begun += 1
            line.family(begun - 1, total, name)
            if not sys.stderr.isatty() and time.monotonic() - said_s > _SAID_EVERY_S:
                said_s = time.monotonic()
                say(f"{begun} of {total}: {name}")

    with ProgressLine(sys.stderr) as line:
        yield begins
