"""The command ``xebench roofline``."""

from __future__ import annotations

import sys

import click

from harness.cli.options import JSON, show


@click.command()
@click.option("--device", default="auto", show_default=True, help="auto, gpu, cpu, or a SYCL filter string.")
@click.option("--refresh", is_flag=True, help="Measure again what was kept of this device and driver.")
@click.option("--quick", is_flag=True, help="A look of some seconds, which is not kept.")
@JSON
def roofline(device: str, refresh: bool, quick: bool, as_json: bool) -> None:
    """What the device can reach: bandwidths, rates and latencies. Exit status 1 when a probe was wrong or crashed."""
    from harness import runtime
    from harness.report import roofline_text as view
    from harness.report.progress import progress_for
    from harness.roofline.measure import measure_roofline

    with progress_for(sys.stderr) as progress:
        selection = runtime.select_device(device)
        if selection.notice:
            progress.say(selection.notice)
        measured = measure_roofline(selection.device, quick=quick, refresh=refresh, say=progress.say)
    show(view.as_json(measured) if as_json else view.as_text(measured))
    sys.exit(1 if measured.failed else 0)
