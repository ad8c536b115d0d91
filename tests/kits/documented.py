"""The commands of README and docs: those of ``sh`` fences, and those in a line that make, Python or pip runs."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ("README.md", *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").glob("*.md")))

_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELLS: Final = ("sh", "bash", "console")
_INLINE: Final = re.compile(r"`((?:make|python|pip install) [^`]+)`")
#: An indented block that looks like a command: it belongs into a fence.
INDENTED: Final = re.compile(r"^    (?:\.venv/bin/|xebench |make |pip |python |pytest |dask )", re.MULTILINE)


@dataclass(frozen=True)
class Fence:
    """A piece of a page between fences."""

    language: str
    text: str


def fences(page: str) -> list[Fence]:
    """All of a page, in order."""
    return [Fence(*found) for found in _FENCE.findall((ROOT / page).read_text(encoding="utf-8"))]


def commands(page: str) -> list[str]:
    """The commands of a page without their comments, each once, in the order in which a reader meets them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found: dict[str, None] = {}
    at = 0
    for fence in [*_FENCE.finditer(text), None]:
        prose = text[at : fence.start() if fence else len(text)]
        found |= dict.fromkeys(" ".join(inline.split()) for inline in _INLINE.findall(prose))
        if fence is None:
            break
        at = fence.end()
        if fence[1] in _SHELLS:
            found |= dict.fromkeys(shlex_join(line) for line in fence[2].splitlines() if line.strip())
    return list(found)


def shlex_join(line: str) -> str:
    """A line of shell without its comment; quotes stay as they are written."""
    words = shlex.shlex(line, posix=False, punctuation_chars=False)
    words.whitespace_split, words.commenters = True, "#"
    return " ".join(words)
