"""What mkdocs calls (`hooks` of mkdocs.yml): gives it the generated pages, mends links, and looks at what was built."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tools.pages import site, site_links
from xebench.patterns.registry import discover, portable_source


def _from_repository() -> dict[str, Path]:
    """Pages of the repository outside of docs/ with their pictures, by their place in the site."""
    paths = [path for path in site.ROOT.glob("results/**/*") if path.suffix in (".md", ".svg")]
    found = {path.relative_to(site.ROOT).as_posix(): path for path in [*paths, site.ROOT / "CHANGELOG.md"]}
    return {**found, "index.md": site.ROOT / "README.md"}


@cache
def _lessons() -> dict[str, str]:
    """Pages of lessons, by their pattern files in the repository."""
    return {portable_source(info.source): site.lesson_page(info) for info in discover()}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that docs/ has not, and the contents."""
    from mkdocs.structure.files import File

    docs = sorted(Path(file.src_uri).stem for file in files.documentation_pages() if "/" not in file.src_uri)
    config.nav = site.nav(docs, discover())
    for place, path in _from_repository().items():
        files.append(File.generated(config, place, abs_src_path=str(path)))
    for place, text in site.pages().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead links to the site's own pages."""
    place = page.file.src_uri
    if place.startswith("lessons/") or place == "api.md":
        return markdown
    places = {_in_repository(file.src_uri): file.src_uri for file in files}
    return site_links.within(markdown, _in_repository(place), place, places | _lessons())


def _in_repository(place: str) -> str:
    if place == "index.md":
        return "README.md"
    return place if place.startswith(("results/", "CHANGELOG")) else f"docs/{place}"


def on_post_build(config: Any) -> None:
    """End with an error where a link leads nowhere, or something would be fetched when a page is read."""
    from mkdocs.exceptions import PluginError

    found = list(site_links.faults(Path(config.site_dir)))
    if found:
        raise PluginError("\n".join(found))
