"""One run: a manager that writes rows, worker processes that measure. Empty on purpose: import the submodules."""

__all__ = ["cluster", "run", "run_options"]
