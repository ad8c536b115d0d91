"""The command ``xebench doctor``."""

from __future__ import annotations

import sys

import click

from xebench.cli.options import table_forms
from xebench.cli.output import show_view


@click.command()
@table_forms
def doctor(form: str) -> None:
    """Show what runs here, what is missing, and which package brings it. Exit status 3 when no device is usable."""
    from xebench.measuring.doctor.examination import examine
    from xebench.report import doctor_text

    report = examine()
    show_view(doctor_text, form, report)
    sys.exit(0 if report.usable else 3)
