"""Do equal kernels look different because of where they lie in memory? ``python -m xebench.studies.placement``."""
