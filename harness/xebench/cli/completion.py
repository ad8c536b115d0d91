"""What a shell offers for arguments and options, and the command ``xebench completion``.

A word that was typed wrong is the command's to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import get_completion_class

from xebench.cli.output import show
from xebench.errors import XebenchError

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def patterns(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names and chapters of the built-in patterns."""
    from xebench.patterns.registry import remembered

    infos = remembered()
    names = dict.fromkeys((*(info.name for info in infos), *sorted({info.chapter for info in infos})))
    return _beginning(incomplete, names)


def presets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Presets of the built-in patterns."""
    from xebench.patterns.registry import remembered

    return _beginning(incomplete, dict.fromkeys(preset for info in remembered() for preset in info.presets))


def gpus(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Codes and products of the catalogue, also after a comma."""
    from xebench.system.gpu_model.gpus import gpus as catalogue

    before, comma, last = incomplete.rpartition(",")
    products = (alias for gpu in catalogue() for product in gpu.products for alias in product.aliases)
    known = [*(gpu.code for gpu in catalogue()), *products]
    return [f"{before}{comma}{name}" for name in _beginning(last, known)]


def probes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of the roofs' probes."""
    from xebench.measuring.roofline.catalogue import PROBES

    return _beginning(incomplete, [probe.name for probe in PROBES])


def words(*known: str) -> Completer:
    """These words."""
    return lambda context, parameter, incomplete: _beginning(incomplete, known)


def _beginning(incomplete: str, known: Iterable[str]) -> list[str]:
    return [word for word in known if word.startswith(incomplete)]


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
