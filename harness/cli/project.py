"""The command ``xebench project``; heavy rooms are imported when it runs."""

from __future__ import annotations

from typing import Any

import click

from harness.cli.options import JSON, OCLOC, PATHS, show
from harness.errors import XebenchError


@click.command("project")
@click.argument("names", nargs=-1)
@click.option("--gpu", required=True, help="A GPU such as pvc, a770, tgllp, b580, or a file that describes one.")
@click.option("--eus", type=int, help="Vector engines of the device, where it has fewer than the whole GPU.")
@click.option("--preset", default="default", show_default=True, help="Problem sizes: smoke, default or guide.")
@OCLOC
@PATHS
@JSON
def project(names: tuple[str, ...], gpu: str, eus: int | None, as_json: bool, **given: Any) -> None:
    """The shortest time that a GPU's roofs allow each case, without that GPU. A model: nothing is measured.

    NAMES as in 'list', all when there are none. Every variant runs once on the device here, to see what it launches.
    """
    from harness.cli.isa import collect_plan, plan_of, say
    from harness.gpu_model.gpus import find_gpu
    from harness.isa.compile_cache import CompileCache
    from harness.isa.kernel_occupancy import occupancies
    from harness.isa.ocloc import find_compiler
    from harness.isa.roof_projection import project as project_plan
    from harness.report import projection_text as view

    parameters = find_gpu(gpu, eus)
    compiler = find_compiler(given["ocloc"])
    say(compiler.label)
    plan = plan_of(names, given["paths"], given["preset"])
    collected = collect_plan(plan)
    kernels = occupancies(collected.launches, parameters, compiler, CompileCache())
    projections = list(project_plan(plan, collected.work, kernels, parameters))
    show(view.as_json(projections, parameters) if as_json else view.as_text(projections, parameters))
    if all(one.bound.time_ns is None for one in projections):
        raise XebenchError(
            f"no case has a bound: neither bandwidth nor clock of {parameters.product.name} is known, or the patterns "
            "state no work: name another product, or a file that describes the GPU"
        )
