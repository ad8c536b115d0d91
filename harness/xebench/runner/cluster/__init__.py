"""A run over several hosts: families go to the workers of a Dask scheduler, rows come back to one run folder."""

__all__ = ["run"]
