"""Child processes: how they start, answer, report what they do, and end. They end with their parent.

`Program` has the modules of ours that they run, or import, by their names: imports between files do not show these
arrows. `tests/test_layers.py` holds that each is there, that it is in the room of who starts it or in one below, and
that no module of another room is named by a string elsewhere.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Program", "process", "worker"]


class Program(StrEnum):
    """A module that a child process runs (`xebench.system.children.process.python_module`), or serves requests by."""

    #: Answer one question (`xebench.system.children.process`).
    DOCTOR = "xebench.doctor.examination"
    DEVICE_PROBE = "xebench.runner.cluster.agent"
    READ_PATTERNS = "xebench.patterns.pattern_file"
    PROBE_ROOFS = "xebench.roofs.bench"
    TRACE_OPENMP = "xebench.dpex.openmp"

    #: Serves requests (`xebench.system.children.worker`) with one of the handlers below, or launches MPI's ranks.
    SERVE = "xebench.measuring.serve"

    #: Handlers of `SERVE`.
    WORKER = "xebench.measuring.worker"
    COLLECT_KERNELS = "xebench.isa.collect_worker"
    ADVISE = "xebench.advisor.worker"
