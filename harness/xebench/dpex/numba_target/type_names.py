"""Types as numba-dpex names them, for the signatures that decorators are given."""

from __future__ import annotations

from typing import Any, Final

from numba.core import types

from xebench.dpex.numba_target.compile import KernelTypingError
from xebench.dpex.target_base.context import NAME
from xebench.dpex.target_base.device_types import DeviceArray, GroupType, ItemType, NdItemType


def named(name: str) -> Any:
    """What has one of these names; numba's own names of numbers are numba-dpex's too."""
    return _NAMES[name] if name in _NAMES else getattr(types, name)


def usm_ndarray(ndim: int, layout: str = "C", dtype: Any = types.float64, *, readonly: bool = False, **_: Any) -> Any:
    """The type of an array in USM.

    Args:
        ndim: its dimensions.
        layout: C, F or A.
        dtype: numba's type of an element.
        readonly: whether it cannot be written.
        _: the kind of USM, the device or the queue, which the code of a kernel does not depend on.
    """
    return DeviceArray(dtype, ndim, layout, readonly=readonly)


_NAMES: Final = {
    **dict.fromkeys(("usm_ndarray", "USMNdArray", "DpnpNdArray"), usm_ndarray),
    "GroupType": GroupType,
    "ItemType": ItemType,
    "MissingSpecializationError": KernelTypingError,
    "NdItemType": NdItemType,
    # what numba.extending.overload and intrinsic take as target for functions of kernels
    "SPIRV_TARGET_NAME": NAME,
}
