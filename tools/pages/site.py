"""The pages of the site that no folder has: lessons, their contents by the guide's chapters, claims, coverage, tables,
and the API reference.

`make site` builds the site with mkdocs-material, which calls the hooks at the end of this file (`hooks` of mkdocs.yml):
they give it these pages, mend links, and look at what was built. Nothing of these pages is committed.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import click

import xebench
from tools.pages import atlas, claims, declared, generated_code, guide
from tools.pages.claims import RESULTS, SOURCE, Answered, told
from xebench.cli.main import commands
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.registry import discover, portable_source
from xebench.patterns.variant_source import code_of
from xebench.report.page import code
from xebench.report.table_forms import table

#: A link that is no picture and has none in it; and where any link or picture leads.
_LINK: Final = re.compile(r"(?<!!)\[([^\][]*)\]\(([^)\s]+)\)")
_TARGET: Final = re.compile(r"\]\(([^)\s]+)\)")

#: What a browser fetches by itself.
_FETCHED: Final = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}


def within(markdown: str, repository_path: str, site_path: str, places: Mapping[str, str]) -> str:
    """A page whose links lead to pages of the site; one to a file that the site has not is its text alone.

    Args:
        markdown: text of the page.
        repository_path: its path in the repository, such as docs/runs.md.
        site_path: its path in the site, such as runs.md.
        places: path of each file in the site, by its path in the repository.
    """

    def place_of(target: str) -> str | None:
        path = target.partition("#")[0]
        return places.get(posixpath.normpath(posixpath.join(posixpath.dirname(repository_path), path)))

    def is_ours(target: str) -> bool:
        return "://" not in target and not target.startswith("#")

    def without_dead_link(found: re.Match[str]) -> str:
        words, target = found.groups()
        return words if is_ours(target) and place_of(target) is None else found[0]

    def renewed(found: re.Match[str]) -> str:
        place = place_of(found[1]) if is_ours(found[1]) else None
        if place is None:
            return found[0]
        _, mark, anchor = found[1].partition("#")
        return f"]({posixpath.relpath(place, posixpath.dirname(site_path))}{mark}{anchor})"

    return _TARGET.sub(renewed, _LINK.sub(without_dead_link, markdown))


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {value for value in (values.get("id"), values.get("name")) if value}
        if tag == "a" and (link := values.get("href")):
            self.links.append(link)
        if fetched := values.get(_FETCHED.get(tag, "")):
            self.fetched.append(fetched)


def faults(site: Path) -> Iterator[str]:
    """The faults of a built site's HTML: links that lead nowhere, and files that a browser fetches elsewhere."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        where = path.relative_to(site)
        yield from (f"{where} fetches {link}" for link in page.fetched if urlsplit(link).netloc)
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or where.name == "404.html":  # that one is shown at any place
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{where} leads to {link}, which is not there"
            elif (
                parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors | {"__top"}
            ):
                yield f"{where} leads to {link}, and there is no such place in it"


ROOT: Final = RESULTS.parent

#: The site's parts with their pages of docs/. Pages that are in none are added to the last.
_PARTS: Final[Mapping[str, Sequence[str]]] = {
    "Tutorials": ("first-run", "first-pattern", "advice", "teaching"),
    "How to": (
        "installing", "your-gpu", "runs", "report", "comparing", "any-callable", "pytest", "adding-a-pattern",
        "kernel-languages", "several-devices",
        "several-hosts", "without-a-gpu", "other-gpus", "numba-dpex",
    ),
    "Results": ("results/README", "results/atlas", "claims", "coverage", "generated-code", "native-twins"),
    "Reference": ("commands", "api", "data", "glossary"),
    "How it works": ("measurement", "roofline", "noise-study", "stacks", "dpex", "compiler", "architecture"),
}  # fmt: skip

#: Pages that are made when the site is built.
MADE: Final = ("api", "claims", "commands", "coverage", "data")

#: The head of a page without contents beside it, so that lines of code have room.
_WIDE: Final = "---\nhide: [toc]\n---\n\n"

#: Beside what `xebench` itself has.
_MORE_API: Final = ("xebench.session.session.Session", "xebench.results.Run", "xebench.results.compare_runs")


def pages() -> dict[str, str]:
    """Markdown of every generated page, by its place in the site."""
    infos = discover()
    answered = Answered(infos, atlas.stored_runs() if RESULTS.is_dir() else {}, {})
    compilers = code.read()
    rows = {name: [*own] for name, own in groupby(atlas.rows(answered), key=lambda row: row.info.name)}
    devices = [*atlas.by_device(answered.runs)]
    made = {lesson_page(info): lesson(info, rows.get(info.name, []), devices, compilers) for info in infos}
    made |= {"claims.md": claims.page(), "coverage.md": declared.coverage(infos), "data.md": declared.columns()}
    return {**made, "lessons/index.md": contents(infos), "api.md": api(), "commands.md": help_of_commands()}


