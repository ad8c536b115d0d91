"""Options and arguments that commands share, their completion in a shell, and checks of their values.

Imports click and nothing heavy.
"""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import click

from xebench.errors import XebenchError

#: A function that returns a shell's completions of an argument or option. The command itself refuses wrong words.
Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def complete_patterns(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names and chapters of the built-in patterns."""
    from xebench.patterns.registry import remembered

    infos = remembered()
    names = dict.fromkeys((*(info.name for info in infos), *sorted({info.chapter for info in infos})))
    return _beginning(incomplete, names)


def complete_presets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Presets of the built-in patterns."""
    from xebench.patterns.registry import remembered

    return _beginning(incomplete, dict.fromkeys(preset for info in remembered() for preset in info.presets))


def complete_gpus(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Codes and products of the catalogue, also after a comma."""
    from xebench.system.gpus import gpus

    before, comma, last = incomplete.rpartition(",")
    products = (alias for gpu in gpus() for product in gpu.products for alias in product.aliases)
    known = [*(gpu.code for gpu in gpus()), *products]
    return [f"{before}{comma}{name}" for name in _beginning(last, known)]


def complete_probes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of the roofs' probes."""
    from xebench.roofs.catalogue import PROBES

    return _beginning(incomplete, [probe.name for probe in PROBES])


def complete_words(*known: str) -> Completer:
    """These words."""
    return lambda context, parameter, incomplete: _beginning(incomplete, known)


def _beginning(incomplete: str, known: Iterable[str]) -> list[str]:
    return [word for word in known if word.startswith(incomplete)]


class SectionedCommand(click.Command):
    """A command whose help lists its many options in sections."""

    #: The parameters of each section.
    SECTIONS: Final = {
        "What is measured": ("preset", "overrides", "state", "seed", "paths"),
        "Device": ("device", "require_gpu", "scheduler", "exclusive", "memory_limit"),
        "How long": (
            "precision", "budget_s", "run_budget_s", "instances", "min_samples", "max_samples", "timeout_s",
        ),
        "Run folder": ("output", "overwrite", "resume"),
        "Result": ("form", "as_json", "threshold", "fail_on", "allow_skipped", "verbose", "quiet"),
    }  # fmt: skip

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        left = {
            str(each.name): each.get_help_record(ctx) for each in self.get_params(ctx) if isinstance(each, click.Option)
        }
        for title, names in (*self.SECTIONS.items(), ("Others", tuple(left))):
            records = [record for name in names if (record := left.pop(name, None))]
            with formatter.section(title):
                formatter.write_dl(records)


NAMES: Final = click.argument("names", nargs=-1, shell_complete=complete_patterns)
PATHS: Final = click.option(
    "--path",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Your own pattern file, in addition to the built-in ones. May be given more than once.",
)
PATTERN_FILES: Final = click.argument("files", nargs=-1, type=click.Path(path_type=Path))
DEVICE: Final = click.option(
    "--device",
    default="auto",
    show_default=True,
    shell_complete=complete_words("auto", "gpu", "cpu"),
    help="auto, gpu, cpu, or a SYCL filter string such as level_zero:gpu:0.",
)
EUS: Final = click.option("--eus", type=int, help="Vector engines of the device, if it has fewer than the whole GPU.")
VERBOSE: Final = click.option(
    "--verbose",
    is_flag=True,
    help="Add times, roofs, intervals as numbers, whole reasons and all remarks to the text.",
)
OCLOC: Final = click.option("--ocloc", help="Intel's offline compiler.  [default: ocloc on the path]")


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keep how results and notices are shown where `xebench.cli.output` finds it; the callback of an option."""
    context.meta[f"xebench.{parameter.name}"] = value


QUIET: Final = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_keep,
    help="Print the result and errors only: no progress, no notices.",
)


def table_forms(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that prints a table: those of `form_options`, and the file to write."""
    return form_options(RESULT_FILE(function))


def form_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--format``, with ``--json`` as a short form: the argument ``form``; and ``--quiet``."""

    @click.option(
        "--format",
        "form",
        type=click.Choice(["text", "markdown", "json", "csv"]),
        default="text",
        show_default=True,
        help="Output format.",
    )
    @click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
    @QUIET
    @functools.wraps(function)
    def command(*args: Any, form: str, as_json: bool, **given: Any) -> Any:
        return function(*args, form="json" if as_json else form, **given)

    return command


def preset_option(default: str) -> Callable[[Any], Any]:
    """``--preset``, with the command's own default."""
    return click.option(
        "--preset",
        default=default,
        show_default=True,
        shell_complete=complete_presets,
        help="Problem sizes: smoke, default or guide.",
    )


class Positive(click.FloatRange):
    """A number above 0 that is finite, which click's own range does not check."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


class Duration(Positive):
    """Seconds: as a number, or as hours, minutes, seconds and milliseconds such as 500ms, 9m or 1h30m."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        import msgspec

        value = re.sub(r"(\d+)ms$", lambda told: f"{int(told[1]) / 1000:f}s", str(value))
        with suppress(ValueError):  # "9m" is what follows PT in a duration of ISO 8601
            value = msgspec.convert(f"PT{value}", timedelta).total_seconds()
        try:
            float(value)
        except ValueError:
            self.fail(f"{value!r} is no duration: write 540, 500ms, 9m or 1h30m", param, ctx)
        return super().convert(value, param, ctx)


def output_file(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """Check, before hours of work, that a file can be written; the callback of an option."""
    if value is not None:
        if value.is_dir():
            raise click.BadParameter(f"{value} is a folder: name a file in it")
        _check_writable(value.parent, "make it, or name a file elsewhere")
    return value


def output_folder(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """Make a folder if there is none, and check that it can be written; the callback of an option."""
    if value is not None:
        try:
            value.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.BadParameter(f"{value} cannot be made ({error.strerror}): name another folder") from None
        _check_writable(value, "name another folder")
    return value


def path_option(
    *names: str, help: str, check: Callable[..., Path | None] = output_file, **more: Any
) -> Callable[[Any], Any]:
    """An option for the output of a command: a file, or with ``check=output_folder`` a folder."""
    return click.option(*names, type=click.Path(path_type=Path), callback=check, help=help, **more)


def _keep_file(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    _keep(context, parameter, output_file(context, parameter, value))


#: The file that `xebench.cli.output.show` writes instead of standard output.
RESULT_FILE: Final = path_option(
    "-o",
    "--output",
    "result_file",
    help="File to write.  [default: standard output]",
    check=_keep_file,
    expose_value=False,
)


def _check_writable(folder: Path, advice: str) -> None:
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {folder}: {advice}")
    if not os.access(folder, os.W_OK):
        raise click.BadParameter(f"the folder {folder} cannot be written: {advice}")


def require_brief(verbose: bool, form: str, has_more: Container[str] = ("text",)) -> None:
    """Refuse ``--verbose`` with a format that has everything without it.

    Raises:
        click.UsageError: it was given.
    """
    if verbose and form not in has_more:
        raise click.UsageError(f"--format {form} has everything: leave out --verbose")


def refuse(names: Container[str], why: str) -> None:
    """Refuse parameters of the running command.

    Raises:
        XebenchError: the user gave one of them.
    """
    context = click.get_current_context()
    on_command_line = click.core.ParameterSource.COMMANDLINE
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in names and context.get_parameter_source(name) is on_command_line:
            written = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
            raise XebenchError(f"{why}: leave out {written}")
