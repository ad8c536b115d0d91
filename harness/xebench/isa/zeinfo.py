"""The description of a zebin's own kernels: the section ``.ze_info``, in YAML."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from xebench.errors import first_line

# The compiler adds a program of this name to hold symbols; it is no kernel.
SYMBOL_TABLE = "Intel_Symbol_Table_Void_Program"

# Scalars stay text until their field says what they are: a kernel may be named "no". libyaml's parser where it is.
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


_KEYS = {
    "simd_width": "simd_size",
    "barriers": "barrier_count",
    "slm_bytes": "slm_size",
    "private_bytes": "private_size",
    "spill_bytes": "spill_size",
}


class KernelInfo(msgspec.Struct, frozen=True, rename=_KEYS):
    """A kernel as its ``execution_env`` has it; a figure that the compiler's version does not write is None.

    Attributes:
        simd_width: work-items in a hardware thread.
        grf_count: registers of a hardware thread.
        barriers: barriers that a work-group needs.
        slm_bytes: shared local memory of a work-group that the kernel declares itself; what the host passes as a
            local argument is not in it.
        private_bytes: private memory of a hardware thread for arrays that did not fit into registers.
        spill_bytes: memory of a hardware thread for registers that ran out.
        buffer_bytes: private memory of a hardware thread that lies in ordinary memory.
        name: the kernel's name.
    """

    simd_width: int
    grf_count: int
    barriers: int = 0
    slm_bytes: int = 0
    private_bytes: int | None = None
    spill_bytes: int | None = None
    buffer_bytes: int = 0
    name: str = ""


class _Buffer(msgspec.Struct):
    type: str
    size: int
    is_simt_thread: bool = False


class _Kernel(msgspec.Struct):
    name: str
    execution_env: KernelInfo
    per_thread_memory_buffers: tuple[_Buffer, ...] = ()


# msgspec dies where two threads are the first to use a type: put it together here
msgspec.json.Decoder(_Kernel)


def read_zeinfo(text: str) -> dict[str, KernelInfo]:
    """The kernels of a ``.ze_info`` section, by name.

    Raises:
        ValueError: the text is no YAML, or lacks something; the message names the line or the key.
    """
    try:
        document = msgspec.convert(yaml.load(text.rstrip("\0"), _LOADER) or {}, dict[str, Any])
        kernels = msgspec.convert(document.get("kernels") or (), tuple[_Kernel, ...], strict=False)
    except yaml.MarkedYAMLError as error:
        line = 0 if error.problem_mark is None else error.problem_mark.line + 1
        raise ValueError(f".ze_info, line {line}: {error.problem}") from None
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise ValueError(f".ze_info: {first_line(error)}") from None
    return {kernel.name: _info(kernel) for kernel in kernels if kernel.name != SYMBOL_TABLE}


def _info(kernel: _Kernel) -> KernelInfo:
    info = kernel.execution_env
    in_memory = [buffer for buffer in kernel.per_thread_memory_buffers if buffer.type == "global"]
    # the size of a buffer may be that of a work-item ("SIMT thread")
    sizes = (buffer.size * (info.simd_width if buffer.is_simt_thread else 1) for buffer in in_memory)
    return msgspec.structs.replace(info, name=kernel.name, buffer_bytes=sum(sizes))
