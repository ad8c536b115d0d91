"""Every command of README and docs is run as it is written, or with its smallest setting: documented_commands.toml."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import stored
from documented import INDENTED, PAGES, ROOT, commands, fences
from optional import is_here, needs

from numba_sycl.stacks import is_current

TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_name("documented_commands.toml").read_text())
COMMANDS: list[dict[str, Any]] = TABLE["command"]
GROUPS = list(dict.fromkeys(command["group"] for command in COMMANDS))
#: A page's examples in Python that are programs, by their number on it; the others are parts of files.
PROGRAMS = {"README.md": [0], "docs/any-callable.md": [0]}
TIMEOUT_S = 600


def test_the_table_has_the_commands_that_the_pages_have() -> None:
    shown = {command for page in PAGES for command in commands(page)}
    listed = Counter(command["line"] for command in COMMANDS)
    assert not shown - set(listed), "say in tests/documented_commands.toml how they are run"
    assert not set(listed) - shown, "no page has them any more"
    assert max(listed.values()) == 1


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_in_fences(page: str) -> None:
    assert not INDENTED.search((ROOT / page).read_text(encoding="utf-8"))


def test_make_runs_programs_that_there_are() -> None:
    programs = re.findall(r"-m (tools\.[\w.]+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert programs and all(map(find_spec, {*programs}))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder like a checkout in which everything is installed; what commands write stays in it."""
    for entry in ROOT.iterdir():
        if entry.name in ("docs", "tests", "README.md"):
            copy = shutil.copytree if entry.is_dir() else shutil.copy
            copy(entry, tmp_path / entry.name)
        elif not entry.name.startswith(".") and entry.name not in ("runs", "build", "dist"):
            (tmp_path / entry.name).symlink_to(entry)
    venv = tmp_path / ".venv"
    venv.mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (venv / name).symlink_to(Path(sys.prefix) / name)
    (venv / f".installed-{sys.version_info.major}.{sys.version_info.minor}").touch()
    gpus = json.loads((ROOT / "harness/xebench/system/data/gpus.json").read_text(encoding="utf-8"))["gpus"]
    own = next(gpu for gpu in gpus if gpu["code"] == "pvc")
    facts = {name: value for name, value in own.items() if name not in ("code", "name", "products", "notes")}
    (tmp_path / "my-gpu.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in facts.items()))
    return tmp_path


def shell(command: str, folder: Path) -> tuple[int, str, float]:
    """Exit status, last line that is said, and seconds of a command in a checkout whose environment is active."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MAKE", "MFLAGS"))}
    path = f"{folder / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
    begin = time.monotonic()
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**own, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    said = [line for line in done.stdout.splitlines() if line.strip() and not line.startswith("make: ***")]
    return done.returncode, "\n".join(said[-12:]), time.monotonic() - begin


def walk(entries: list[dict[str, Any]], folder: Path) -> None:
    """Run commands in order, and say of each what became of it."""
    failures = []
    for entry in entries:
        if "not_run" in entry:
            print(f"not run: {entry['line']}: {entry['not_run']}")
            continue
        what = entry.get("needs")
        lacking = is_current() if what == "pinned" else what is not None and not is_here(what)
        wanted = TABLE["without"][what] if lacking else entry
        command = entry.get("instead", entry["line"])
        status, said, seconds = shell(command, folder)
        expected = wanted.get("status", 0)
        if expected and command.startswith("make "):
            expected = 2  # whatever the status of what it runs
        fine = status == expected and re.search(wanted.get("ends", ""), said.rpartition("\n")[2])
        how = "ended in its line" if expected else "passed"
        print(f"{how if fine else 'FAILED'}, {seconds:.1f} s: {entry['line']}")
        if not fine:
            failures.append(f"{command}: status {status}\n{said}")
    assert not failures, "\n\n".join(failures)


@pytest.mark.nightly
@stored.needed
@pytest.mark.device
@pytest.mark.parametrize("group", GROUPS)
def test_commands_do_what_the_pages_say(group: str, checkout: Path) -> None:
    """But for those that need a program that is here: see the next test."""
    entries = [command for command in COMMANDS if command["group"] == group]
    walk([entry for entry in entries if not is_here(entry.get("needs"))], checkout)


@needs("ocloc")
@pytest.mark.device
@pytest.mark.slow
def test_commands_that_need_the_offline_compiler(checkout: Path) -> None:
    walk([command for command in COMMANDS if command.get("needs") == "ocloc"], checkout)


@pytest.mark.device
@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "number"),
    [
        pytest.param(page, number, marks=() if page == "README.md" else pytest.mark.nightly)
        for page, numbers in PROGRAMS.items()
        for number in numbers
    ],
)
def test_examples_in_python_run(page: str, number: int, checkout: Path) -> None:
    examples = [fence.text for fence in fences(page) if fence.language == "python"]
    (checkout / "example.py").write_text(examples[number])
    status, said, _ = shell("python example.py", checkout)
    assert status == 0, said
