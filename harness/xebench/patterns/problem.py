"""The data of one pattern at one size: inputs, outputs, and the least work that the lesson needs."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

from xebench.errors import suggestion


@dataclass(frozen=True)
class Output:
    """An array that every variant must write; overwritten before a variant is checked.

    Attributes:
        shape: elements in each dimension.
        dtype: numpy dtype of the elements.
        host: the result lies in host memory (a numpy array), not on the device.
        fill: value of the elements that variants do not write; None: they write all.
    """

    shape: tuple[int, ...]
    dtype: Any
    host: bool = False
    fill: Any = None


@dataclass(frozen=True)
class InOut:
    """An array that variants read and write; set back to ``initial`` before every sample, untimed."""

    initial: Any


def output(shape: int | tuple[int, ...], dtype: Any, *, host: bool = False, fill: Any = None) -> Output:
    """Declare an array that a variant writes.

    Args:
        shape: elements, or elements in each dimension.
        dtype: numpy dtype.
        host: True for a result that must arrive in host memory.
        fill: for an array that is written in part only: what the other elements hold, in the reference too. Take a
            value that no variant writes. None: every element is written.
    """
    return Output((shape,) if isinstance(shape, int) else tuple(shape), dtype, host, fill)


def inout(initial: Any) -> InOut:
    """Declare an array that a variant updates in place (an accumulator, a state).

    Args:
        initial: numpy array; its contents are put back before every sample, outside the measured time.
    """
    return InOut(initial)


def device_bytes(field: Any) -> int:
    """The bytes of a field on the device; 0 for an output in host memory and for anything that is no array."""
    if isinstance(field, Output):
        return 0 if field.host else _output_bytes(field)
    array = field.initial if isinstance(field, InOut) else field
    return int(getattr(array, "nbytes", 0)) if hasattr(array, "shape") else 0


def _output_bytes(field: Output) -> int:
    import numpy as np  # a file that declares patterns costs little to read

    return math.prod(map(int, field.shape)) * np.dtype(field.dtype).itemsize


class Problem:
    """The data on which all variants of a pattern work.

    Keyword arguments are the fields of the problem: numpy arrays are inputs, which nothing may change, and become
    device arrays of the same name; :func:`output` and :func:`inout` declare what is written; anything else (numbers,
    strings, tuples) stays as it is.
    The preset's numbers and the axes' values are attributes as well: a field of the same name must have that value. A
    number that does not suit is refused with a `ValueError`, so that what was measured is what was asked.

    Args:
        bytes_moved: the least bytes that must cross the device's memory for this problem, for the bandwidth roof.
        operations: the least arithmetic operations that the problem needs, for the arithmetic roof.
        operation_kind: ``fp32``, ``fp64`` or ``int32``: which arithmetic roof applies.
        slm_bytes: the least bytes through shared local memory, where the lesson cannot do without it.
        host_bytes: the least bytes that must pass between host and device while a sample is timed; by default those of
            the outputs in host memory.
        peer_bytes: the least bytes that must pass from device to device while a sample is timed.
        fields: see above.

    Raises:
        ValueError: a number of these is negative, infinite or NaN.
    """

    def __init__(
        self,
        *,
        bytes_moved: int | None = None,
        operations: int | None = None,
        operation_kind: str = "fp32",
        slm_bytes: int | None = None,
        host_bytes: int | None = None,
        peer_bytes: int | None = None,
        **fields: Any,
    ) -> None:
        amounts: dict[str, Any] = {"bytes_moved": bytes_moved, "operations": operations, "slm_bytes": slm_bytes}
        for name, amount in {**amounts, "host_bytes": host_bytes, "peer_bytes": peer_bytes}.items():
            if isinstance(amount, numbers.Real) and not 0 <= float(amount) < math.inf:
                raise ValueError(f"Problem({name}={amount!r}): give a number from 0 that is finite")
        self.bytes_moved = bytes_moved
        self.operations = operations
        self.operation_kind = operation_kind
        self.slm_bytes = slm_bytes
        self.host_bytes = host_bytes
        self.peer_bytes = peer_bytes
        self.fields = fields

    @property
    def working_set_bytes(self) -> int:
        """The bytes of its arrays on the device."""
        return sum(map(device_bytes, self.fields.values()))

    @property
    def read_part(self) -> float | None:
        """The part of its traffic to memory that is read, if each array is gone over once; None without arrays.

        Inputs are read, outputs are written, and what is updated in place is both.
        """
        fields = self.fields.values()
        read = sum(device_bytes(field) for field in fields if not isinstance(field, Output))
        written = sum(device_bytes(field) for field in fields if isinstance(field, Output | InOut))
        return read / (read + written) if read + written else None

    @property
    def host_output_bytes(self) -> int:
        """The bytes of its outputs in host memory."""
        return sum(_output_bytes(field) for field in self.fields.values() if isinstance(field, Output) and field.host)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(f"the problem has no {name!r}: {suggestion(name, self.__dict__['fields'])}") from None
