"""Barriers and group functions that only some lanes reach, where the source alone shows it.

Every work-item of a group must reach the same collective call, or the program has no meaning (a GPU hangs or mixes up
lanes). Divergence cannot be decided in general; what can be known is a collective call under ``if lane == 0`` and
the like: a condition that compares a work-item's place in its group with a constant.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

# Functions that tell a work-item's place: they differ between the lanes of a sub-group, or within a work-group only.
_PLACES = {
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
        None when there is none, or when the source cannot be had.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return None
    body = tree.body[0]
    assert isinstance(body, ast.FunctionDef)
    places = _assigned_places(body)
    for branch in ast.walk(body):
        if isinstance(branch, ast.If | ast.While):
            for call in _calls(branch):
                if _diverges(branch.test, _scope(call), places):
                    line = first + call.lineno - 1
                    return DivergentCall(line, ast.unparse(call.func), ast.unparse(branch.test))
    return None


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
    """Names that are assigned once, from a function that tells the work-item's place."""
    places: dict[str, str] = {}
    for node in ast.walk(body):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in (n.id for n in ast.walk(target) if isinstance(n, ast.Name)):
                    value = node.value if isinstance(node, ast.Assign) else None
                    places[name] = _place(value, {}) if name not in places and value is not None else ""
    return {name: place for name, place in places.items() if place}


def _place(value: ast.expr, places: dict[str, str]) -> str:
    """``lane``, ``place`` or ``sub_group_number`` for what tells it, else nothing."""
    if isinstance(value, ast.Name):
        return places.get(value.id, "")
    if not isinstance(value, ast.Call):
        return ""
    names = ast.unparse(value.func).split(".")
    return _PLACES.get(".".join(names[-2:])) or _PLACES.get(names[-1], "")


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
