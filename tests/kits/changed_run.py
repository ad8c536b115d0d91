"""A run with other tables, another manifest or another path: what `dataclasses.replace` is for a data class."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from xebench.results import Run, schema


def changed(
    run: Run, *, path: Path | None = None, manifest: Mapping[str, Any] | None = None, **tables: pd.DataFrame
) -> Run:
    """The same run with these instead; tables may have their columns of parameters or lack them."""
    known = {name: tables.get(name, getattr(run, name)) for name in schema.RUN_TABLES}
    plain = {name: data[[*schema.columns(name)]] for name, data in known.items()}
    return Run.of_tables(path or run.path, run.manifest if manifest is None else manifest, plain)
