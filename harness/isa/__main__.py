"""``python -m harness.isa``: the command ``xebench isa``."""

import sys

import click

from harness.errors import XebenchError
from harness.isa.command import isa

if __name__ == "__main__":
    try:
        isa(prog_name="xebench isa")
    except XebenchError as error:
        click.echo(f"xebench: {error}", err=True)
        sys.exit(error.exit_code)
