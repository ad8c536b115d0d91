"""Addresses of elements of arrays: which index leads to one that is accessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from xebench.dpex.narrow.function_text import Function, LlvmInstruction, is_number
from xebench.dpex.narrow.interval_arithmetic import IntegerRange

_STEP: Final = re.compile(r"getelementptr (?:inbounds |nuw |nusw )*[\w ]+, [^%]*(?P<base>%[\w.$-]+), i64 \S+$")
#: A ``getelementptr`` with one index.
ELEMENT: Final = re.compile(
    r"getelementptr (?:inbounds |nuw |nusw )*(?P<type>[\w ]+), [^%]*(?P<base>%[\w.$-]+), i64 (?P<index>%[\w.$-]+)$"
)
_ACCESS: Final = re.compile(r"^ +(?:%[\w.$-]+ = )?(?:load |store |(?:tail )?call )")


class Addresses:
    """The ``getelementptr`` of a function.

    Args:
        function: which.
        elements: the arrays among its parameters, with LLVM's type of their elements.
        interval: of a value.
    """

    def __init__(
        self, function: Function, elements: Mapping[str, str], interval: Callable[[str], IntegerRange]
    ) -> None:
        self._function = function
        self._elements = elements
        self._interval = interval

    def index(self, gep: LlvmInstruction) -> str:
        """The index of a ``getelementptr`` that takes the low 32 bits of it to an element of an array; or "".

        The array is reached from its start, in one step or in several that all go forwards: then each is within it.
        """
        match = ELEMENT.search(gep.line)
        if match is None:
            return ""
        kind, base = match["type"].strip(), match["base"]
        at_once = self._elements.get(base) == kind and self._is_accessed(gep.result, at_once=True)
        if at_once:
            return match["index"]
        forwards = self._goes_forwards(gep) and self._starts_forwards(base, kind)
        return match["index"] if forwards and self._is_accessed(gep.result, at_once=False) else ""

    def _goes_forwards(self, gep: LlvmInstruction) -> bool:
        """Whether a step is not backwards; a constant one may be, by less than what is between the bound and 2**31."""
        return all(self._interval(value)[0] >= (-(1 << 20) if is_number(value) else 0) for value in gep.operands)

    def _starts_forwards(self, base: str, kind: str) -> bool:
        while base not in self._elements:
            one = self._function.values.get(base)
            match = _STEP.search(one.line) if one is not None and one.kind == "gep" else None
            if one is None or match is None or not self._goes_forwards(one):
                return False
            base = match["base"]
        return self._elements[base] == kind

    def _is_accessed(self, pointer: str, *, at_once: bool, depth: int = 0) -> bool:
        """Whether memory is accessed through a pointer, or through others that steps forwards lead to."""
        for use in self._function.uses[pointer]:
            leads_on = " = bitcast " in use.line
            leads_on |= use.kind == "gep" and not at_once and self._goes_forwards(use)
            if leads_on and (depth > 8 or not self._is_accessed(use.result, at_once=at_once, depth=depth + 1)):
                return False
            if not leads_on and not _ACCESS.search(use.line):
                return False
        return True
