"""Explain a compiler's message by the kernel's own code and line; find barriers that only some lanes reach.

The useful line is picked from a compiler's many.

Every work-item of a group must reach the same collective call, or the program has no meaning (a GPU hangs or mixes up
lanes). Divergence cannot be decided in general. What can be found is a collective call under ``if lane == 0`` and the
like: a condition that compares a work-item's place in its group with a constant.
"""

from __future__ import annotations

import ast
import dis
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from numba_sycl.errors import KernelCompileError

_PLACES = re.compile(
    r'(?: at|Raised from) (?P<at>/[^\n()]+) \((?P<at_line>\d+)\)|File "(?P<file>[^"\n]+)", line (?P<line>\d+)'
)

_SPECIFIC = re.compile(r"raised a specific error:\s*\n\s*(?:\w+Error: )?(?P<reason>[^\n]+)")

_CALL = re.compile(r"^\s*>>> (?P<call>[^\n]+)$", re.MULTILINE)

_UNDEFINED = re.compile(r"name '(?P<name>\w+)' is not defined")

_NO_FEATURE = re.compile(r"'(?:SPIRV\w+|_TargetContext)' object has no attribute '(?P<feature>\w+)'")

_NO_MEMORY = "for which device code has no memory: use a tuple or kernel_api.PrivateArray, and loop over elements"
#: What numba says, and what it means in a kernel; groups of the pattern fill the braces.
_MEANINGS = [
    (re.compile(pattern), meaning)
    for pattern, meaning in (
        (
            r"does not have a field named 'meminfo'|_allocate'|attempt_nocopy_reshape",
            "it reshapes, transposes or makes an array, which device code cannot: index the array that there is",
        ),
        (
            r"it makes a (?P<what>list|set|dict)|has no attribute 'build_(?P<built>list|set)'",
            "it makes a {what}{built}, " + _NO_MEMORY,
        ),
        (r"Unknown attribute '\w+' of type (?P<what>list|set|dict)", "it makes a {what}, " + _NO_MEMORY),
        (r"NRT required", "it makes or copies an array, a list, a dict or a string, " + _NO_MEMORY),
        (
            r">>> (?P<what>zeros|ones|empty|full|arange|array|zeros_like|ones_like|empty_like|copy)\(",
            "{what} makes an array, " + _NO_MEMORY,
        ),
        (r"OverloadSelector object.*\((?:List|Set)\(", "it refers to a list or a set: use a tuple or a numpy array"),
        (
            r"Untyped global name '(?P<what>\w+)'.*<class 'function'>",
            "{what} is a plain function: decorate it with device_func",
        ),
        (r"Untyped global name '(?P<what>\w+)'.*<class 'builtin_\w+'>", "kernels have no {what}"),
        (
            r"Untyped global name '(?P<what>\w+)'.*of <class '(?P<kind>[\w.]+)'>",
            "{what} is a {kind}: of what is outside, a kernel sees numbers, tuples, numpy arrays and device functions",
        ),
        (r"re-entrant to the same function", "a function calls itself, which device code cannot: write a loop"),
        (
            r"unsupported opcode \((?P<what>\w+)\)",
            "it uses a feature of Python that device code does not have ({what})",
        ),
        (r"use of yield in a closure|returns [^\n]* generator\(", "it makes a generator: write a loop"),
        (
            r"Exception matching is limited|try .* except|'set_try_status'",
            "no error is raised in device code: test instead of try",
        ),
        (r"The 'with \(context manager\)", "device code has no with"),
        (r"Illegal IR, del found at: (?P<what>[^\n]+)", "device code has no del: leave out {what}"),
        (
            r"Signature mismatch: \d+ argument types given, but function takes",
            "it has parameters that must be named: a launch gives arguments by position",
        ),
        (
            r"Type of variable '\$\w[\w.]*' cannot be determined",
            "numba does not see the type of a part of this line: make its parts statements, and := an assignment",
        ),
        (r"Unknown attribute 'LocalAccessor'", "a LocalAccessor is made outside, and is an argument of the launch"),
        (r"Unknown attribute 'prange'", "prange is of host functions: write range, each work-item runs the whole loop"),
        (r"Unknown attribute 'astype'", "a number has no astype: write np.float32(x)"),
        (
            r"Unknown attribute '(?P<what>get_(?:global|local)\w+|get_group)' of type Item",
            "an Item has no {what}, an NdItem has: launch it with an NdRange",
        ),
        (
            r"Unknown attribute '(?P<what>get_(?P<of>id|linear_id|range|linear_range))' of type NdItem",
            "an NdItem has no {what}, an Item has: launch it with a Range, or write get_global_{of}",
        ),
        (
            r"Cannot unify (?:Literal\[(?P<one>\w+)\]\(.*?\)|(?P<first>.+?)) and "
            r"(?:Literal\[(?P<other>\w+)\]\(.*?\)|(?P<second>.+?)) for '(?P<what>\w+)(?:\.\d+)?'",
            "{what} is {one}{first} in one place and {other}{second} in another: a variable of a kernel has one type",
        ),
        (
            r"Unsupported array index type (?P<what>float\d+)",
            "an index is a {what}: make an integer of it, such as int(x)",
        ),
        (
            r"Implementation function returned by `@overload` has an unexpected type",
            "it uses a function of numba that works on the host alone: write it as a loop",
        ),
        (
            r"kernel_api'? has no (?:attribute ')?(?P<what>\w*group\w*)",
            "kernel_api has no {what}: functions of groups are in the modules work_group and sub_group",
        ),
        (
            r"numpy\.nditer",
            "it computes with a whole array, or a slice of one, which device code cannot: loop over elements",
        ),
        (
            r"No definition for lowering <built-in function (?P<what>\w+)>\(int",
            "math.{what} of an integer: make it a float, such as math.{what}(float(n)), or compute it outside",
        ),
        # numba-dpex alone
        (r"populate_array\(\) got", "it reads a numpy array of outside, which numba-dpex cannot: make it an argument"),
        (
            r"Cannot cast Literal\[str\]|<class '\S+UnicodeType'>",
            "it prints text, which numba-dpex cannot: print numbers",
        ),
        (r"numba_get_\w+_random_state", "it draws random numbers, which only the host makes: pass an array of them"),
        (
            r"object has no attribute 'addrspacecast'|LLVM IR parsing error",
            "it uses a function of numba that works on the host alone: write it as a loop",
        ),
    )
]

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
        error: exception that ended its compilation.
    """
    text = str(error)
    # the path of a host module says nothing about the kernel
    reason = _MODULE_FILE.sub(r"\g<module>>", _reason(text))
    return KernelCompileError(function.__name__, _location(function, text), reason)


def divergence_error(function: Any, call: DivergentCall) -> KernelCompileError:
    """The error to raise for a collective call that not all lanes reach."""
    location = f"{function.__code__.co_filename}:{call.line}"
    reason = f"not every work-item of the group reaches {call.function}, which is under {call.condition!r}"
    return KernelCompileError(function.__name__, location, reason)


def _reason(text: str) -> str:
    for pattern, meaning in _MEANINGS:
        found = pattern.search(text)
        if found:
            return meaning.format(**found.groupdict(default=""))
    call = _CALL.search(text)
    of_call = f" in {call['call'].strip()}" if call else ""
    numpy = _NUMPY.search(text)
    if numpy and (known := _in_python(numpy["name"])):
        return f"nothing implements numpy.{numpy['name']} in kernels here: write {known}"
    specific = _SPECIFIC.search(text)
    if specific and not _NO_REASON.match(specific["reason"]):
        return specific["reason"].strip().rstrip(".") + of_call
    feature = _NO_FEATURE.search(text)
    if feature:
        return f"it uses a feature of Python that device code does not have ({feature['feature']})"
    if call:
        return f"nothing implements {call['call'].strip()}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if not _NO_REASON.match(line)), "no reason given")


def _in_python(name: str) -> str:
    """The Python expression that replaces a function of numpy; nothing if none is known."""
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
    return f"{code.co_filename}:{line}" if line else beginning(function)


def beginning(function: Any) -> str:
    """File and line at which a function begins."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def _first_use(code: Any, name: str) -> int | None:
    for instruction in dis.get_instructions(code):
        if instruction.argval == name and instruction.positions is not None:
            return instruction.positions.lineno
    return None


