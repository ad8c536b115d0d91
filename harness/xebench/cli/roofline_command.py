"""The command ``xebench roofline``."""

from __future__ import annotations

import sys

import click

from xebench.cli import completion
from xebench.cli.options import DEVICE, table_forms
from xebench.cli.output import show_view


@click.command()
@click.argument("probes", nargs=-1, shell_complete=completion.probes)
@DEVICE
@click.option("--refresh", is_flag=True, help="Measure again, and replace the kept results of this device and driver.")
@click.option("--quick", is_flag=True, help="A quick measurement, which is not kept.")
@table_forms
def roofline(probes: tuple[str, ...], device: str, refresh: bool, quick: bool, form: str) -> None:
    """Measure what the device can reach: bandwidths, rates, latencies. Exit status 1 when a probe was wrong or crashed.

    PROBES are measured alone, and not kept: names as in --json, such as fp32; all when there are none.
    """
    from xebench.measuring.roofline.measure import measure_roofline
    from xebench.report import roofline_text
    from xebench.report.progress import ProgressLine
    from xebench.system import runtime

    with ProgressLine(sys.stderr) as progress:
        selection = runtime.select_device(device)
        if selection.notice:
            progress.say(selection.notice)
        measured = measure_roofline(selection.device, names=probes, quick=quick, refresh=refresh, say=progress.say)
    show_view(roofline_text, form, measured)
    sys.exit(1 if measured.failed else 0)
