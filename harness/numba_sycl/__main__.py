"""``python -m numba_sycl check FILE``: the lines of a program for numba-dpex that will not run, and what to write."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from numba_sycl.errors import NotOffered
from numba_sycl.program_check import find_lines


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0 if all lines run, 1 if some do not, 2 if a file cannot be read.
    """
    parser = argparse.ArgumentParser(prog="python -m numba_sycl", description=__doc__)
    commands = parser.add_subparsers(required=True)
    check = commands.add_parser("check", help="lines of a program for numba-dpex that will not run, and what to write")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    found = 0
    for file in parser.parse_args(arguments).files:
        try:
            lines = find_lines(file.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, UnicodeDecodeError, NotOffered) as error:
            print(f"{file}: {error}", file=sys.stderr)
            return 2
        found += len(lines)
        for number, advice in lines:
            print(f"{file}:{number}: {advice}")
        if not lines:
            print(f"{file}: no line uses what is not offered")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
