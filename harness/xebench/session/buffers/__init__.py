"""SYCL's buffers, whose data the runtime moves: SYCL's own where its headers can be compiled, else OpenCL's."""

__all__ = ["buffer", "find"]
