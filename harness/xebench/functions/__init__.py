"""Any function, measured in this process as a run measures variants: `measure` one, `compare` several.

Importing this room loads the SYCL runtime.
"""

from xebench.system import runtime

runtime.load()

from xebench.functions.measuring import Compared, Measured, compare, measure  # noqa: E402 it needs the SYCL runtime
from xebench.functions.request import open_session  # noqa: E402

__all__ = ["Compared", "Measured", "compare", "family", "measure", "open_session", "request", "tables"]
