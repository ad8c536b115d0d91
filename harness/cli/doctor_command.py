"""The command ``xebench doctor``."""

from __future__ import annotations

import sys

import click

from harness.cli.options import JSON, show


@click.command()
@JSON
def doctor(as_json: bool) -> None:
    """What runs here, what is missing, and which package brings it. Exit status 3 when no device is usable."""
    from harness.doctor.examination import examine
    from harness.report import doctor_text as view

    report = examine()
    show(view.as_json(report) if as_json else view.as_text(report))
    sys.exit(0 if report.usable else 3)
