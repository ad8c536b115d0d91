"""Links of the site: those that lead out of docs/ on the way in, and every one of what was built."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

#: A link that is no picture and has none in it; and where any link or picture leads.
_LINK: Final = re.compile(r"(?<!!)\[([^\][]*)\]\(([^)\s]+)\)")
_TARGET: Final = re.compile(r"\]\(([^)\s]+)\)")

#: What a browser fetches by itself.
_FETCHED: Final = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}


def within(markdown: str, repository_path: str, site_path: str, places: Mapping[str, str]) -> str:
    """A page whose links lead to pages of the site; one to a file that the site has not is its text alone.

    Args:
        markdown: of the page.
        repository_path: where it lies in the repository, such as docs/runs.md.
        site_path: where it lies in the site, such as runs.md.
        places: of each file in the site, by its place in the repository.
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
    """What is wrong with the HTML of a built site: links that lead nowhere, and what a browser fetches elsewhere."""
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