# Functions that return a work-item's place: they differ between the lanes of a sub-group, or within a work-group only.
_PLACE_OF = {
    "sub_group.local_id": "lane",
    "sub_group.group_id": "sub_group_number",
    "get_local_id": "place",
    "get_local_linear_id": "place",
}

# What may be read without meeting other lanes.
_NOT_COLLECTIVE = frozenset({"local_id", "group_id", "size", "max_size", "num_groups"})


@dataclass(frozen=True)
class DivergentCall:
    """A collective call that not all lanes reach.

    Attributes:
        line: line of the call in its file.
        function: the call as written, such as ``kapi.group_barrier``.
        condition: the condition as written.
    """

    line: int
    function: str
    condition: str


def find_divergent_call(function: Callable[..., Any]) -> DivergentCall | None:
    """The first collective call of a kernel that is under a condition on the work-item's place in its group.

    Args:
        function: the kernel's Python function.

    Returns:
        None when there is none, or when the source cannot be had or is another function's by now.
    """
    body, first = _definition(function)
    if body is None:
        return None
    places = _assigned_places(body)
    for branch in ast.walk(body):
        if isinstance(branch, ast.If | ast.While):
            for call in _calls(branch):
                if _diverges(branch.test, _scope(call), places):
                    line = first + call.lineno - 1
                    return DivergentCall(line, ast.unparse(call.func), ast.unparse(branch.test))
    return None


