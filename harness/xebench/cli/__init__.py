"""The command line: one module a command, each a few lines that call the rooms below."""

__all__ = ["main"]
