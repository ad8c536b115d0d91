"""The command ``xebench show``."""

from __future__ import annotations

from pathlib import Path

import click

from xebench.cli import completion
from xebench.cli.options import PATHS, table_forms
from xebench.cli.output import show_view
from xebench.errors import PatternError, suggestion


@click.command()
@click.argument("pattern", shell_complete=completion.patterns)
@click.argument("variant", required=False)
@click.option(
    "--run",
    "runs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A run folder: what was measured of the pattern there. May be given more than once.  [default: of each device "
    "the newest run in runs/ and results/]",
)
@PATHS
@table_forms
def show(pattern: str, variant: str | None, runs: tuple[Path, ...], paths: tuple[Path, ...], form: str) -> None:
    """The lesson of PATTERN: its claims, the code of its baseline beside that of VARIANT, and what was measured.

    Without VARIANT it is the first optimized one. Markdown and CSV have the answers alone.
    """
    from xebench.patterns.registry import discover, select
    from xebench.report import pattern_text
    from xebench.tables import load_run
    from xebench.tables.run import telling_damage
    from xebench.tables.stored import newest_of_each_device
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
    with telling_damage(next(iter(runs), Path("runs"))):
        measured = [load_run(folder) for folder in runs] if runs else newest_of_each_device(info.name)
        show_view(pattern_text, form, info, baseline, chosen[0], measured)
