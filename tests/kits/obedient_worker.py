"""A worker that does as it is told, for tests of the parent's side: ``python -m obedient_worker``."""

from __future__ import annotations

import msgspec

from xebench.system.children.process import run_as_child
from xebench.system.children.worker import Parent


class Execute(msgspec.Struct, tag=True):
    """Python code; ``parent`` and ``Said`` are defined."""

    code: str


class Said(msgspec.Struct, tag=True):
    """Whatever the code sends."""

    text: str


class Counted(msgspec.Struct, tag=True):
    """The other type of a message."""

    number: int


Answer = Said | Counted


def main(arguments: list[str]) -> int:
    """Execute until there is nothing more."""
    parent = Parent(arguments)
    requests = parent.requests(Execute)
    while (request := requests.receive()) is not None:
        exec(request.code, {"parent": parent, "Said": Said})
    return 0


if __name__ == "__main__":
    run_as_child(main)
