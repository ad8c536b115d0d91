"""Rewriting the text of numba-dpex's LLVM IR, which is that of LLVM 14, with typed pointers. Pure string work."""

from __future__ import annotations

import re

_ENVIRONMENT = re.compile(r"^@([\w.$-]*NumbaEnv[\w.$-]*) = .*\n", re.MULTILINE)

_BUILTIN_POINTER = r"(?P<space>(?: addrspace\(\d+\))?)\*"

_BUILTIN_LOAD = re.compile(
    r"^(?P<indent>\s*)(?P<result>%[\w.$-]+) = load i64, i64" + _BUILTIN_POINTER + r" "
    r"(?:getelementptr (?:inbounds )?\(<3 x i64>, <3 x i64>(?: addrspace\(\d+\))?\* "
    r"(?P<name>@__spirv_BuiltIn\w+), i(?:32|64) 0, i(?:32|64) (?P<element>[012])\)"
    r"|bitcast \(<3 x i64>(?: addrspace\(\d+\))?\* (?P<first>@__spirv_BuiltIn\w+) "
    r"to i64(?: addrspace\(\d+\))?\*\))"
    r"(?:, align \d+)?(?P<rest>.*)$",
    re.MULTILINE,
)

_ID = re.compile(r"^ +(%[\w.$-]+) = load i64, i64[^\n]*@__spirv_BuiltIn", re.MULTILINE)

_FREEZE = re.compile(r"^( +%[\w.$-]+) = freeze i64 (%[\w.$-]+)$", re.MULTILINE)


def drop_environments(text: str) -> str:
    """Remove numba's environment globals that nothing refers to.

    They are host pointers without meaning on a device, and old Intel graphics compilers stumble on them.
    """

    def keep_if_used(match: re.Match[str]) -> str:
        name = re.escape(match.group(1))
        uses = re.findall(rf"@{name}(?![\w.$-])", text)
        return match.group(0) if len(uses) > 1 else ""

    return _ENVIRONMENT.sub(keep_if_used, text)


def load_whole_builtins(text: str) -> str:
    """Load a built-in variable as the vector that it is, then extract the element.

    LLVM folds the access to ``load i64, getelementptr(@__spirv_BuiltIn..., 0, n)``, on which Intel's graphics
    compiler IGC 1.0.12504 (Debian 12) crashes; it needs OpLoad of the vector and OpCompositeExtract.
    """

    def rewrite(match: re.Match[str]) -> str:
        name = match["name"] or match["first"]
        element = match["element"] or "0"
        whole = match["result"] + ".whole"
        return (
            f"{match['indent']}{whole} = load <3 x i64>, <3 x i64>{match['space']}* {name}, align 32\n"
            f"{match['indent']}{match['result']} = extractelement <3 x i64> {whole}, i32 {element}{match['rest']}"
        )

    return _BUILTIN_LOAD.sub(rewrite, text)


def rename_function(text: str, old: str, new: str) -> str:
    """Rename a function everywhere."""
    return re.sub(rf'@(?:"{re.escape(old)}"|{re.escape(old)}(?![\w.$-]))', f'@"{new}"', text)


def without_freezes(text: str) -> str:
    """Drop what LLVM does lest an id, or an argument, be no value."""
    ids = {match[1] for match in _ID.finditer(text)}
    return _FREEZE.sub(lambda match: f"{match[1]} = add i64 {match[2]}, 0" if match[2] in ids else match[0], text)
