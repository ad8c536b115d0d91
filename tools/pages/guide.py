"""Intel's pages of the GPU Optimization Guide, by chapters and sections of patterns.

Each of these pages was seen. Intel keeps them by version of the guide, and an old version's stay when a new one comes.
"""

from __future__ import annotations

from typing import Final

_GUIDE: Final = "https://www.intel.com/content/www/us/en/docs/oneapi/optimization-guide-gpu"

#: The page of the contents, for chapters of which no page was seen.
CONTENTS: Final = "2024-0/overview"

#: Pages of chapters, and of sections as in ``Kernels / Reduction``.
_PAGES: Final = {
    "Compilation": "2024-0/compilation",
    "Host/Device Memory, Buffer and USM": "2023-1/host-device-memory-buffer-and-usm",
    "Implicit Scaling": "2025-0/implicit-scaling",
    "Intel Xe GPU Architecture": "2025-0/intel-xe-gpu-architecture",
    "Kernels / Programming Intel XMX Using SYCL Joint Matrix Extension": (
        "2025-0/programming-intel-xmx-using-sycl-joint-matrix"
    ),
    "Kernels / Sub-Groups and SIMD Vectorization": "2025-0/sub-groups-and-simd-vectorization",
    "Level Zero": "2025-2/level-zero",
    "Math Library": "2024-0/using-libraries-for-gpu-offload",
    "Media": "2023-2/media-graphics-computing-on-gpu",
    "Media / Media Pipeline Parallelism": "2024-2/media-pipeline-parallelism",
    "Media Graphics Computing": "2023-2/media-graphics-computing-on-gpu",
    "Multiple Stacks / Explicit Scaling": "2024-0/explicit-scaling",
    "Multiple Stacks / Implicit Scaling": "2025-0/implicit-scaling",
    "OpenMP Offload": "2025-0/openmp-offloading-tuning-guide",
    "OpenMP Offload Best Practices": "2024-0/openmp-offload-best-practices",
    "Registers and Performance": "2024-0/registerization-and-avoiding-register-spills",
    "Registers and Performance / Performance Tuning Using GRF Mode Selection": (
        "2024-0/small-register-mode-vs-large-register-mode"
    ),
    "Shared Local Memory": "current/shared-local-memory",
    "Sub-Groups and SIMD Vectorization": "2025-0/sub-groups-and-simd-vectorization",
    "Synchronization among Threads in a Kernel": "2023-0/synchronization-among-threads-in-a-kernel",
    "Using Intel MPI Library": "2025-0/using-intel-mpi-library",
    "Using Libraries for GPU Offload": "2024-0/using-libraries-for-gpu-offload",
    "Using More GPU Resources": "2024-0/openmp-offload-best-practices",
}


def page_of(guide: str) -> str:
    """The address of the page that has a place in the guide, or of the guide's contents.

    Args:
        guide: chapter and section, as patterns give them: ``Kernels / Reduction``.
    """
    section = guide.partition(",")[0] if guide.partition(",")[0] in _PAGES else guide
    page = _PAGES.get(section) or _PAGES.get(guide.partition(" / ")[0]) or CONTENTS
    return f"{_GUIDE}/{page}.html"
