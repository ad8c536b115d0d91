"""The command ``xebench``: its commands, one module each.

Their modules import click and nothing heavy; rooms are imported when a command runs, so that ``--help`` and ``list``
stay instant.
"""

from __future__ import annotations

import click

from harness import __version__
from harness.cli.completion_command import completion
from harness.cli.devices_command import devices
from harness.cli.doctor_command import doctor
from harness.cli.isa_command import isa
from harness.cli.kernels_command import kernels
from harness.cli.list_command import list_patterns
from harness.cli.occupancy_command import occupancy
from harness.cli.output import run_program
from harness.cli.project_command import project
from harness.cli.report_command import report
from harness.cli.roofline_command import roofline
from harness.cli.run_command import run
from harness.cli.setup_command import setup
from harness.cli.trace_command import trace


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
