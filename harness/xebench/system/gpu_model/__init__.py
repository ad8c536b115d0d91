"""Facts of Intel's GPUs, and what is computed from them: the occupancy of a launch."""

__all__ = ["gpus", "occupancy"]
