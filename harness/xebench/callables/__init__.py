"""Any function, measured in this process as a run measures variants: `measure` one, `compare` several.

Importing this room loads the SYCL runtime.
"""

from xebench import runtime

runtime.load()

from xebench.callables.comparing import Compared, compare  # noqa: E402 what they import needs the SYCL runtime
from xebench.callables.measuring import Measured, measure  # noqa: E402
from xebench.callables.sessions import open_session  # noqa: E402

__all__ = ["Compared", "Measured", "compare", "measure", "open_session"]
