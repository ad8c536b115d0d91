"""Kernels by which nobody tuned the compiler, beside twins in OpenCL C: ``python -m tools.studies.unseen.compare``."""
