"""Commands on this machine: ``xebench devices``, ``doctor``, ``roofline`` and ``setup``."""

from __future__ import annotations

import sys

import click

from xebench.cli import completion
from xebench.cli.options import DEVICE, table_forms
from xebench.cli.output import say, show_view


@click.command()
@table_forms
def devices(form: str) -> None:
    """List the SYCL devices here."""
    from xebench.report import devices_text
    from xebench.system import runtime

    runtime.load()
    rows = [device.to_row() for device in runtime.list_devices()]
    show_view(devices_text, form, rows)
    sys.exit(0 if rows else 3)


@click.command()
@table_forms
def doctor(form: str) -> None:
    """Show what runs here, what is missing, and which package brings it. Exit status 3 when no device is usable."""
    from xebench.measuring.doctor.examination import examine
    from xebench.report import doctor_text

    report = examine()
    show_view(doctor_text, form, report)
    sys.exit(0 if report.usable else 3)


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


@click.command()
@click.option("--kernels", is_flag=True, required=True, help="The pinned stack: numba-dpex 0.23 and what fits it.")
def setup(kernels: bool) -> None:
    """Install what plain pip cannot into this virtual environment: --kernels, to compile kernels on Python 3.11."""
    from xebench.measuring.doctor.setup import install_pinned

    install_pinned(say)
