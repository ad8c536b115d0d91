"""Advice for a kernel: facts of one launch, rules on them, and the lessons that have gained on this device.

``work_items`` reads the accesses of a kernel, ``facts`` makes a table of these and of a few samples, ``rules`` are
conditions on it, ``lessons`` has what each lesson gained here, and ``advice`` brings them together. ``worker`` examines
pattern files in a process of its own.
"""

__all__ = ["advice", "examine", "text"]
