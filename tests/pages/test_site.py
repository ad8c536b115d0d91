"""The site's generated pages, its links, and what looks for faults in it; `make site` builds it, with mkdocs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

import xebench
from tools.pages import guide, site
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.registry import discover
from xebench.patterns.variant_source import code_of
from xebench.report.page import code

ROOT = Path(__file__).parents[2]
INFOS = discover()
PLACES = {
    "docs/runs.md": "runs.md",
    "docs/img/a.png": "img/a.png",
    "README.md": "index.md",
    "benchmarks/slm/a.py": "lessons/a.md",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [runs](docs/runs.md#budget)", "see [runs](../runs.md#budget)"),
        ("[a](benchmarks/slm/a.py), [top](README.md)", "[a](../lessons/a.md), [top](../index.md)"),
        ("[`b`](benchmarks/slm/b.py) is not there", "`b` is not there"),
        ("[![a](docs/img/a.png)](docs/runs.md)", "[![a](../img/a.png)](../runs.md)"),
        ("[two\nlines](docs/runs.md)", "[two\nlines](../runs.md)"),
        (
            "[here](#below) and [there](https://example.com/a.md)",
            "[here](#below) and [there](https://example.com/a.md)",
        ),
    ],
)
def test_links_lead_to_pages_of_the_site(text: str, expected: str) -> None:
    assert site.within(text, "README.md", "results/index.md", PLACES) == expected


def test_what_is_wrong_with_a_built_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h1 id="top">a</h1><a href="b.html#x">b</a><script src="c.js"></script>')
    (tmp_path / "b.html").write_text('<p id="x">b</p><a href="https://example.com">out</a><a href="a.html#top">a</a>')
    (tmp_path / "c.js").write_text("")
    assert list(site.faults(tmp_path)) == []
    (tmp_path / "d.html").write_text(
        '<link rel="stylesheet" href="//fonts.example.com/f.css"><img src="https://example.com/a.png">'
        '<a href="none.html">1</a><a href="a.html#bottom">2</a>'
    )
    assert list(site.faults(tmp_path)) == [
        "d.html fetches //fonts.example.com/f.css",
        "d.html fetches https://example.com/a.png",
        "d.html leads to none.html, which is not there",
        "d.html leads to a.html#bottom, and there is no such place in it",
    ]


def test_a_lesson_has_what_it_teaches_claims_code_and_what_compilers_made_of_it() -> None:
    info = next(info for info in INFOS if info.name == "tiled_matmul")
    page = site.lesson(info, [], [], code.read())
    assert "\n\n# tiled_matmul\n\n*[Intel Advisor / Run a GPU Roofline Analysis](https://www.intel.com/" in page
    assert Path(info.source).read_text(encoding="utf-8").rstrip() in page
    for variant in info.variants:
        assert f"| `{variant.name}` | {variant.role} |" in page
    assert "pvc SIMD" in page and "benchmarks/slm/tiled_matmul.py" in page


@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.name)
def test_every_lesson_shows_the_code_of_its_variants(info: PatternInfo) -> None:
    page = site.lesson(info, [], [], [])
    for variant in info.variants:
        assert all(part.text in page for part in code_of(Path(info.source), info.name, variant.name))


def test_a_line_of_the_guide_leads_to_intels_page() -> None:
    row = site._linked("| faster | G 4388 to 4412, G 12 |", guide.page_of("Implicit Scaling / 3D STREAM"))
    page = "https://www.intel.com/content/www/us/en/docs/oneapi/optimization-guide-gpu/2025-0/implicit-scaling.html"
    assert row == f"| faster | [G 4388 to 4412]({page}), [G 12]({page}) |"
    assert guide.page_of("Multiple Stacks / Implicit Scaling, Memory Coloring") == page
    assert guide.page_of("Nowhere / At All").endswith(f"/{guide.CONTENTS}.html")


def test_every_lesson_is_in_the_contents_under_its_chapter_in_the_guides_order() -> None:
    names = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
    (lessons,) = (part["Lessons"] for part in site.nav(names, INFOS) if "Lessons" in part)
    chapters = [chapter for part in lessons[1:] for chapter in part]
    assert chapters.index("Getting Started") < chapters.index("Kernels") < chapters.index("Multiple Stacks")
    listed = [name for part in lessons[1:] for own in part.values() for one in own for name in one]
    assert sorted(listed) == sorted(info.name for info in INFOS)
    page = site.contents(INFOS)
    assert all(f"- [{name}]({name}.md): " in page for name in listed)


def test_every_page_of_docs_is_in_the_contents_once() -> None:
    names = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
    names += site.MADE
    parts = [value for part in site.nav([*names, "a-new-page"], INFOS) for value in part.values()]
    shown = [name for part in parts if isinstance(part, list) for name in part if isinstance(name, str)]
    of_docs = [name.removesuffix(".md") for name in shown if "/" not in name]
    assert sorted(of_docs) == sorted([*names, "a-new-page"])


def test_the_api_has_every_public_name() -> None:
    page = site.api()
    assert all(f"::: xebench.{name}\n" in page for name in xebench.__all__)


class _Loader(yaml.SafeLoader):
    """Leaves objects of Python alone."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)


def test_the_sites_settings_fetch_nothing_and_its_packages_are_locked() -> None:
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=_Loader)
    assert settings["theme"]["font"] is False and settings["extra"]["generator"] is False
    assert all((ROOT / "docs" / script).is_file() for script in settings["extra"]["polyfills"])
    assert all((ROOT / hook).is_file() for hook in settings["hooks"])
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["site"]
    lock = (ROOT / "requirements-site.lock").read_text(encoding="utf-8")
    assert all(f"\n{name.partition('>')[0].partition('[')[0]}==" in lock for name in wanted)
    assert "http" not in lock and lock.count("--hash=sha256:") > 60
