"""The command ``xebench pack-run``."""

from __future__ import annotations

from pathlib import Path

import click

from xebench.cli.options import path_option
from xebench.cli.output import say


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
