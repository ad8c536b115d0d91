"""Completions of a shell for arguments and options. The command, not this module, refuses words that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

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
