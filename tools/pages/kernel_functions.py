"""``harness/numba_sycl/API.md``: every function that a kernel may call, from the docstrings of the package.

Run as a module it prints the page.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

from numba_sycl import atomics, kernel_names, native, sub_group, vector, work_group

HEAD: Final = """# Functions of kernels

Made from docstrings by `python -m tools.pages.kernel_functions`. A kernel's first parameter is an `Item`, where it is
launched over a `Range`, or an `NdItem`, where over an `NdRange`; both have one to three dimensions. The others are
arrays (dpnp's: any number of dimensions, C, F or other strides; bool, integers of 8 to 64 bits, float16, float32,
float64, complex64, complex128), numbers of these types but float16, and `LocalAccessor`s.

## Python, math and numpy

- Arithmetic, comparisons, `and`, `or`, `not`, conditions, `for` over `range`, `while`, tuples, functions in a kernel,
  `print`, `assert`, `raise`; `abs`, `min`, `max`, `divmod`, `round`, `int`, `float`, `bool`, `len`.
- Of `math`, of float32 and float64 (integers are converted to float64):
{math}.
- numpy's functions of one or two numbers, such as `np.sqrt`, `np.sign`, `np.logaddexp`, and its types as conversions,
  such as `np.float32(x)`. Not of float16, and no function of arrays.
"""

#: Functions of `math` whose code is an instruction of OpenCL, or numba's own.
MATH: Final = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh"),
    *("degrees", "erf", "erfc", "exp", "expm1", "fabs", "floor", "fmod", "frexp", "gamma", "hypot", "isfinite"),
    *("isinf", "isnan", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "pow", "radians", "sin", "sinh", "sqrt"),
    *("tan", "tanh", "trunc"),
)

#: Classes of the language whose methods kernels call.
CLASSES: Final = ("Item", "NdItem", "Group", "PrivateArray", "AtomicRef", "LocalAccessor")
FUNCTIONS: Final = ("group_barrier", "atomic_fence")


def page() -> str:
    """The page."""
    functions = textwrap.fill(", ".join(MATH), 118, initial_indent="  ", subsequent_indent="  ")
    parts = [HEAD.format(math=functions), "## kernel_api\n"]
    for name in CLASSES:
        kind = getattr(kernel_names, name)
        parts.append(f"**{name}**: {_first(kind)}\n")
        parts += [f"- {_line(name, method, function)}" for method, function in _methods(kind)]
        parts.append("")
    parts += [f"- {_line('kernel_api', name, getattr(kernel_names, name))}" for name in FUNCTIONS]
    for module in (sub_group, work_group, vector, native, atomics):
        parts += ["", *_module(module)]
    return "\n".join(parts) + "\n"


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(kind).items():
        if not name.startswith("_") and callable(value):
            yield name, value


def _module(module: ModuleType) -> Iterator[str]:
    short = module.__name__.rpartition(".")[2]
    yield f"## {short}\n"
    yield f"{_plain(inspect.getdoc(module) or '')}\n"
    for name in module.__all__:
        function = getattr(module, name)
        if callable(function):
            yield f"- {_line(short, name, function)}"


def _line(place: str, name: str, function: Any) -> str:
    shown = inspect.signature(function)
    given = [one for one in shown.parameters.values() if one.name != "self"]
    text = ", ".join(str(one) if one.default is one.empty else f"{one.name}={one.default!s}" for one in given)
    result = "" if shown.return_annotation in (shown.empty, "None") else f" -> {shown.return_annotation}"
    return f"`{place}.{name}({text.replace(chr(39), '')}){result}`: {_first(function)}"


def _first(value: Any) -> str:
    """The first paragraph of a docstring."""
    return _plain(" ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split()))


def _plain(text: str) -> str:
    """A docstring as Markdown."""
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`")


if __name__ == "__main__":
    print(page(), end="")
