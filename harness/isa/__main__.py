"""``python -m harness.isa``: the command ``xebench isa``."""

from harness.command_line import run_command
from harness.isa.command import isa

if __name__ == "__main__":
    run_command(isa, "xebench isa")
