"""The command ``xebench show``."""

from __future__ import annotations

from pathlib import Path

import click

from xebench.cli import completion
from xebench.cli.options import PATHS
from xebench.cli.output import show as print_text
from xebench.errors import PatternError, suggestion


@click.command()
@click.argument("pattern", shell_complete=completion.patterns)
@click.argument("variant", required=False)
@click.option(
    "--run",
    "runs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A run folder: what was measured of the pattern there. May be given more than once.",
)
@PATHS
def show(pattern: str, variant: str | None, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> None:
    """The lesson of PATTERN: its claims, and the code of its baseline beside that of VARIANT.

    Without VARIANT it is the first optimized one.
    """
    from xebench.patterns.registry import discover, select
    from xebench.report import pattern_text
    from xebench.report.console import terminal_width
    from xebench.report.formats import text
    from xebench.tables import load_run
    from xebench.tables.run import telling_damage
    from xebench.vocabulary import Role, find_baseline

    infos = select(discover(paths), [pattern])
    if len(infos) > 1:
        raise PatternError(f"{pattern!r} names {len(infos)} patterns, {infos[0].name} among them: name one")
    (info,) = infos
    baseline = find_baseline(info.variants, role=lambda each: each.role)
    others = [each for each in info.variants if each is not baseline]
    chosen = [each for each in others if each.name == variant or (variant is None and each.role == Role.OPTIMIZED)]
    chosen = chosen or (others if variant is None else [])
    if baseline is None or not chosen:
        advice = suggestion(variant or "", [each.name for each in others])
        raise PatternError(f"{info.name} has no variant {variant!r} beside its baseline: {advice}")
    width = terminal_width(elsewhere=120)
    print_text(pattern_text.as_text(info, baseline, chosen[0], width))
    for folder in runs:
        with telling_damage(folder):
            print_text(f"\n{folder}:\n{text.excerpt(load_run(folder), [info.name], width)}", coloured=True)
