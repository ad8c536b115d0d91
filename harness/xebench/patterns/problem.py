"""The data of one pattern at one size: inputs, outputs, least work, and sizes that follow the device."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from xebench.errors import suggestion
from xebench.records.device_facts import RATE_ROOFS
from xebench.vocabulary import DeviceClass

#: Types of sizes and axis values that tables, JSON and the command line support; numpy's numbers are excluded.
PLAIN: Final = (bool, int, float, str)
#: Keys of the result of `fit`.
_KEYS: Final = {"least", "per_lane", "per_cache_byte", "bytes_each", "launches"}

#: Size of the data of a lesson about memory, in last-level caches.
CACHES: Final = 4

#: Bytes for each lane that keep a GPU's memory busy for 25 empty kernels, so that what each launch costs is 4 % of it:
#: an H200 has 270336 lanes, moves 4.4 TB/s, and takes 2.9 us for an empty kernel (`results/h200-default`). With four
#: times as many the host made data and compared results for twenty times as long as the device was sampled. It is no
#: measured time of the device at hand, so that a problem has the same size whenever it is measured there.
LANE_BYTES: Final = 1200

#: Bytes for each lane that keep a GPU's memory busy while the host submits one empty kernel and waits for it: 51 us on
#: the H200 of `LANE_BYTES`.
LAUNCH_LANE_BYTES: Final = 830


def ceil_div(n: int, size: int) -> int:
    """The number of parts of ``size`` that hold ``n``; the last part may not be full."""
    return -(-n // size)


@dataclass(frozen=True)
class Room:
    """The limits on a device that sizes follow.

    Attributes:
        lanes: work-items that fill it (`xebench.session.spread`); 0 when nothing is known.
        cache_bytes: its last-level cache.
    """

    lanes: int = 0
    cache_bytes: int = 0


def fit(
    least: int, *, per_lane: float = 0, per_cache_byte: float = 0, bytes_each: float = 0, launches: float = 0
) -> dict[str, float]:
    """A size that is doubled until it suits the device.

    Args:
        least: smallest size, doubled until it is enough; its divisors also divide the result.
        per_lane: least size per work-item that the device holds at once: 16 gives 16 waves of work-items with one
            element each.
        per_cache_byte: least size per byte of the last-level cache: 1 makes two arrays of 8-byte elements together
            sixteen times as large as the cache.
        bytes_each: bytes that a launch of a lesson about memory reads and writes per element. The size then covers
            `CACHES` times the last-level cache, and 25 empty kernels (`LANE_BYTES`).
        launches: with ``bytes_each``, least time of a command in launches of empty kernels by the host. Give 10 where
            the host submits to several devices in turn: with shorter commands its launches are measured.

    Raises:
        ValueError: a number is negative, infinite, or not whole where it must be.
    """
    wanted = {"per_lane": per_lane, "per_cache_byte": per_cache_byte, "bytes_each": bytes_each, "launches": launches}
    is_whole = type(least) is not bool and least >= 1 and least == least // 1
    told = ", ".join(f"{name}={wanted[name]}" for name in wanted)
    if not is_whole or not all(0 <= value < math.inf for value in wanted.values()):
        raise ValueError(f"fit({least}, {told}): give positive numbers, the first of them whole")
    if launches and not bytes_each:
        raise ValueError(f"fit({least}, {told}): launches needs bytes_each")
    return {"least": int(least), **wanted}


def is_fit(size: Any) -> bool:
    """True if the size was declared with `fit`."""
    return isinstance(size, Mapping) and set(size) == _KEYS


def by_class(size: Any) -> Mapping[str, Any]:
    """A size as it is declared, for each class of devices that has one: the same for all where it names none."""
    return size if isinstance(size, Mapping) and not is_fit(size) else dict.fromkeys(map(str, DeviceClass), size)


def fitted(size: Mapping[str, float], room: Room) -> tuple[int, str]:
    """The size on a device, and why it is that."""
    wanted = {
        f"{size['per_lane']:g} for each of the device's {room.lanes} lanes": size["per_lane"] * room.lanes,
        f"{size['per_cache_byte']:g} for each byte of its cache of {room.cache_bytes}": size["per_cache_byte"]
        * room.cache_bytes,
    }
    if each := size["bytes_each"]:
        wanted |= {
            f"{CACHES} times its cache of {room.cache_bytes}, {each:g} bytes each": CACHES * room.cache_bytes / each,
            f"25 empty kernels of {room.lanes} lanes, {each:g} bytes each": LANE_BYTES * room.lanes / each,
            f"{size['launches']:g} launches, {room.lanes} lanes, {each:g} bytes each": size["launches"]
            * LAUNCH_LANE_BYTES
            * room.lanes
            / each,
        }
    reason, most = max(wanted.items(), key=lambda item: item[1])
    least = int(size["least"])
    if most <= least:
        return least, "the least, which is enough for this device"
    return least * 2 ** math.ceil(math.log2(most / least)), reason


@dataclass(frozen=True)
class Output:
    """An array that every variant must write; overwritten before a variant is checked.

    Attributes:
        shape: elements in each dimension.
        dtype: numpy dtype of the elements.
        host: the result lies in host memory (a numpy array), not on the device.
        fill: value of the elements that variants do not write; None: they write all.
        rtol, atol: its own tolerances; None for the pattern's.
    """

    shape: tuple[int, ...]
    dtype: Any
    host: bool = False
    fill: Any = None
    rtol: float | None = None
    atol: float | None = None


@dataclass(frozen=True)
class InOut:
    """An array that variants read and write; set back to ``initial`` before every sample, untimed."""

    initial: Any
    rtol: float | None = None
    atol: float | None = None


def output(
    shape: int | tuple[int, ...],
    dtype: Any,
    *,
    host: bool = False,
    fill: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> Output:
    """Declare an array that a variant writes.

    Args:
        shape: elements, or elements in each dimension.
        dtype: numpy dtype.
        host: True for a result that must arrive in host memory.
        fill: value of the elements that stay unwritten, also in the reference. Choose a value that no variant writes.
            None if every element is written.
        rtol: relative tolerance of its check; None for the pattern's.
        atol: absolute tolerance of its check; None for the pattern's.

    Raises:
        ValueError: an extent or a tolerance is negative, or a tolerance too large.
    """
    _require_tolerances("output", rtol, atol)
    extents = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    if any(extent < 0 for extent in extents):
        raise ValueError(f"output({shape}): give numbers of elements from 0")
    return Output(extents, dtype, host, fill, rtol, atol)


def inout(initial: Any, *, rtol: float | None = None, atol: float | None = None) -> InOut:
    """Declare an array that a variant updates in place (an accumulator, a state).

    Args:
        initial: numpy array; its contents are put back before every sample, outside the measured time.
        rtol: relative tolerance of its check; None for the pattern's.
        atol: absolute tolerance of its check; None for the pattern's.

    Raises:
        ValueError: a tolerance is negative or too large.
    """
    _require_tolerances("inout", rtol, atol)
    return InOut(initial, rtol, atol)


def _require_tolerances(function: str, rtol: float | None, atol: float | None) -> None:
    for name, value, below in (("rtol", rtol, 1.0), ("atol", atol, math.inf)):
        if value is not None and not 0 <= value < below:
            raise ValueError(f"{function}({name}={value!r}): give a number from 0, below {below:g}")


def device_bytes(field: Any) -> int:
    """The bytes of a field on the device; 0 for an output in host memory and for anything that is no array."""
    if isinstance(field, Output):
        return 0 if field.host else _output_bytes(field)
    array = field.initial if isinstance(field, InOut) else field
    return int(getattr(array, "nbytes", 0)) if hasattr(array, "shape") else 0


def _output_bytes(field: Output) -> int:
    import numpy as np  # a file that declares patterns costs little to read

    return math.prod(map(int, field.shape)) * np.dtype(field.dtype).itemsize


#: Names under which a variant, or what prepares it, finds something else.
RESERVED: Final = frozenset({"host", "host_was_read", "with_numbers", "fields", "working_set_bytes"})


def _fault_of_field(name: str, field: Any) -> str | None:
    dtype = getattr(field, "dtype", None)
    if name in RESERVED or not name.isidentifier():
        return "the name is taken, or has other characters than letters, digits and underscores: give it another"
    if dtype is None or not hasattr(field, "shape") or isinstance(field, Output):
        return None
    if not hasattr(field, "strides"):  # such as a series of pandas
        return f"a {type(field).__name__} is no array of numpy: convert it with numpy.asarray"
    if dtype.kind not in "biufc" or not dtype.isnative:
        return f"a device array has numbers or truth values in this machine's byte order, and no {dtype}"
    return "the array is masked: give a plain one" if hasattr(field, "mask") else None


class Problem:
    """The data on which all variants of a pattern work.

    Keyword arguments are the fields of the problem: numpy arrays are inputs, which nothing may change, and become
    device arrays of the same name; :func:`output` and :func:`inout` declare what is written; anything else (numbers,
    strings, tuples) stays as it is.
    The preset's numbers and the axes' values are attributes as well: a field of the same name must have that value. A
    number that does not suit is refused with a `ValueError`, so that the measured problem is the requested one.

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
        ValueError: a number of these is negative, infinite or NaN, there is no such kind of operations, or a field has
            a name or elements that cannot be on a device.
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
        if operation_kind not in RATE_ROOFS:
            raise ValueError(f"Problem(operation_kind={operation_kind!r}): write one of {', '.join(RATE_ROOFS)}")
        for name, field in fields.items():
            if fault := _fault_of_field(name, field.initial if isinstance(field, InOut) else field):
                raise ValueError(f"Problem({name}=...): {fault}")
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
