"""The command ``xebench devices``."""

from __future__ import annotations

import sys

import click

from harness.cli.options import JSON
from harness.cli.output import show_view


@click.command()
@JSON
def devices(as_json: bool) -> None:
    """The SYCL devices here."""
    from harness import runtime
    from harness.report import devices_text

    runtime.load()
    rows = [device.to_row() for device in runtime.list_devices()]
    show_view(devices_text, as_json, rows)
    sys.exit(0 if rows else 3)
