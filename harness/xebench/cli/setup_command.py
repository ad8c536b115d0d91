"""The command ``xebench setup``."""

from __future__ import annotations

import click

from xebench.cli.output import say


@click.command()
@click.option("--kernels", is_flag=True, required=True, help="The pinned stack: numba-dpex 0.23 and what fits it.")
def setup(kernels: bool) -> None:
    """Install what plain pip cannot into this virtual environment: --kernels, to compile kernels on Python 3.11."""
    from xebench.measuring.doctor.setup import install_pinned

    install_pinned(say)
