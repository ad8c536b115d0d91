"""Which stack an environment has, and what is asked of the current one."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from numba_sycl import libraries, stacks
from numba_sycl.stacks import Stack
from xebench.system.runtime import loading, packages


@pytest.fixture
def current(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment without numba-dpex, whose dpctl is of today."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(stacks, "_dpctl_version", lambda: "0.22.1")
    monkeypatch.setattr(packages, "in_conda", lambda: False)
    stacks.stack.cache_clear()
    yield
    stacks.stack.cache_clear()


@pytest.mark.numba_dpex
def test_where_numba_dpex_is_the_stack_is_pinned() -> None:
    assert stacks.stack() is Stack.PINNED
    assert not stacks.is_current()


@pytest.mark.usefixtures("current")
def test_without_numba_dpex_it_is_current() -> None:
    assert stacks.stack() is Stack.CURRENT


@pytest.mark.usefixtures("current")
def test_a_pinned_set_that_lost_numba_dpex_is_a_broken_pinned_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "_dpctl_version", lambda: "0.17.0")
    assert stacks.stack() is Stack.PINNED


@pytest.mark.usefixtures("current")
@pytest.mark.parametrize(("version", "status"), [((3, 10), "error"), ((3, 11), "ok"), ((3, 12), "ok"), ((3, 14), "ok")])
def test_any_python_from_3_11_on_will_do(version: tuple[int, int], status: str) -> None:
    assert packages.python_finding(version).status == status


@pytest.mark.usefixtures("current")
@pytest.mark.parametrize(
    ("dpctl", "status"), [(None, "error"), ("0.18.3", "error"), ("0.20.2", "error"), ("0.21.1", "ok"), ("1.0", "ok")]
)
def test_dpctl_must_be_of_a_version_that_can_be_loaded(dpctl: str | None, status: str) -> None:
    versions = {"dpctl": dpctl, "dpnp": "0.20.0", "numpy": "2.5.5"}
    found = {finding.title: finding for finding in packages.current_findings(versions.get)}
    assert found["dpctl"].status == status
    if status == "error":
        assert "0.21 or later is needed" in found["dpctl"].detail
        words = shlex.split(found["dpctl"].next_step)
        assert words == ["run", sys.executable, "-m", "pip", "install", "--upgrade", "dpctl"]


@pytest.mark.usefixtures("current")
def test_nothing_of_the_pinned_set_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert {finding.title for finding in packages.package_findings()} == {"dpctl", "dpnp", "numpy"}
    assert libraries.missing_libraries() == {}
    assert libraries.load_libraries() is None
    assert loading.compiler_finding().status != "error"


@pytest.mark.usefixtures("current")
@pytest.mark.parametrize(
    ("numba", "status"),
    [
        (None, "warning"),
        ("0.59.1", "warning"),
        ("0.62.0", "ok"),
        ("0.68.1", "ok"),
        ("0.69.0rc1", "warning"),
        ("1.0", "warning"),
    ],
)
def test_numba_is_of_a_version_that_was_seen_to_compile(numba: str | None, status: str) -> None:
    finding = packages.numba_finding({"numba": numba, "llvmlite": "0.50.0"}.get)
    assert finding.status == status
    if status == "warning":
        assert shlex.split(finding.next_step)[-1] == "numba>=0.62,<0.69"
    else:
        assert finding.detail == f"compiled by numba {numba} (llvmlite 0.50.0)"


def test_the_range_of_numba_is_the_one_that_is_installed() -> None:
    first, beyond = stacks.NUMBA
    required = importlib.metadata.requires("xebench") or ()
    old, new = sorted((one for one in required if re.match("numba[^-].*python_version", one)), key=len, reverse=True)
    assert f"<{beyond}," in old
    assert new.startswith(f"numba<{beyond},>={first};")


@pytest.mark.usefixtures("current")
def test_the_sycl_runtime_is_found_whatever_its_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:

    (tmp_path / "libsycl.so.9").touch()
    monkeypatch.setattr(libraries, "library_folders", lambda: [tmp_path])
    assert libraries.sycl_library() == tmp_path / "libsycl.so.9"
