"""The command ``xebench kernels``."""

from __future__ import annotations

from pathlib import Path

import click

from xebench.cli.options import table_forms
from xebench.cli.output import show_view
from xebench.errors import XebenchError


@click.command()
@click.argument("pack", required=False, type=click.Path(path_type=Path))
@table_forms
def kernels(pack: Path | None, form: str) -> None:
    """List the kernels of a PACK, by default the project's own, which are launched where nothing compiles them."""
    from xebench.report import kernels_text
    from xebench.system.kernel_pack import OWN_PACK, Pack

    path = pack or OWN_PACK
    try:
        opened = Pack.open(path)
    except OSError as error:
        why = f"no pack at {path} ({error.strerror})"
        raise XebenchError(f"{why}: make one with xebench pack FILE") from None
    show_view(kernels_text, form, opened.index)
