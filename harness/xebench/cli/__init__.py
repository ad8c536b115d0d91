"""The command line: modules of commands, each command a few lines that call the rooms below."""

__all__ = ["main"]
