"""The code of kernels on Intel GPUs, without one: offline compilation, and analysis of the machine code.

``ocloc`` compiles, ``zeinfo`` and ``assembly`` read what it left, ``table`` makes rows, ``collect`` finds a
pattern's kernels, ``diff`` compares two of them, ``code_answers`` answers what patterns claim of generated code.
Importing this package loads nothing of the SYCL stack; only ``collect`` does, when it runs.
"""

__all__ = ["collect", "compilation", "diff", "ocloc", "packing", "roof_projection", "table"]
