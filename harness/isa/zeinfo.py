"""What a zebin says of its own kernels: the section ``.ze_info``, a small subset of YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The compiler adds a program of this name to hold symbols; it is no kernel.
SYMBOL_TABLE = "Intel_Symbol_Table_Void_Program"
_ENTRY = re.compile(r"^(?P<key>[\w-]+):(?:\s+(?P<value>.*))?$")


@dataclass(frozen=True)
class KernelInfo:
    """A kernel as the binary describes it; a figure that the compiler's version does not write is None.

    Attributes:
        name: the kernel's name.
        simd_width: work-items in a hardware thread.
        grf_count: registers of a hardware thread.
        barriers: barriers that a work-group needs.
        slm_bytes: shared local memory of a work-group that the kernel declares itself; what the host passes as a
            local argument is not in it.
        private_bytes: private memory of a hardware thread for arrays that did not fit into registers.
        spill_bytes: memory of a hardware thread for registers that ran out.
        scratch_bytes: memory of its own that a thread is given, for private memory and spills together.
        buffer_bytes: private memory of a hardware thread that lies in ordinary memory.
        required_sub_group_size: what the kernel demanded, or None.
        stack_calls: whether functions are called with a stack, instead of inlined.
    """

    name: str
    simd_width: int
    grf_count: int
    barriers: int = 0
    slm_bytes: int = 0
    private_bytes: int | None = None
    spill_bytes: int | None = None
    scratch_bytes: int = 0
    buffer_bytes: int = 0
    required_sub_group_size: int | None = None
    stack_calls: bool = False


def read_zeinfo(text: str) -> dict[str, KernelInfo]:
    """The kernels of a ``.ze_info`` section, by name.

    Raises:
        ValueError: the text has another form; the message names the line.
    """
    document = parse_yaml(text)
    kernels = document.get("kernels") or []
    if not isinstance(kernels, list):
        raise ValueError(".ze_info: kernels is no list")
    return {kernel["name"]: _kernel(kernel) for kernel in kernels if kernel["name"] != SYMBOL_TABLE}


def _kernel(entry: Mapping[str, Any]) -> KernelInfo:
    env = entry["execution_env"]
    buffers = entry.get("per_thread_memory_buffers") or []
    demands = entry.get("user_attributes") or {}
    return KernelInfo(
        name=entry["name"],
        simd_width=env["simd_size"],
        grf_count=env["grf_count"],
        barriers=env.get("barrier_count", 0),
        slm_bytes=env.get("slm_size", 0),
        private_bytes=env.get("private_size"),
        spill_bytes=env.get("spill_size"),
        scratch_bytes=_buffer_bytes(buffers, "scratch", env["simd_size"]),
        buffer_bytes=_buffer_bytes(buffers, "global", env["simd_size"]),
        required_sub_group_size=env.get("required_sub_group_size", demands.get("intel_reqd_sub_group_size")),
        stack_calls=bool(env.get("has_stack_calls", False)),
    )


def _buffer_bytes(buffers: Sequence[Mapping[str, Any]], kind: str, simd_width: int) -> int:
    """Memory of a hardware thread; the binary gives some buffers per work-item ("SIMT thread")."""
    sizes = [
        buffer["size"] * (simd_width if buffer.get("is_simt_thread") else 1)
        for buffer in buffers
        if buffer["type"] == kind
    ]
    return sum(sizes)


def parse_yaml(text: str) -> dict[str, Any]:
    """The subset of YAML that .ze_info uses: nested mappings, lists of mappings, plain and quoted scalars, ``[a, b]``.

    Raises:
        ValueError: a line has another form.
    """
    lines = []
    for number, line in enumerate(text.rstrip("\0").splitlines(), 1):
        stripped = line.split(" #")[0].rstrip()
        if stripped and stripped not in {"---", "..."}:
            lines.append((number, len(stripped) - len(stripped.lstrip()), stripped.lstrip()))
    value, rest = _block(lines)
    if rest:
        raise ValueError(f".ze_info, line {rest[0][0]}: unexpected indentation")
    if not isinstance(value, dict):
        raise ValueError(".ze_info is no mapping")
    return value


_Lines = list[tuple[int, int, str]]


def _block(lines: _Lines) -> tuple[Any, _Lines]:
    """The mapping or list that begins at the first line, and the lines after it."""
    if not lines:
        return {}, []
    return _list(lines) if lines[0][2].startswith("- ") else _mapping(lines)


def _list(lines: _Lines) -> tuple[list[Any], _Lines]:
    indent, items = lines[0][1], []
    while lines and lines[0][1] == indent and lines[0][2].startswith("- "):
        number, _, content = lines[0]
        if _ENTRY.match(content[2:].lstrip()):
            inner = indent + len(content) - len(content[2:].lstrip())
            value, lines = _block([(number, inner, content[2:].lstrip()), *lines[1:]])
        else:
            value, lines = _scalar(content[2:].strip()), lines[1:]
        items.append(value)
    return items, lines


def _mapping(lines: _Lines) -> tuple[dict[str, Any], _Lines]:
    indent = lines[0][1]
    result: dict[str, Any] = {}
    while lines and lines[0][1] == indent:
        number, _, content = lines[0]
        entry = _ENTRY.match(content)
        if entry is None:
            raise ValueError(f".ze_info, line {number}: {content!r} is no 'key: value'")
        lines = lines[1:]
        value = entry["value"]
        if value:
            result[entry["key"]] = _scalar(value.strip())
        elif lines and (lines[0][1] > indent or (lines[0][1] == indent and lines[0][2].startswith("- "))):
            result[entry["key"]], lines = _block(lines)
        else:
            result[entry["key"]] = None
    return result, lines


def _scalar(text: str) -> Any:
    if text.startswith("["):
        return [_scalar(part.strip()) for part in text.strip("[] ").split(",") if part.strip()]
    if text[:1] in {"'", '"'}:
        return text[1:-1]
    if text in {"true", "false"}:
        return text == "true"
    try:
        return int(text, 0)
    except ValueError:
        return text
