"""The command ``xebench devices``."""

from __future__ import annotations

import sys

import click

from xebench.cli.options import table_forms
from xebench.cli.output import show_view


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
