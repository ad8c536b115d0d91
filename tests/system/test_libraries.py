"""Finding and opening the runtime's libraries."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from numba_sycl import libraries

pytestmark = pytest.mark.usefixtures("pinned")


@pytest.fixture
def prefix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The ``lib`` folder of an empty environment, on a system that has no library either."""
    folder = tmp_path / "lib"
    folder.mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(libraries, "_recorded_folders", lambda: ())
    monkeypatch.setattr(libraries, "open_library", lambda name: f"{name}: not here")
    return folder


def fill(folder: Path, *, without: str = "") -> None:
    for name, _ in (*libraries.LIBRARIES, *libraries.PLUGINS):
        if name != without:
            (folder / name).touch()


def test_a_full_environment_misses_nothing(prefix: Path) -> None:
    fill(prefix)
    assert libraries.missing_libraries() == {}


@pytest.mark.parametrize(("name", "package"), [*libraries.LIBRARIES, *libraries.PLUGINS])
def test_each_missing_library_is_named_with_its_package(prefix: Path, name: str, package: str) -> None:
    fill(prefix, without=name)
    missing = libraries.missing_libraries()
    assert missing[name] == package
    assert set(missing) == {name}


def test_the_systems_library_will_do(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(prefix, without="libOpenCL.so.1")
    monkeypatch.setattr(libraries, "open_library", lambda name: None)
    assert libraries.missing_libraries() == {}


def test_a_whole_runtime_of_the_system_will_do(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not list(prefix.iterdir())
    monkeypatch.setattr(libraries, "open_library", lambda name: None)
    assert libraries.missing_libraries() == {}


def test_libraries_are_opened_in_order_by_full_path(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(prefix, without="libOpenCL.so.1")
    opened: list[str] = []
    monkeypatch.setattr(libraries, "open_library", opened.append)
    assert libraries.load_libraries() is None
    wanted = [name if name == "libOpenCL.so.1" else str(prefix / name) for name, _ in libraries.LIBRARIES]
    assert opened == wanted


def test_the_first_that_cannot_be_opened_is_named(prefix: Path) -> None:
    fill(prefix)
    package, reason = libraries.load_libraries() or ("", "")
    assert package == "intel-cmplr-lib-rt"
    assert reason == f"{prefix / 'libintlc.so.5'}: not here"


def test_libraries_elsewhere_are_found_by_the_packages_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Recorded:
        name = "libsycl.so.7"

        def locate(self) -> Path:
            return tmp_path / "site-packages" / ".." / "lib" / self.name

    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(importlib.metadata, "files", lambda package: [Recorded()])
    libraries._recorded_folders.cache_clear()
    try:
        assert list(libraries.library_folders()) == [tmp_path / "venv" / "lib", tmp_path / "lib"]
    finally:
        libraries._recorded_folders.cache_clear()


def test_opening_says_in_one_line_why_it_failed(tmp_path: Path) -> None:
    broken = tmp_path / "libbroken.so"
    broken.write_bytes(b"no library at all")
    reason = libraries.open_library(str(broken))
    assert reason is not None
    assert str(broken) in reason
    assert "\n" not in reason
    assert "libnothere.so.9" in (libraries.open_library("libnothere.so.9") or "")


def test_opening_a_library_that_works() -> None:
    assert libraries.open_library("libc.so.6") is None
