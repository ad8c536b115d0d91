"""A rank: a worker (`serve`) that MPI's launcher has started, and that answers over a socket."""

from __future__ import annotations

import os
import socket
import sys

from xebench.measuring import serve
from xebench.system.children import Program
from xebench.system.children.process import run_as_child
from xebench.system.children.worker import ActivityPage


def main(arguments: list[str]) -> int:
    """Serve at the socket that the first argument names, on the device and with the variables that the others do."""
    path, device, environment = arguments
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    reading = connection.detach()
    descriptors = reading, os.dup(reading), ActivityPage.create().descriptor
    no_memory_limit = "0"  # the launcher's, as the worker itself has one
    status = serve.main([*map(str, descriptors), no_memory_limit, Program.SERVE_PLACE_OF_RANK, device, environment])
    if not status and (mpi := sys.modules.get("mpi4py.MPI")):
        mpi.Finalize()
    return status


if __name__ == "__main__":
    run_as_child(main)
