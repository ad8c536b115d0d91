"""Properties of a kernel in its OpenCL C text: parameters, required sub-group size and required work-group size.

This is no C compiler. It knows comments, ``#define NAME text``, ``typedef type name;`` and ``-DNAME=text``. Where the
text says more than one thing, such as two definitions under ``#if``, it does not guess: the author states it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from xebench.dpex.dpex_errors import OptionError
from xebench.errors import suggestion

#: Macros that stand for macros that stand for macros ...
_MOST_EXPANSIONS: Final = 8

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+)$", re.MULTILINE)
_TYPEDEF = re.compile(r"\btypedef\s+([\w\s]+?)\s+(\w+)\s*;")
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
# with "@3" in place of the attribute of that number
_KERNEL = re.compile(
    r"(?P<before>[^;{}()]*)\b(?:__)?kernel\b(?P<head>[^;{}()]*?)\bvoid\b(?P<between>[\s@\d]*)\b(?P<name>[A-Za-z_]\w*)"
    r"\s*\((?P<parameters>[^;{}()]*)\)(?P<after>[\s@\d]*)[;{]"
)
_SUB_GROUP = re.compile(r"\bintel_reqd_sub_group_size\s*\(((?:[^()]|\([^()]*\))*)\)")
_WORK_GROUP = re.compile(r"\breqd_work_group_size\s*\(((?:[^()]|\([^()]*\))*)\)")


@dataclass(frozen=True)
class Declaration:
    """A kernel as its text declares it.

    Attributes:
        name: of the kernel.
        parameters: their text.
        sub_group_size: that it requires, or None.
        work_group_size: the extents that it requires, or None.
    """

    name: str
    parameters: str
    sub_group_size: int | None
    work_group_size: tuple[int, ...] | None


def declaration(source: str, name: str | None, build_options: Iterable[str] = ()) -> Declaration:
    """The kernel of a name, or the only one.

    Args:
        source: OpenCL C.
        name: of the kernel; None where there is one only.
        build_options: ``-DNAME=text`` counts.

    Raises:
        OptionError: it is not there, there are several, it is declared in several ways, or a size that it requires is
            no number.
    """
    found = list(_declarations(source, build_options))
    names = sorted({each["name"] for each in found})
    if name is None:
        if len(names) != 1:
            raise OptionError(f"the OpenCL C has {len(names) or 'no'} kernels ({', '.join(names)}): state name=")
        name = names[0]
    chosen = {(each["parameters"], each["attributes"]) for each in found if each["name"] == name}
    if not chosen:
        raise OptionError(f"the OpenCL C has no kernel {name!r}: {suggestion(name, names)}")
    if len(chosen) > 1:
        raise OptionError(
            f"kernel {name} is declared in several ways: select one before, where the text is put together"
        )
    parameters, attributes = chosen.pop()
    sub_group, work_group = _size(name, _SUB_GROUP, attributes), _size(name, _WORK_GROUP, attributes)
    return Declaration(name, parameters, sub_group[0] if sub_group else None, work_group)


def _size(name: str, attribute: re.Pattern[str], text: str) -> tuple[int, ...] | None:
    match = attribute.search(text)
    if match is None:
        return None
    try:
        return tuple(int(part.strip().strip("()")) for part in match[1].split(","))
    except ValueError:
        raise OptionError(
            f"kernel {name}: {match[0]} is no number here: give its macros by -D in build_options"
        ) from None


def _declarations(source: str, build_options: Iterable[str]) -> Iterator[dict[str, str]]:
    """Name, parameters and attributes of each kernel, its macros expanded."""
    text = _COMMENT.sub(" ", source.replace("\\\n", " "))
    text = _expanded(_DIRECTIVE.sub("", text), _macros(text, build_options))
    attributes: list[str] = []

    def take(match: re.Match[str]) -> str:
        attributes.append(match[0])
        return f" @{len(attributes) - 1} "

    for match in _KERNEL.finditer(_ATTRIBUTE.sub(take, text)):
        around = " ".join(match[part] for part in ("before", "head", "between", "parameters", "after"))
        yield {
            "name": match["name"],
            "parameters": " ".join(re.sub(r"@\d+", " ", match["parameters"]).split()),
            "attributes": " ".join(attributes[int(number)] for number in re.findall(r"@(\d+)", around)),
        }


def _macros(text: str, build_options: Iterable[str]) -> dict[str, str]:
    """What names stand for: those of ``-D``, else of the text; one that it defines twice stands for nothing."""
    found: dict[str, set[str]] = {}
    for name, meaning in _DEFINE.findall(text):
        found.setdefault(name, set()).add(meaning.strip())
    for meaning, name in _TYPEDEF.findall(text):
        found.setdefault(name, set()).add(meaning)
    names = {name: meanings.pop() for name, meanings in found.items() if len(meanings) == 1}
    given = (option[2:].partition("=") for option in build_options if option.startswith("-D"))
    return names | {name: value or "1" for name, _, value in given}


def _expanded(text: str, names: dict[str, str]) -> str:
    for _ in range(_MOST_EXPANSIONS):
        text = _WORD.sub(lambda match: names.get(match[0], match[0]), text)
    return text
