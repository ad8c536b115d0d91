"""The limits of a device: bandwidths and rates, measured by probes that check their results."""

__all__ = ["catalogue", "measure"]
