"""The SYCL runtime is loaded before a test module imports what imports dpctl, whichever module is collected first."""

from xebench.system.runtime import load

load()
