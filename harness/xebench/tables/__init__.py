"""Tidy tables of what was measured, and the run folder that keeps them."""

from xebench.tables.run import Run, compare_runs, compare_versions, load_run
from xebench.tables.run_folder import RunWriter
from xebench.tables.schema import SCHEMA_VERSION, TABLES, SchemaError, frame

__all__ = [
    "SCHEMA_VERSION",
    "TABLES",
    "Run",
    "RunWriter",
    "SchemaError",
    "compare_runs",
    "compare_versions",
    "frame",
    "load_run",
]
