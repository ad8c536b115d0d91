"""How large the house is, by room: ``python -m tools.house_size [COMMIT]``; without a commit, the working tree.

``--since COMMIT`` prints as Markdown which files of the working tree have more code than they had in that commit.

Rooms and floors are those of the contract "rooms" in `pyproject.toml`. A code line is one that has code: no blank, no
comment, no docstring, no import.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_NO_CODE: Final = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


def code_lines(source: str) -> int:
    """Lines of a module that have code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (isinstance(node, ast.Expr) and _is_text(node.value)):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _is_text(value: ast.expr) -> bool:
    """True for a string: where nothing takes it, a docstring."""
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def sources(commit: str) -> Mapping[str, str]:
    """Modules of `harness` and `tools` by their paths, of a commit or for "" of the working tree."""
    if not commit:
        found = (path for folder in ("harness", "tools") for path in (ROOT / folder).rglob("*.py"))
        return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in found}
    listed = _git("ls-tree", "-r", "--name-only", commit, "harness", "tools").splitlines()
    return {path: _git("show", f"{commit}:{path}") for path in listed if path.endswith(".py")}


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def floors(commit: str, rooms: set[str]) -> list[list[str]]:
    """The rooms of each floor, from the top; what is one file alone is no room."""
    name = "pyproject.toml"
    settings = tomllib.loads(_git("show", f"{commit}:{name}") if commit else (ROOT / name).read_text(encoding="utf-8"))
    (contract,) = (one for one in settings["tool"]["importlinter"]["contracts"] if one["name"] == "rooms")
    named = ([room for room in re.split(r" [|:] ", layer) if room in rooms] for layer in contract["layers"])
    return [floor for floor in named if floor]


def by_room(files: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The modules of each room; those of `tools` and single files each under one name."""
    rooms: dict[str, dict[str, str]] = defaultdict(dict)
    for path, source in files.items():
        parts = path.removeprefix("harness/").removeprefix("xebench/").split("/")
        rooms[parts[0] if len(parts) > 1 else "(single files)"][path] = source
    return rooms


def _rows(rooms: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for room, files in sorted(rooms.items(), key=lambda one: -sum(map(code_lines, one[1].values()))):
        yield f"{room:15} {len(files):5} {sum(map(code_lines, files.values())):6}"


def main(commit: str) -> None:
    """Print the table."""
    files = sources(commit)
    rooms = by_room(files)
    levels = floors(commit, set(rooms))
    print(f"{'':15} files   code")
    print(*_rows(rooms), sep="\n")
    lengths = [len(source.splitlines()) for source in files.values()]
    print(f"rooms {sum(map(len, levels))}, floors {len(levels)}, files {len(files)}", end=", ")
    print(f"code lines {sum(map(code_lines, files.values()))}")
    print(f"lines of a file: median {median(lengths):.0f}, largest {max(lengths)}", end="; ")
    print(f"{sum(length < 30 for length in lengths)} below 30, {sum(length > 450 for length in lengths)} above 450")


def grown(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """A Markdown table of the files with more code now, by room, each room with its sum.

    Args:
        then: modules by their paths, see `sources`.
        now: modules, later.
    """
    yield "A file that was not there counts 0 then, also where it was moved, renamed, or merged of others: so the sums"
    yield "say what these files gained, not what their room did.\n"
    yield "| file | code lines then | now | what it is |\n|---|--:|--:|---|"
    for room, files in sorted(by_room(now).items()):
        counts = {path: (code_lines(then.get(path, "")), code_lines(source)) for path, source in sorted(files.items())}
        more = {path: count for path, count in counts.items() if count[1] > count[0]}
        for path, (before, after) in more.items():
            yield f"| `{path}` | {before} | {after} | {_first_sentence(files[path])} |"
        if more:
            before, after = map(sum, zip(*more.values(), strict=True))
            yield f"| **{room}** | **{before}** | **{after}** | {after - before} more in {len(more)} files |"


def _first_sentence(source: str) -> str:
    text = " ".join((ast.get_docstring(ast.parse(source)) or "").split())
    return re.split(r"(?<=[.?!])\s", text, maxsplit=1)[0].replace("|", "\\|")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--since"]:
        print(*grown(sources(sys.argv[2]), sources("")), sep="\n")
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "")
