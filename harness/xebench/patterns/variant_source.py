"""The source of a variant with what it uses: its function, then its kernels, helpers and constants.

It is read from the pattern file and from the modules that this imports relatively; nothing is executed.
"""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Definition:
    """A function, class or constant at the top of a module.

    Attributes:
        file: path of the module.
        name: name in the module.
        text: source text with decorators.
    """

    file: Path
    name: str
    text: str


def code_of(source: Path, pattern: str, variant: str) -> list[Definition]:
    """The function of a variant, then what it uses, in the order in which it is met.

    Args:
        source: the pattern file.
        pattern: name of the pattern.
        variant: name of the variant.

    Returns:
        Nothing where no function of that name is in the file, as of variants that a loop declares.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: it is no Python.
    """
    module = _module(source)
    function = module.variants.get((pattern, variant)) or module.variants.get(("", variant))
    if function is None:
        return []
    found: dict[tuple[Path, str], Definition] = {}
    waiting = [(module, function, variant)]
    while waiting:
        of, node, name = waiting.pop(0)
        if (of.file, name) not in found:
            found[of.file, name] = Definition(of.file, name, of.text(node, decorated=node is not function))
            waiting += _used(of, node)
    return list(found.values())


@dataclass(frozen=True)
class _Module:
    """The source of a module.

    Attributes:
        file: its file.
        lines: its text.
        tops: its functions, classes and constants by name.
        imports: relative imports: the file of a module and a name in it, or "" for the module itself.
        variants: functions by pattern and name; the pattern is "" if the decorator names none.
    """

    file: Path
    lines: list[str]
    tops: Mapping[str, ast.stmt]
    imports: Mapping[str, tuple[Path, str]]
    variants: Mapping[tuple[str, str], ast.stmt]

    def text(self, node: ast.stmt, *, decorated: bool) -> str:
        """A definition's lines; those of a variant go without the claims in front of it."""
        decorators = getattr(node, "decorator_list", []) if decorated else []
        begin = min([node.lineno, *(each.lineno for each in decorators)])
        return "\n".join(self.lines[begin - 1 : node.end_lineno])


@cache
def _module(file: Path) -> _Module:
    with tokenize.open(file) as opened:  # the encoding as Python finds it: a byte order mark or a coding comment
        text = opened.read()
    body = ast.parse(text).body
    tops = {name: node for node in body for name in _names(node)}
    patterns = {name: declared for name, node in tops.items() if (declared := _pattern_name(node)) is not None}
    variants = {
        (of, node.name): node
        for node in body
        if isinstance(node, ast.FunctionDef)
        for of in ("", *(patterns[name] for name in _decorated_by(node) if name in patterns))
    }
    return _Module(file, text.splitlines(), tops, dict(relative_imports(file, body)), variants)


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def _pattern_name(node: ast.stmt) -> str | None:
    """The name in an assignment such as ``p = Pattern("name", ...)``, or None."""
    call = node.value if isinstance(node, ast.Assign) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Pattern"):
        return None
    named = [keyword.value for keyword in call.keywords if keyword.arg == "name"]
    return next((str(each.value) for each in (*named, *call.args[:1]) if isinstance(each, ast.Constant)), None)


def _decorated_by(node: ast.FunctionDef) -> set[str]:
    """Names in front of its decorators: ``pattern`` of ``@pattern.naive``."""
    return {name.id for each in node.decorator_list for name in ast.walk(each) if isinstance(name, ast.Name)}


def relative_imports(file: Path, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, tuple[Path, str]]]:
    """The names that statements of a file import relatively: a module's file, and a name in that, or "" for all."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                name = alias.asname or alias.name
                if (module := folder / f"{alias.name}.py").is_file():
                    yield name, (module, "")
                elif (module := folder.with_suffix(".py")).is_file():
                    yield name, (module, alias.name)


def _used(module: _Module, node: ast.stmt) -> Iterator[tuple[_Module, ast.stmt, str]]:
    """The names that a definition uses, without patterns and their decorators."""
    bodies = node.body if isinstance(node, ast.FunctionDef | ast.ClassDef) else [node]
    arguments = [node.args] if isinstance(node, ast.FunctionDef) else []
    for each in (part for whole in (*arguments, *bodies) for part in ast.walk(whole)):
        if isinstance(each, ast.Name):
            yield from _meant(module, each.id)
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            file, inside = module.imports.get(each.value.id, (None, ""))
            if file is not None and not inside:
                yield from _meant(_module(file), each.attr)


def _meant(module: _Module, name: str) -> Iterator[tuple[_Module, ast.stmt, str]]:
    file, inside = module.imports.get(name, (None, ""))
    if file is not None and inside:
        yield from _meant(_module(file), inside)
    elif name in module.tops and _pattern_name(module.tops[name]) is None:
        yield module, module.tops[name], name
