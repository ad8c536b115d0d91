"""Tidy tables of what was measured, the run folder that keeps them, and what is computed from them."""

from typing import TYPE_CHECKING

from numba_sycl.lazy import lazily

if TYPE_CHECKING:
    from xebench.results.run import Run, compare_runs, compare_versions, load_run
    from xebench.results.run_folder import RunWriter
    from xebench.results.schema import SCHEMA_VERSION, TABLES, SchemaError, frame

__all__ = [
    "SCHEMA_VERSION",
    "TABLES",
    "Run",
    "RunWriter",
    "SchemaError",
    "analysis",
    "columns",
    "compare_runs",
    "compare_versions",
    "files",
    "frame",
    "load_run",
    "packed_run",
    "provenance",
    "run",
    "run_plot",
    "schema",
    "speedup_charts",
    "timeline",
]

__getattr__ = lazily(
    __name__,
    {
        "xebench.results.run": ("Run", "compare_runs", "compare_versions", "load_run"),
        "xebench.results.run_folder": ("RunWriter",),
        "xebench.results.schema": ("SCHEMA_VERSION", "TABLES", "SchemaError", "frame"),
    },
)
