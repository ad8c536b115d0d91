"""Examination of this machine: what runs, what does not, how to mend it, and if a device computes right."""

__all__ = [
    "examination",
    "self_test_kernels",
]
