"""The command ``xebench project``; heavy rooms are imported when it runs."""

from __future__ import annotations

from typing import Any

import click

from xebench.cli import completion
from xebench.cli.collecting import collect_with_progress, plan_for, progress
from xebench.cli.options import EUS, NAMES, OCLOC, PATHS, preset_option, table_forms
from xebench.cli.output import say, show_view
from xebench.errors import XebenchError


@click.command("project")
@NAMES
@click.option(
    "--gpu",
    required=True,
    shell_complete=completion.gpus,
    help="A GPU such as pvc, a770, tgllp, b580, or a file that describes one.",
)
@EUS
@preset_option("default")
@OCLOC
@PATHS
@table_forms
def project(names: tuple[str, ...], gpu: str, eus: int | None, form: str, **given: Any) -> None:
    """Compute the shortest time that a GPU's roofs allow each case, without that GPU. Nothing is measured.

    NAMES as in 'list', all when there are none. Every variant runs once on the device here, to see what it launches.
    """
    from xebench.isa.compile_cache import CompileCache
    from xebench.isa.kernel_occupancy import occupancies
    from xebench.isa.ocloc import find_compiler
    from xebench.isa.roof_projection import project as project_plan
    from xebench.report import projection_text
    from xebench.system.gpu_model.gpus import find_gpu

    parameters = find_gpu(gpu, eus)
    plan = plan_for(names, given["paths"], given["preset"], [parameters])
    compiler = find_compiler(given["ocloc"])
    say(compiler.label)
    kernels = collect_with_progress(plan)
    with progress("compiling them") as begins:
        launches = occupancies(kernels.launches, parameters, compiler, CompileCache(), begins)
    projections = list(project_plan(plan, kernels.work, launches, parameters))
    show_view(projection_text, form, projections, parameters)
    if all(projection.bound.time_ns is None for projection in projections):
        raise XebenchError(
            f"no case has a bound: neither bandwidth nor clock of {parameters.product.name} is known, or the patterns "
            "state no work: name another product, or a file that describes the GPU"
        )
