"""The examination of this machine and its devices, and a self-test of a device: known kernels with known results."""

__all__ = ["examination", "self_test"]
