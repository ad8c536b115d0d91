"""Types that rooms pass each other: arrays of the host."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

#: An array of the host, of any dtype and shape.
Array = npt.NDArray[Any]
