"""Do equal kernels look different because of where they lie in memory? ``python -m tools.studies.placement``."""