def dimension_error(function: Callable[..., Any], ndim: int) -> KernelCompileError | None:
    """The error to raise for a kernel that asks its item for a dimension that the index space lacks, if it does."""
    body, first = _definition(function)
    if body is None or not body.args.args:
        return None
    for node in ast.walk(body):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=item), attr=name), args=[ast.Constant(value=int(dimension))]
            ) if item == body.args.args[0].arg and name.startswith("get_") and dimension >= ndim:
                reason = f"Item.{name}: dim is {dimension}, but the index space has {ndim} dimension(s)"
                location = f"{function.__code__.co_filename}:{first + node.lineno - 1}"
                return KernelCompileError(function.__name__, location, reason)
    return None


def _definition(function: Callable[..., Any]) -> tuple[ast.FunctionDef | None, int]:
    """A kernel's definition and its first line; None when the source cannot be had or is another function's by now."""
    try:
        lines, first = inspect.getsourcelines(function)
        body = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None, 0
    if not isinstance(body, ast.FunctionDef) or body.name != function.__name__:  # a lambda, or an edited file
        return None, 0
    return body, first


def _calls(branch: ast.If | ast.While) -> Iterator[ast.Call]:
    for statement in [*branch.body, *branch.orelse]:
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call) and _scope(node))


def _scope(call: ast.Call) -> str:
    """``work_group`` or ``sub_group`` for a collective call, else nothing."""
    name = ast.unparse(call.func)
    module, _, function = name.rpartition(".")
    module = module.rpartition(".")[2]
    if function == "group_barrier":
        return "work_group"
    if module in ("work_group", "sub_group") and function not in _NOT_COLLECTIVE:
        return module
    return ""


def _assigned_places(body: ast.FunctionDef) -> dict[str, str]:
    """Names that are assigned once, from a function that returns the work-item's place."""
    places: dict[str, str] = {}
    for node in ast.walk(body):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in (n.id for n in ast.walk(target) if isinstance(n, ast.Name)):
                    value = node.value if isinstance(node, ast.Assign) else None
                    # a name that is assigned twice has no place that can be named here
                    places[name] = _place(value, {}) if name not in places and value is not None else ""
    return {name: place for name, place in places.items() if place}


def _place(value: ast.expr, places: dict[str, str]) -> str:
    """``lane``, ``place`` or ``sub_group_number`` for an expression that returns it, else nothing."""
    if isinstance(value, ast.Name):
        return places.get(value.id, "")
    if not isinstance(value, ast.Call):
        return ""
    names = ast.unparse(value.func).split(".")
    return _PLACE_OF.get(".".join(names[-2:])) or _PLACE_OF.get(names[-1], "")


def _diverges(test: ast.expr, scope: str, places: dict[str, str]) -> bool:
    """True if a condition compares a place with a constant so that lanes of the scope must disagree."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _diverges(test.operand, scope, places)
    if isinstance(test, ast.BoolOp):
        return any(_diverges(part, scope, places) for part in test.values)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    sides = (test.left, test.comparators[0])
    place = next(filter(None, (_place(side, places) for side in sides)), "")
    if not place or not any(isinstance(side, ast.Constant) for side in sides):
        return False
    if scope == "work_group":
        return True
    # lanes of one sub-group: `place < 16` may be the same for all of them, `place == 3` never is
    return place == "lane" or (place == "place" and isinstance(test.ops[0], ast.Eq | ast.NotEq))
