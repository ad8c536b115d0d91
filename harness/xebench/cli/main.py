"""The command ``xebench``: its commands, one module each.

Their modules import click and nothing heavy; rooms are imported when a command runs, so that ``--help`` and ``list``
stay instant.
"""

from __future__ import annotations

import click

from xebench import __version__
from xebench.cli.completion_command import completion
from xebench.cli.devices_command import devices
from xebench.cli.doctor_command import doctor
from xebench.cli.isa_command import isa
from xebench.cli.kernels_command import kernels
from xebench.cli.list_command import list_patterns
from xebench.cli.occupancy_command import occupancy
from xebench.cli.output import run_program
from xebench.cli.project_command import project
from xebench.cli.report_command import report
from xebench.cli.roofline_command import roofline
from xebench.cli.run_command import run
from xebench.cli.setup_command import setup
from xebench.cli.trace_command import trace


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="xebench")
def commands() -> None:
    """Does the advice of Intel's oneAPI GPU Optimization Guide hold on this device, and by how much?"""


for _command in (
    doctor,
    devices,
    list_patterns,
    run,
    report,
    trace,
    roofline,
    isa,
    occupancy,
    project,
    kernels,
    setup,
    completion,
):
    commands.add_command(_command)


def main() -> None:
    """Run a command; an error that a user can cause ends in one line and its exit status."""
    run_program(commands, "xebench")
