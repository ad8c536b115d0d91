"""Commands that read runs: ``xebench report``, ``show``, ``trace`` and ``pack-run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xebench.cli import completion
from xebench.cli.options import PATHS, VERBOSE, output_file, path_option, table_forms
from xebench.cli.output import say, show, show_view, write
from xebench.errors import PatternError, suggestion
from xebench.report import formats


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(formats.names()), default="text", show_default=True)
@path_option("--output", "File to write; standard output otherwise.")
@VERBOSE
def report(folder: Path, form: str, output: Path | None, verbose: bool) -> None:
    """Show the run in FOLDER again."""
    from xebench.tables import load_run
    from xebench.tables.run import telling_damage

    options: dict[str, Any] = {"verbose": verbose} if form == "text" else {}
    if options and output is not None:  # what is written is UTF-8, whatever the terminal is
        options |= {"colour": False, "encoding": "utf-8"}
    with telling_damage(folder):
        text = formats.render(load_run(folder), form, **options)
    if output is None:
        show(text, coloured=form == "text")
    else:
        write(output, text)


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
def show_pattern(pattern: str, variant: str | None, runs: tuple[Path, ...], paths: tuple[Path, ...], form: str) -> None:
    """The lesson of PATTERN: its claims, the code of its baseline beside that of VARIANT, and what was measured.

    Without VARIANT it is the first optimized one. Markdown and CSV have the answers alone.
    """
    from xebench.patterns.registry import discover, select
    from xebench.report import pattern_text
    from xebench.tables import load_run
    from xebench.tables.run import newest_of_each_device, telling_damage
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


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("pattern", shell_complete=completion.patterns)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    callback=output_file,
    help="File to write, such as trace.json; standard output otherwise.",
)
def trace(folder: Path, pattern: str, output: Path | None) -> None:
    """A timeline of PATTERN in the run in FOLDER: one execution of each variant, for ui.perfetto.dev.

    Tracks are the host's threads, with launches, waits, allocations, builds and lines of the variant, and of each queue
    its kernels and copies. Arrows lead from a command's submission to its start.
    """
    from xebench.report import trace_events
    from xebench.tables import load_run
    from xebench.tables.run import telling_damage

    with telling_damage(folder):
        text = trace_events.as_json(load_run(folder), pattern)
    if output is None:
        show(text)
    else:
        write(output, text)


@click.command("pack-run")
@click.argument("folder", type=click.Path(path_type=Path))
@path_option("--output", "File to write.  [default: the folder's name with .zip, here]")
@click.option(
    "--without",
    "words",
    multiple=True,
    metavar="WORD",
    help="A further word to remove, such as a project's name. May be given more than once.",
)
def pack_run(folder: Path, output: Path | None, words: tuple[str, ...]) -> None:
    """Make one file of the run in FOLDER, to send. It contains no user, host, address or path.

    'report', 'compare', 'trace' and xebench.load_run accept the file in place of the folder.
    """
    from xebench.tables import load_run, packed_run, schema
    from xebench.tables.run import telling_damage

    output = output or Path(f"{folder.resolve().name}.zip")
    with telling_damage(folder):
        run = load_run(folder)
        tables = {table: getattr(run, table)[[*schema.columns(table)]] for table in schema.RUN_TABLES}
        kept = packed_run.write(output, run.manifest, tables, words)
    say(f"wrote {output} ({output.stat().st_size / 1e6:.1f} MB)")
    for name in kept:
        say(f"xebench: the name {name!r} is a word of the tables: it could not be taken out")
