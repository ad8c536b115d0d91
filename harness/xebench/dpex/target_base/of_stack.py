"""What numba calls the things of a kernel, by the compiler of this stack: numba-dpex, or our own target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xebench.system.runtime.packages import is_current

__all__ = ["DeviceArray", "TypingContext", "models", "target"]

if TYPE_CHECKING or not is_current():
    from numba_dpex.core.descriptor import dpex_kernel_target as target
    from numba_dpex.core.types import USMNdArray as DeviceArray
    from numba_dpex.kernel_api_impl.spirv.target import SPIRVTypingContext as TypingContext

    models = target.target_context.data_model_manager
else:
    from xebench.dpex.target_base.context import TypingContext, target
    from xebench.dpex.target_base.device_types import DeviceArray
    from xebench.dpex.target_base.device_types import own_models as models
