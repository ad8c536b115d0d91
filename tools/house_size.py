"""How large the house is, by room: ``python -m tools.house_size [COMMIT]``; without a commit, the working tree.

``--since COMMIT`` prints as Markdown how much of each file's code was not there in that commit, and what it is for.

Rooms and floors are those of the contract "rooms" in `pyproject.toml`. A code line is one that has code: no blank, no
comment, no docstring, no import.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_NO_CODE: Final = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


def code(source: str) -> list[str]:
    """The lines of a module that have code, without their indentation."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (isinstance(node, ast.Expr) and _is_text(node.value)):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    text = source.splitlines()
    return [text[line - 1].strip() for line in sorted(lines)]


def code_lines(source: str) -> int:
    """The number of lines with code in a module."""
    return len(code(source))


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
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"house_size: {done.stderr.splitlines()[0]}: name a commit of this repository")
    return done.stdout


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


def print_size(commit: str) -> None:
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
    """A Markdown table of the files by room: their code, how much of it is new, and what it is for.

    Args:
        then: modules by their paths, see `sources`.
        now: modules, later.
    """
    left = Counter(line for source in then.values() for line in code(source))
    yield "A line is new if the house had none like it in any file, or fewer: files may be moved, renamed or merged.\n"
    yield "What asked for new lines is given by issue and item (`tools/house_size.toml`).\n"
    yield "| file | code lines | new | what it is | asked by |\n|---|--:|--:|---|---|"
    asked = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["asked"]
    for room, files in sorted(by_room(now).items()):
        counts: dict[str, tuple[int, int]] = {}
        for path, source in sorted(files.items()):
            lines = Counter(code(source))
            new = lines - left
            left -= lines
            counts[path] = lines.total(), new.total()
            why = asked[max((each for each in asked if path.startswith(each)), key=len)] if new.total() else ""
            yield f"| `{path}` | {lines.total()} | {new.total()} | {_first_sentence(source)} | {why} |"
        total, added = map(sum, zip(*counts.values(), strict=True))
        yield f"| **{room}** | **{total}** | **{added}** | {len(files)} files | |"
    yield f"\n{left.total()} lines of then are gone."


def _first_sentence(source: str) -> str:
    text = " ".join((ast.get_docstring(ast.parse(source)) or "").split())
    return re.split(r"(?<=[.?!])\s", text, maxsplit=1)[0].replace("|", "\\|")


def main() -> None:
    """Print the requested sizes."""
    parser = argparse.ArgumentParser(prog="python -m tools.house_size", description="How large the house is, by room.")
    parser.add_argument("commit", nargs="?", default="", help="default: the working tree")
    parser.add_argument("--since", metavar="COMMIT", help="print what is new in each file since then, as Markdown")
    asked = parser.parse_args()
    if asked.since:
        print(*grown(sources(asked.since), sources("")), sep="\n")
    else:
        print_size(asked.commit)


if __name__ == "__main__":
    main()
