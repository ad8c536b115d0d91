"""One line out of a compiler's many: what is wrong in a kernel, and where."""

from __future__ import annotations

import dis
import math
import re
from pathlib import Path
from typing import Any, Final

from xebench.dpex.divergence import DivergentCall
from xebench.dpex.dpex_errors import KernelCompileError

_PLACES = re.compile(r' at (?P<at>/[^\n()]+) \((?P<at_line>\d+)\)|File "(?P<file>[^"\n]+)", line (?P<line>\d+)')
_SPECIFIC = re.compile(r"raised a specific error:\s*\n\s*(?:\w+Error: )?(?P<reason>[^\n]+)")
_CALL = re.compile(r"^\s*>>> (?P<call>[^\n]+)$", re.MULTILINE)
_UNDEFINED = re.compile(r"name '(?P<name>\w+)' is not defined")
_NO_FEATURE = re.compile(r"'SPIRV\w+' object has no attribute '(?P<feature>\w+)'")
_HOST_ARRAY = re.compile(r"does not have a field named 'meminfo'|Unknown attribute '_allocate'")
_MODULE_FILE = re.compile(r"(?P<module><module '[\w.]+') from '[^'\n]*'>")
_NUMPY = re.compile(r"unsupported NumPy function 'numpy\.(?P<name>\w+)'")
#: What numpy calls otherwise than Python, which numba-dpex implements.
_IN_PYTHON: Final = {
    **{f"arc{name}": f"math.a{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    "power": "math.pow",
    "maximum": "max",
    "minimum": "min",
    "absolute": "abs",
    "abs": "abs",
}
_NO_REASON = re.compile(
    r"^(Failed in \w+ mode pipeline|Internal error at|Error during lowering|No implementation of|- Resolution failure)"
)


def compile_error(function: Any, error: Exception) -> KernelCompileError:
    """The error to raise for an exception of numba, numba-dpex or llvm-spirv.

    Args:
        function: the kernel's Python function.
        error: what its compilation ended with.
    """
    text = str(error)
    # where a module of the host lies says nothing of the kernel
    reason = _MODULE_FILE.sub(r"\g<module>>", _reason(text))
    return KernelCompileError(function.__name__, _location(function, text), reason)


def divergence_error(function: Any, call: DivergentCall) -> KernelCompileError:
    """The error to raise for a collective call that not all lanes reach."""
    location = f"{function.__code__.co_filename}:{call.line}"
    reason = f"not every work-item of the group reaches {call.function}, which is under {call.condition!r}"
    return KernelCompileError(function.__name__, location, reason)


def _reason(text: str) -> str:
    call = _CALL.search(text)
    of_call = f" in {call['call'].strip()}" if call else ""
    numpy = _NUMPY.search(text)
    if numpy and (known := _in_python(numpy["name"])):
        return f"nothing implements numpy.{numpy['name']} in kernels here: write {known}"
    specific = _SPECIFIC.search(text)
    if specific:
        return specific["reason"].strip().rstrip(".") + of_call
    feature = _NO_FEATURE.search(text)
    if feature:
        return f"it uses a feature of Python that device code does not have ({feature['feature']})"
    if _HOST_ARRAY.search(text):
        return "it reshapes, transposes or makes an array, which device code cannot: index the array that there is"
    if call:
        return f"nothing implements {call['call'].strip()}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if not _NO_REASON.match(line)), "no reason given")


def _in_python(name: str) -> str:
    """What does in Python as a function of numpy does; nothing where none is known."""
    return _IN_PYTHON.get(name) or (f"math.{name}" if hasattr(math, name) else "")


def _location(function: Any, text: str) -> str:
    """The innermost place outside of installed packages that the message names, or where the kernel begins."""
    for place in _PLACES.finditer(text):
        path = Path(place["at"] or place["file"]).absolute()
        if "site-packages" not in path.parts and path.is_file():
            return f"{path}:{place['at_line'] or place['line']}"
    code = function.__code__
    undefined = _UNDEFINED.search(text)
    line = _first_use(code, undefined["name"]) if undefined else None
    return f"{code.co_filename}:{line or code.co_firstlineno}"


def _first_use(code: Any, name: str) -> int | None:
    for instruction in dis.get_instructions(code):
        if instruction.argval == name and instruction.positions is not None:
            return instruction.positions.lineno
    return None
