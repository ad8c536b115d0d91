"""MPI's own launcher: where it is, and the program that becomes it.

``python begin.py xebench.measuring.mpi_launcher DEVICE VARIABLES COUNT COMMAND...`` sets what MPIs want to be told by
variables, and then is ``mpiexec -n COUNT COMMAND...``, which ends when the worker does that started it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from xebench.errors import Unsupported
from xebench.system.children.process import run_as_child
from xebench.system.runtime import set_variables

_NAME: Final = "mpiexec"
_HOW: Final = "pip install mpi4py mpich"

#: As root (in a container), with more ranks than cores, and without pinning to cores; each MPI reads its own.
_VARIABLES: Final[Mapping[str, str]] = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "I_MPI_PIN": "0",
    "I_MPI_OFFLOAD_PIN": "0",  # else a rank of Intel's sees one stack alone, and no pattern can give it another
}
#: Has Intel's take pointers to memory of a GPU (G 19054); it crashes where there is none.
_OFFLOAD: Final = "I_MPI_OFFLOAD"


def find_launcher() -> Path:
    """Where it is: beside this Python's programs, else on the path.

    Raises:
        Unsupported: there is no MPI, or Python cannot talk to it.
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise Unsupported(f"needs MPI: {_HOW} (there is no mpi4py)")
    beside = Path(sys.executable).with_name(_NAME)
    found = str(beside) if beside.exists() else shutil.which(_NAME)
    if found is None:
        raise Unsupported(f"needs MPI: {_HOW} (there is no {_NAME})")
    return Path(found)


def main(arguments: list[str]) -> int:
    """Become the launcher, which reads variables of the variant itself, such as the lists of Intel's."""
    device, of_variant, *ranks = arguments
    set_variables({**_VARIABLES, _OFFLOAD: str(int(device.startswith("level_zero"))), **json.loads(of_variant)})
    launcher = str(find_launcher())
    os.execv(launcher, [launcher, "-n", *ranks])


if __name__ == "__main__":
    run_as_child(main)
