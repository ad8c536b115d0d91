"""docs/architecture.md says of the rooms what the import contracts of pyproject.toml and the imports say."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
#: What the table leaves out, since every room may import it.
FOR_ALL = {"errors", "vocabulary"}

#: Room, concern, rooms that it imports, whether it may know SYCL.
Table = Mapping[str, tuple[str, set[str], bool]]


@pytest.fixture(scope="module")
def contracts() -> dict[str, dict[str, object]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return {contract["name"]: contract for contract in settings["contracts"]}


@pytest.fixture(scope="module")
def table() -> Table:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| ?(.*?) ?\| ?(yes|) ?\|$", PAGE, re.MULTILINE)
    return {room: (concern, set(filter(None, rooms.split(", "))), sycl == "yes") for room, concern, rooms, sycl in rows}


def layers_of_the_picture() -> list[str]:
    """One text a layer, with the separators of import-linter: ``a | b`` or ``a : b``."""
    return [" ".join(layer.split()) for layer in re.findall(r"^ {3}\| (.+) \| {3}\w", PAGE, re.MULTILINE)]


def room_of(module: str) -> str:
    return module.removeprefix("xebench.").split(".")[0]


def test_the_picture_is_the_contract(contracts: dict[str, dict[str, object]]) -> None:
    assert layers_of_the_picture() == contracts["rooms"]["layers"]


def test_the_table_has_every_room_in_the_order_of_the_picture(table: Table) -> None:
    rooms = re.findall(r"\w+", " ".join(layers_of_the_picture()))
    assert list(table) == rooms
    files = {
        path.stem
        for path in (ROOT / "harness" / "xebench").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert set(rooms) == files - {"__init__"}


def test_the_table_has_the_imports_that_there_are(table: Table) -> None:
    graph = grimp.build_graph("xebench", cache_dir=None)
    imports: dict[str, set[str]] = defaultdict(set)
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            imports[room_of(module)].add(room_of(imported))
    for room, (_, rooms, _) in table.items():
        assert rooms == imports[room] - FOR_ALL - {room, "xebench"}, f"the imports of {room}"


def test_the_rooms_that_do_not_know_sycl_are_those_of_the_contract(
    table: Table, contracts: dict[str, dict[str, object]]
) -> None:
    contract = contracts["rooms that run on a laptop with a run folder do not know SYCL"]
    assert contract["source_modules"] == sorted(f"xebench.{room}" for room, (_, _, sycl) in table.items() if not sycl)


def test_modules_that_the_page_names_exist(table: Table) -> None:
    names = [name for name in re.findall(r"`(?:xebench\.)?(\w+(?:\.\w+)+)`", PAGE) if name.split(".")[0] in table]
    assert len(names) > 20
    for name in names:
        place = ROOT.joinpath("harness", "xebench", *name.split("."))
        function = place.parent / "__init__.py"
        exported = function.exists() and f'"{place.name}"' in function.read_text(encoding="utf-8")
        assert place.with_suffix(".py").exists() or place.is_dir() or exported, name
