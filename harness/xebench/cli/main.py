"""The command ``xebench``: its commands, one module each.

A module is imported when its command is asked for, and rooms when it runs, so that ``--help`` and ``list`` stay
instant.
"""

from __future__ import annotations

from importlib import import_module

import click

from xebench import __version__
from xebench.cli.output import run_program
from xebench.errors import suggestion

#: The function of each command, in the module of that name.
_FUNCTIONS = {
    "ab": "ab",
    "build": "build",
    "compare": "compare",
    "completion": "completion",
    "devices": "devices",
    "doctor": "doctor",
    "isa": "isa",
    "kernels": "kernels",
    "list": "list_patterns",
    "occupancy": "occupancy",
    "pack": "pack",
    "pack-run": "pack_run",
    "project": "project",
    "report": "report",
    "roofline": "roofline",
    "run": "run",
    "setup": "setup",
    "show": "show",
    "trace": "trace",
}


class _Commands(click.Group):
    """Commands whose modules are imported at their first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_FUNCTIONS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _FUNCTIONS:
            return None
        command: click.Command = getattr(
            import_module(f"xebench.cli.{cmd_name.replace('-', '_')}_command"), _FUNCTIONS[cmd_name]
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _FUNCTIONS and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}: {suggestion(args[0], _FUNCTIONS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="xebench")
def commands() -> None:
    """Does the advice of Intel's oneAPI GPU Optimization Guide hold on this device, and by how much?"""


def main() -> None:
    """Run a command; an error that a user can cause ends in one line and its exit status."""
    run_program(commands, "xebench")
