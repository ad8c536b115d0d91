"""Facts of Intel's GPUs, and what is computed from them: occupancy, and the time that a GPU's roofs allow."""

__all__ = ["gpus", "occupancy", "roof_model"]
