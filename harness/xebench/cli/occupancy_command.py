"""The command ``xebench occupancy``; heavy rooms are imported when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from xebench.cli import completion
from xebench.cli.collecting import collect_with_progress, plan_for, progress
from xebench.cli.options import EUS, OCLOC, PATHS, preset_option, refuse, table_forms
from xebench.cli.output import say, show_view
from xebench.errors import XebenchError

if TYPE_CHECKING:
    from xebench.system.gpu_model.gpu_parameters import GpuParameters

#: Options that describe a launch by numbers, and so contradict a pattern's own.
_NUMBERS = ("work_group", "sub_group", "slm", "barriers", "global_size", "large_grf", "as_map")


@click.command("occupancy")
@click.option(
    "--gpu",
    shell_complete=completion.gpus,
    help="A GPU such as pvc, dg2, a770, tgllp, bmg, or a file that describes one.  [default: the one present]",
)
@click.option("--work-group", help="Work-items of a work-group: 256, 1K or 16x16.")
@click.option("--sub-group", help="Sub-group size.")
@click.option("--slm", default="0", show_default=True, help="Shared local memory of a work-group: 32K.")
@click.option("--barriers", default=0, show_default=True, help="Barriers that the kernel uses.")
@click.option("--global", "global_size", help="Work-items of the whole launch: 1M or 1024x1024.")
@click.option("--large-grf", is_flag=True, help="The large register file, which halves the threads.")
@EUS
@click.option("--map", "as_map", is_flag=True, help="Show a heat map over work-group size and SLM instead.")
@click.option(
    "--pattern",
    "names",
    multiple=True,
    shell_complete=completion.patterns,
    help="A pattern's launches instead of numbers; may be repeated.",
)
@preset_option("default")
@OCLOC
@PATHS
@table_forms
def occupancy(gpu: str | None, eus: int | None, names: tuple[str, ...], form: str, **given: Any) -> None:
    """Compute how many of a GPU's thread contexts a launch can occupy, and what limits it. Nothing is measured.

    The launch is given by numbers (--work-group and --sub-group at least) or by --pattern.
    """
    if given["as_map"]:
        refuse(("work_group", "slm", "global_size"), "--map shows all sizes of work-groups and SLM")
        if given["sub_group"] is None:
            raise XebenchError("--map is of one sub-group size: give --sub-group")
    if names:
        refuse(_NUMBERS, "--pattern brings its own launch")
        _of_patterns(_gpu(gpu, eus), names, form, given)
    elif given["as_map"]:
        _map(_gpu(gpu, eus), form, given)
    elif given["sub_group"] is None or given["work_group"] is None:
        raise XebenchError("a launch needs --work-group and --sub-group, or a pattern: --pattern NAME")
    else:
        _of_numbers(_gpu(gpu, eus), form, given)


def _gpu(name: str | None, eus: int | None) -> GpuParameters:
    from xebench.system.gpu_model.gpus import find_gpu, gpu_of_device

    if name is not None:
        return find_gpu(name, eus)
    from xebench.system import runtime

    runtime.load()
    device = runtime.select_device().device
    if device.device_class != "gpu":
        raise XebenchError(f"no GPU is present, only {device.name}: name one with --gpu, such as --gpu pvc")
    return gpu_of_device(device.name, eus or device.compute_units)


def _map(gpu: GpuParameters, form: str, given: dict[str, Any]) -> None:
    from xebench.report import heat_map_text
    from xebench.system.gpu_model.occupancy_search import heat_map
    from xebench.system.gpu_model.size_text import parse_size

    size = parse_size(given["sub_group"])
    cells = heat_map(gpu, size, barriers=given["barriers"], large_grf=given["large_grf"])
    show_view(heat_map_text, form, cells, gpu, size, coloured=True)


def _of_numbers(gpu: GpuParameters, form: str, given: dict[str, Any]) -> None:
    from xebench.report import occupancy_text
    from xebench.system.gpu_model.occupancy import occupancy_of, parse_launch

    shape = {name: given[name] for name in ("slm", "barriers", "global_size", "large_grf")}
    launch = parse_launch(given["work_group"], given["sub_group"], **shape)
    show_view(occupancy_text, form, occupancy_of(launch, gpu))


def _of_patterns(gpu: GpuParameters, names: tuple[str, ...], form: str, given: dict[str, Any]) -> None:
    from xebench.isa.compile_cache import CompileCache
    from xebench.isa.kernel_occupancy import occupancies
    from xebench.isa.ocloc import find_compiler
    from xebench.report import launches_text

    plan = plan_for(names, given["paths"], given["preset"], [gpu])
    compiler = find_compiler(given["ocloc"])
    say(f"{compiler.label}, {gpu.product.name} ({gpu.code})")
    kernels = collect_with_progress(plan)
    with progress("compiling them") as begins:
        launches = occupancies(kernels.launches, gpu, compiler, CompileCache(), begins)
    show_view(launches_text, form, launches, kernels.missing, given["preset"])
    if not any(launch.occupancy for launch in launches):
        reason = next((launch.reason for launch in launches), "no selected pattern launches a kernel of its own")
        raise XebenchError(f"not one launch has an occupancy on {gpu.code} ({reason}): choose another GPU or pattern")
