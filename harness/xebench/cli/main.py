"""The command ``xebench`` and its first commands, ``list`` and ``completion``; other modules have the others.

The module of a command is imported when the command is used, and rooms when it runs: ``--help`` and ``list`` stay
instant.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from xebench import __version__
from xebench.cli.options import NAMES, PATHS, require_brief, table_forms
from xebench.cli.output import run_program, show, show_view
from xebench.errors import XebenchError, suggestion

#: The commands by what they are for; the module of each, and its function in it.
_SECTIONS = {
    "Measure": {
        "run": "run_command.run",
        "ab": "report_commands.ab",
        "roofline": "machine_commands.roofline",
    },
    "Get advice": {
        "advise": "advise_command.advise",
    },
    "Read results": {
        "report": "report_commands.report",
        "compare": "report_commands.compare",
        "trace": "report_commands.trace",
        "pack-run": "report_commands.pack_run",
    },
    "Read lessons": {
        "list": "main.list_patterns",
        "show": "report_commands.show_pattern",
    },
    "Intel GPUs that need not be here": {
        "isa": "gpu_commands.isa",
        "occupancy": "gpu_commands.occupancy",
        "build": "machine_commands.build",
    },
    "This machine": {
        "doctor": "machine_commands.doctor",
        "devices": "machine_commands.devices",
        "setup": "machine_commands.setup",
        "completion": "main.completion",
    },
}
_PLACES = {name: place for section in _SECTIONS.values() for name, place in section.items()}

#: Characters of a command's summary, of which click would keep as many as fit on a line.
_SUMMARY = 200


class _Commands(click.Group):
    """Commands whose modules are imported at their first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_PLACES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _PLACES:
            return None
        module, _, function = _PLACES[cmd_name].partition(".")
        command: click.Command = getattr(import_module(f"xebench.cli.{module}"), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in _SECTIONS.items():
            found = ((name, self.get_command(ctx, name)) for name in names)
            with formatter.section(title):
                formatter.write_dl([(name, each.get_short_help_str(_SUMMARY)) for name, each in found if each])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _PLACES and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}: {suggestion(args[0], _PLACES)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="xebench")
@click.pass_context
def commands(context: click.Context) -> None:
    """Does the advice of Intel's oneAPI GPU Optimization Guide hold on this device, and by how much?"""
    if context.invoked_subcommand == "run":
        from xebench.cli import project_settings

        context.default_map = {"run": project_settings.read(Path.cwd())}


@click.command("list")
@NAMES
@click.option(
    "--guide",
    metavar="TEXT",
    help="List only patterns about this chapter or section of the guide; a part of its name is enough.",
)
@PATHS
@table_forms
@click.option("--verbose", is_flag=True, help="Add variants, claims and parameters to the text.")
def list_patterns(names: tuple[str, ...], guide: str | None, paths: tuple[Path, ...], form: str, verbose: bool) -> None:
    """List the patterns. NAMES: patterns, chapters or catalogue ids, also with * and ? (default: all)."""
    from xebench.patterns.registry import discover, select, select_by_guide
    from xebench.report import claims_text

    require_brief(verbose, form)
    infos = select(discover(paths, installed=True), names)
    infos = infos if guide is None else select_by_guide(infos, guide)
    if verbose:
        show(claims_text.as_text(infos, verbose=True))
    else:
        show_view(claims_text, form, infos)


SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that lets a SHELL complete commands, options, patterns, presets and GPUs."""
    completer = get_completion_class(shell)
    assert completer is not None  # click has all of SHELLS
    try:
        show(completer(context.find_root().command, {}, "xebench", "_XEBENCH_COMPLETE").source())
    except RuntimeError as error:  # a bash that is too old
        raise XebenchError(str(error)) from None


def main() -> None:
    """Run a command; an error that a user can cause ends in one line and its exit status."""
    run_program(commands, "xebench")
