"""The pages of the site that no folder has: a page a lesson, the contents by the guide's chapters, the API reference.

`make site` builds the site with mkdocs-material; `tools.pages.site_hook` gives it these pages. Nothing of them is
committed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import xebench
from tools.pages import atlas, generated_code
from tools.pages.claim_answers import RESULTS
from tools.pages.claims import Answered, told
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.registry import discover, portable_source
from xebench.report.page import code
from xebench.report.table_forms import table

ROOT: Final = RESULTS.parent

#: What a reader takes up first, and what is built on; pages of docs/ that are in neither come after them.
_FIRST: Final = ("your-gpu", "runs", "any-callable", "pytest", "adding-a-pattern", "several-hosts", "glossary")
_RESULTS: Final = ("claims", "coverage", "generated-code", "native-twins", "noise-study", "projection", "other-gpus")

#: Beside what `xebench` itself has.
_MORE_API: Final = ("xebench.tables.Run", "xebench.tables.compare_runs")


def pages() -> dict[str, str]:
    """Markdown of every generated page, by its place in the site."""
    infos = discover()
    answered = Answered(infos, atlas.stored_runs() if RESULTS.is_dir() else {}, {})
    compilers = code.read()
    rows = {name: [*own] for name, own in groupby(atlas.rows(answered), key=lambda row: row.info.name)}
    devices = [*atlas.by_device(answered.runs)]
    made = {lesson_page(info): lesson(info, rows.get(info.name, []), devices, compilers) for info in infos}
    return {**made, "lessons/index.md": contents(infos), "api.md": api()}


def nav(docs: Sequence[str], infos: Sequence[PatternInfo]) -> list[Any]:
    """The site's contents.

    Args:
        docs: names of the pages of docs/, without ``.md``.
        infos: the patterns.
    """
    others = [name for name in docs if name not in (*_FIRST, *_RESULTS)]
    lessons: list[Any] = ["lessons/index.md"]
    lessons += [{chapter: [{info.name: lesson_page(info)} for info in own]} for chapter, own in by_chapter(infos)]
    return [
        {"xebench": "index.md"},
        {"Using it": [f"{name}.md" for name in _FIRST if name in docs]},
        {"Lessons": lessons},
        {"Results": ["results/README.md", "results/atlas.md", *(f"{name}.md" for name in _RESULTS if name in docs)]},
        {"API": "api.md"},
        {"How it works": [f"{name}.md" for name in others]},
        {"Changes": "CHANGELOG.md"},
    ]


def lesson_page(info: PatternInfo) -> str:
    """The place of a lesson's page."""
    return f"lessons/{info.name}.md"


def by_chapter(infos: Sequence[PatternInfo]) -> Iterator[tuple[str, list[PatternInfo]]]:
    """The chapters of the guide that patterns are about, in its order, each with its patterns."""
    chapters: dict[str, list[PatternInfo]] = {}
    for info in infos:
        chapters.setdefault(info.guide.partition(" / ")[0], []).append(info)
    yield from sorted(chapters.items(), key=lambda item: min(map(_line, item[1])))


def _line(info: PatternInfo) -> float:
    """The first line of the guide that the pattern's claims are from."""
    sources = [claim.source for variant in info.variants for claim in variant.claims]
    return min((float(number) for source in sources for number in re.findall(r"G (\d+)", source)), default=float("inf"))


def contents(infos: Sequence[PatternInfo]) -> str:
    """The guide's chapters with their lessons."""
    parts = ["# Lessons, by the guide's chapters"]
    for chapter, own in by_chapter(infos):
        lines = [f"- [{info.name}]({info.name}.md): {info.lesson}" for info in own]
        parts += [f"## {chapter}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def lesson(
    info: PatternInfo, rows: Sequence[atlas.Row], devices: Sequence[str], compilers: Sequence[Mapping[str, Any]]
) -> str:
    """The page of a pattern: what it teaches, what is claimed and answered, its code, and what compilers made of it."""
    source = Path(info.source)
    text = source.read_text(encoding="utf-8")
    kernels = generated_code.kernels(compilers, info.name)
    variants = [(f"`{each.name}`", each.role, each.summary) for each in info.variants]
    claims = [(*told(row.said)[1:], *(each.words for each in row.cells)) for row in rows]
    parts = [
        f"# {info.name}",
        f"*{info.guide}*" if info.guide else "",
        ast.get_docstring(ast.parse(text)) or info.lesson,
        f"It stands in for what cannot be said: {info.stand_in}" if info.stand_in else "",
        "## Variants",
        "\n".join(table(("variant", "role", "what it does"), variants)),
        *(("## What is claimed, and what was measured",) if claims else ()),
        "\n".join(table(("claim", "strength", "source", "figure", *devices), claims)) if claims else "",
        f"Here: `xebench show {info.name}`, `xebench run {info.name}`.",
        "## Code",
        f"`{portable_source(info.source)}`",
        f"```python\n{text.rstrip()}\n```",
        *(("## Generated code", "\n".join(kernels)) if kernels else ()),
        "What the columns mean is on [the page of the whole suite](../generated-code.md)." if kernels else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def api() -> str:
    """The reference of what `xebench` offers, from its docstrings."""
    names = [*(f"xebench.{name}" for name in xebench.__all__), *_MORE_API]
    head = "# API\n\nWhat pattern files, scripts and notebooks import from `xebench`.\n"
    return "\n".join([head, *(f"::: {name}\n" for name in names)])
