"""The SYCL runtime and the machine under it: loading, devices, and what they lack.

Importing this package loads neither dpctl nor numpy; a function that needs them does. Only this package touches
environment variables and shared libraries.
"""

from xebench.system.runtime.devices import (
    DeviceInfo,
    Selection,
    fault_of_requirement,
    list_devices,
    missing,
    select_device,
)
from xebench.system.runtime.loading import load
from xebench.system.runtime.machine import describe_machine
from xebench.system.runtime.variables import relevant_environment, set_variables

__all__ = [
    "DeviceInfo",
    "Selection",
    "describe_machine",
    "devices",
    "fault_of_requirement",
    "gpu_drivers",
    "kernel_compiler",
    "level_zero",
    "list_devices",
    "load",
    "loading",
    "machine",
    "missing",
    "mpi",
    "packages",
    "partitions",
    "relevant_environment",
    "select_device",
    "set_variables",
    "sycl_headers",
    "sycl_shim",
    "variables",
]