def nav(docs: Sequence[str], infos: Sequence[PatternInfo]) -> list[Any]:
    """The site's contents.

    Args:
        docs: names of the pages of docs/, without ``.md``.
        infos: the patterns.
    """
    placed = {name for names in _PARTS.values() for name in names}
    parts: dict[str, list[Any]] = {
        title: [f"{name}.md" for name in names if "/" in name or name in docs] for title, names in _PARTS.items()
    }
    parts["How it works"] += [f"{name}.md" for name in docs if name not in placed]
    lessons: list[Any] = ["lessons/index.md"]
    lessons += [{chapter: [{info.name: lesson_page(info)} for info in own]} for chapter, own in by_chapter(infos)]
    before, after = ("Tutorials", "How to"), ("Results", "Reference", "How it works")
    return [
        {"xebench": "index.md"},
        *({title: parts[title]} for title in before),
        {"Lessons": lessons},
        *({title: parts[title]} for title in after),
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
    claims = [told(row.said, [each.words for each in row.cells])[1:] for row in rows]
    page = guide.page_of(info.guide)
    parts = [
        f"# {info.name}",
        f"*[{info.guide}]({page})*, in Intel's guide" if info.guide else "",
        ast.get_docstring(ast.parse(text)) or info.lesson,
        f"It stands in for what cannot be said: {info.stand_in}" if info.stand_in else "",
        "## Variants",
        "\n".join(table(("variant", "role", "what it does"), variants)),
        *(("## What is claimed, and what was measured",) if claims else ()),
        _linked("\n".join(table(("claim", *devices, *SOURCE), claims)), page) if claims else "",
        f"Here: `xebench show {info.name}`, `xebench run {info.name}`.",
        "## Code",
        f"`{portable_source(info.source)}`",
        f"```python\n{text.rstrip()}\n```",
        *_code_of_other_files(info, text),
        *(("## Generated code", "\n".join(kernels)) if kernels else ()),
        "What the columns mean is on [the page of the whole suite](../generated-code.md)." if kernels else "",
    ]
    return _WIDE + "\n\n".join(part for part in parts if part) + "\n"


def api() -> str:
    """The reference of what `xebench` offers, from its docstrings."""
    names = [*(f"xebench.{name}" for name in xebench.__all__), *_MORE_API]
    head = "# API\n\nWhat pattern files, scripts and notebooks import from `xebench`.\n"
    return "\n".join([head, *(f"::: {name}\n" for name in names)])


def _linked(text: str, page: str) -> str:
    """A table whose lines of the guide lead to Intel's page; it may be of another version, so the line stays."""
    return re.sub(r"\bG \d+(?: to \d+)?", lambda line: f"[{line[0]}]({page})", text)


def _code_of_other_files(info: PatternInfo, text: str) -> Iterator[str]:
    """The kernels and helpers that the pattern's variants use and that are not in its file, under their files."""
    found = {
        (part.file, part.text): None
        for variant in info.variants
        for part in code_of(Path(info.source), info.name, variant.name)
        if part.text not in text
    }
    for file, parts in groupby(sorted(found, key=lambda part: part[0]), key=lambda part: part[0]):
        code_of_file = "\n\n\n".join(part for _, part in parts)
        yield f"What it uses of `{portable_source(str(file))}`:"
        yield f"```python\n{code_of_file}\n```"


def help_of_commands() -> str:
    """The reference of the command line: the help of each command."""
    context = click.Context(commands, info_name="xebench", max_content_width=100)
    parts = ["# Commands", f"```text\n{commands.get_help(context)}\n```"]
    for name in commands.list_commands(context):
        command = commands.get_command(context, name)
        assert command is not None
        own = click.Context(command, parent=context, info_name=name, max_content_width=100)
        parts += [f"## xebench {name}", f"```text\n{command.get_help(own)}\n```"]
    return "\n\n".join([*parts, "[Exit statuses](runs.md#exit-statuses)"]) + "\n"


def _from_repository() -> dict[str, Path]:
    """Pages of the repository outside of docs/ with their pictures, by their place in the site."""
    paths = [path for path in ROOT.glob("results/**/*") if path.suffix in (".md", ".svg")]
    found = {path.relative_to(ROOT).as_posix(): path for path in [*paths, ROOT / "CHANGELOG.md"]}
    return {**found, "index.md": ROOT / "README.md"}


@cache
def _lessons() -> dict[str, str]:
    """Pages of lessons, by their pattern files in the repository."""
    return {portable_source(info.source): lesson_page(info) for info in discover()}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that docs/ has not, and the contents."""
    from mkdocs.structure.files import File

    docs = {Path(file.src_uri).stem for file in files.documentation_pages() if "/" not in file.src_uri}
    config.nav = nav(sorted(docs | {*MADE}), discover())
    for place, path in _from_repository().items():
        files.append(File.generated(config, place, abs_src_path=str(path)))
    for place, text in pages().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead links to the site's own pages."""
    place = page.file.src_uri
    if place.startswith("lessons/") or place == "api.md":
        return markdown
    places = {_in_repository(file.src_uri): file.src_uri for file in files}
    return within(markdown, _in_repository(place), place, places | _lessons())


def _in_repository(place: str) -> str:
    if place == "index.md":
        return "README.md"
    return place if place.startswith(("results/", "CHANGELOG")) else f"docs/{place}"


def on_post_build(config: Any) -> None:
    """End with an error where a link leads nowhere, or something would be fetched when a page is read."""
    from mkdocs.exceptions import PluginError

    found = list(faults(Path(config.site_dir)))
    if found:
        raise PluginError("\n".join(found))
