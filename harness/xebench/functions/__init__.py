"""Any function, measured in this process as a run measures variants: `measure` one, `compare` several.

Importing this room loads the SYCL runtime.
"""

from xebench.system import runtime

runtime.load()

from xebench.functions.measuring import Compared, Measured, compare, measure  # noqa: E402 what they import needs the SYCL runtime  # noqa: E402
from xebench.functions.request import open_session  # noqa: E402

__all__ = ["Compared", "Measured", "compare", "family", "measure", "open_session", "request", "tables"]
