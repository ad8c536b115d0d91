"""The limits of a device: bandwidths, rates and latencies, measured by probes that check their results."""

__all__ = ["bench", "catalogue", "levels", "measure", "search"]
