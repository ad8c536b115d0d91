"""The command ``xebench devices``."""

from __future__ import annotations

import sys

import click

from harness.cli.options import JSON, show


@click.command()
@JSON
def devices(as_json: bool) -> None:
    """The SYCL devices here."""
    from harness import runtime
    from harness.report import devices_text as view

    runtime.load()
    rows = [device.to_row() for device in runtime.list_devices()]
    show(view.as_json(rows) if as_json else view.as_text(rows))
    sys.exit(0 if rows else 3)
