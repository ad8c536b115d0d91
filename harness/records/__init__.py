"""Tidy tables of what was measured, and the run folder that keeps them."""

from harness.records.run import Run, compare_runs, load_run
from harness.records.run_folder import RunWriter
from harness.records.schema import SCHEMA_VERSION, TABLES, SchemaError, frame

__all__ = ["SCHEMA_VERSION", "TABLES", "Run", "RunWriter", "SchemaError", "compare_runs", "frame", "load_run"]
