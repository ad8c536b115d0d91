"""The code of kernels on Intel GPUs, without one: offline compilation, and analysis of the machine code.

``collect`` finds a pattern's kernels, ``ocloc`` compiles them, ``compilation`` and ``assembly`` read what it left,
``kernel_code`` describes a kernel and compares two, ``table`` makes rows and answers what patterns claim of generated
code. ``text`` and ``gpu_views`` show them. Importing this package loads nothing of the SYCL stack; only ``collect``
does, when it runs.
"""

__all__ = [
    "asked_gpu",
    "collect",
    "compilation",
    "gpu_views",
    "kernel_code",
    "launch_occupancy",
    "ocloc",
    "table",
    "text",
]
