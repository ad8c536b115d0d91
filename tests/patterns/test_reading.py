"""Declarations are read by a child process, which survives what files do, and kept until a file changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

import xebench
from xebench.errors import BrokenEnvironment, PatternError
from xebench.patterns import pattern_file
from xebench.patterns.registry import Declarations, Refusal, is_as_declared, read, read_each
from xebench.records.claim import Claim
from xebench.system import runtime
from xebench.system.children import process

FILE = """
import numpy as np
from xebench import Pattern

SIZE = int(np.float32(2) * 4)
pattern = Pattern("mine", guide="G / S", lesson="L.", catalogue=("E99",), axes={"stride": (1, 2.5, "all")},
                  claim={"gpu": "faster"}, presets={"smoke": {"n": 4}, "default": {"n": SIZE}})
pattern.problem(lambda rng, n: None)
pattern.reference(lambda p: {})

@pattern.naive
def plain(session, p, stride):
    '''The plain way.'''

@pattern.optimized
def clever(session, p, stride): ...
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache folder with nothing in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def forbid_children(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> process.ChildReply:
        raise AssertionError("what is known needs no child process")

    monkeypatch.setattr(process, "ask", refuse)


def test_a_file_is_read_with_the_real_packages_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (info,) = read([file])
    assert (info.name, info.catalogue) == ("mine", ("E99",))
    assert (info.presets["default"], info.axes) == ({"n": 8}, {"stride": (1, 2.5, "all")})
    assert [(v.name, v.role, v.summary) for v in info.variants] == [
        ("plain", "naive", "The plain way."),
        ("clever", "optimized", ""),
    ]
    assert info.variants[1].claims == (Claim("faster", against="plain", on=("gpu",)),)
    forbid_children(monkeypatch)
    assert read([file]) == (info,)


def test_contents_decide_whether_a_file_is_read_again(file: Path) -> None:
    for size in "48":
        file.write_text(FILE.replace("* 4", f"* {size}"))
        os.utime(file, (1e9, 1e9))
        (info,) = read([file])
        assert info.presets["default"] == {"n": 2 * int(size)}


def test_a_module_that_a_file_imports_counts_as_the_file_does(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file.write_text(FILE.replace("SIZE =", "from sizes import FACTOR\nSIZE = FACTOR *"))
    for factor in ("1", "10", "100"):
        (tmp_path / "sizes.py").write_text(f"FACTOR = {factor}\n")
        (info,) = read([file])
        assert info.presets["default"] == {"n": 8 * int(factor)}
    (tmp_path / "sizes.py").unlink()
    with pytest.raises(PatternError, match=r"mine\.py:5: ModuleNotFoundError: No module named 'sizes'"):
        read([file])


def test_each_file_has_a_hash_of_itself_and_of_what_it_imports(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("FACTOR = 1\n")
    imports = FILE.replace("SIZE =", "from .helper import FACTOR\nSIZE = FACTOR *")
    files = [tmp_path / f"{name}.py" for name in ("first", "second", "alone")]
    for file, text in zip(files, (imports, imports.replace('"mine"', '"yours"'), FILE), strict=True):
        file.write_text(text)

    def hashes() -> list[str]:
        return [info.source_sha256 for info in read(files)]

    first, second, alone = hashes()
    assert len({first, second, alone}) == 3 and len(first) == 64
    (tmp_path / "helper.py").write_text("FACTOR = 2\n")
    changed = hashes()
    assert changed[0] != first and changed[1] != second, "the second file's helper was imported by the first already"
    assert changed[2] == alone
    assert [info.source_sha256 for file in files for info in read([file])] == changed, "whoever else is read with it"


def test_a_file_that_is_read_beside_counts_as_the_pattern_file_does(file: Path, tmp_path: Path) -> None:
    (tmp_path / "steps.cl").write_text("1")
    reads = f"\nopen('{tmp_path}/log', 'w').close()\nSIZE = int(open('{tmp_path}/steps.cl').read()) *"
    file.write_text(FILE.replace("\nSIZE =", reads))
    (before,) = read([file])
    assert is_as_declared(before) and before.presets["default"] == {"n": 8}
    (tmp_path / "steps.cl").write_text("2")
    assert not is_as_declared(before)
    (now,) = read([file])
    assert now.presets["default"] == {"n": 16} and now.source_sha256 != before.source_sha256
    (tmp_path / "log").write_text("what it writes is none of it")
    assert is_as_declared(now)


def test_files_of_the_user_are_read_apart(tmp_path: Path) -> None:
    spoils = "\nPattern.complete = lambda self: {'spoils': None}[self.name]\n"
    (tmp_path / "first.py").write_text(FILE.replace('"mine"', '"spoils"') + spoils)
    (tmp_path / "second.py").write_text(FILE)
    assert [info.name for info in read_each([tmp_path / "first.py", tmp_path / "second.py"])] == ["spoils", "mine"]


def test_a_declaration_is_of_the_file_as_it_was(file: Path, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("FACTOR = 1\n")
    file.write_text(FILE.replace("SIZE =", "from .helper import FACTOR\nSIZE = FACTOR *"))
    (info,) = read([file])
    assert is_as_declared(info)
    (tmp_path / "helper.py").write_text("FACTOR = 2\n")
    assert not is_as_declared(info)
    (now,) = read([file])
    assert is_as_declared(now) and not is_as_declared(info), "whoever has read it again"


def test_a_module_that_a_variant_imports_when_it_is_called_belongs_to_the_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "deeper.py").write_text("STEPS = 1\n")
    (tmp_path / "later.py").write_text("def steps():\n    from .deeper import STEPS\n    return STEPS\n")
    file.write_text(FILE.replace("(session, p, stride): ...", "(session, p, stride):\n    from .later import steps\n"))
    (info,) = read([file])
    (tmp_path / "deeper.py").write_text("STEPS = 2\n")
    assert not is_as_declared(info)
    (now,) = read([file])
    assert now.source_sha256 != info.source_sha256


@pytest.mark.parametrize(
    ("name", "before", "after", "reads"),
    [
        ("body.py", "A = 1\n", "A = 2\n", "exec(Path(__file__).with_name('body.py').read_text())"),
        ("code.cl", "1", "2", "open(os.fsencode(Path(__file__).with_name('code.cl'))).read()"),
        ("code.txt", "1", "2", "here = os.getcwd(); os.chdir(Path(__file__).parent); open('code.txt'); os.chdir(here)"),
        ("code.cl", "1", "2", "def later(): return Path(__file__).with_name('code.cl').read_text()"),
        ("late.py", "A = 1\n", "A = 2\n", "def later(): import late"),
    ],
)
def test_code_that_lies_beside_belongs_to_the_file_however_it_is_read(
    name: str, before: str, after: str, reads: str, file: Path, tmp_path: Path
) -> None:
    file.write_text(f"{FILE}\nimport os\nfrom pathlib import Path\n{reads}\n")
    (tmp_path / name).write_text(before)
    (info,) = read([file])
    assert is_as_declared(info)
    (tmp_path / name).write_text(after)
    assert not is_as_declared(info)
    (now,) = read([file])
    assert now.source_sha256 != info.source_sha256


def test_a_change_of_this_package_is_none_of_the_file(file: Path, cache: Path) -> None:
    (info,) = read([file])
    (kept,) = cache.rglob("*.json")
    known = msgspec.json.decode(kept.read_bytes(), type=Declarations)
    own = str(Path(xebench.__file__))
    assert own in known.sources
    kept.write_bytes(msgspec.json.encode(structs.replace(known, sources={**known.sources, own: b"of another version"})))
    assert is_as_declared(info)


def test_a_declaration_of_the_wrong_type_is_one_line(file: Path) -> None:
    file.write_text(FILE + "\npattern.catalogue = (3,)\nPattern._check = lambda self: None\n")
    with pytest.raises(
        PatternError, match=rf"{file.name}: a declared value has the wrong type: .*: correct the pattern"
    ):
        read([file])


@pytest.mark.parametrize("trouble", ["cannot be written", "is damaged"])
def test_a_cache_that_is_of_no_use_is_no_error(trouble: str, file: Path, cache: Path) -> None:
    if trouble == "is damaged":
        read([file])
        (kept,) = cache.rglob("*.json")
        kept.write_text("{")
    else:
        cache.write_text("no folder")
    assert [info.name for info in read([file])] == ["mine"]


def test_what_a_file_prints_is_no_answer(file: Path) -> None:
    file.write_text("import os\nprint('[]')\nos.write(1, b'[]\\n')\n" + FILE + "\nprint('{}')\n")
    assert [info.name for info in read([file])] == ["mine"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os\nos.abort()", r"mine\.py:2: .*SIGABRT.*, while its declarations were read"),
        ("import os\n\nos._exit(3)", r"mine\.py: ended with status 3, while its declarations were read"),
        ("while True:\n    pass", r"mine\.py:\d: still running after 0.5 s, while its declarations were read"),
    ],
)
def test_a_file_that_ends_or_stops_the_process_is_named(text: str, said: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(PatternError, match=said) as caught:
        read([file], limit_s=0.5 if "while True" in text else 60)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(": fix the pattern file")


def test_only_files_that_need_the_stack_fail_without_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> None:
        raise BrokenEnvironment("dpctl is missing: make install")

    monkeypatch.setattr(runtime, "load", load)
    begun: list[str] = []
    assert isinstance(pattern_file.read([str(file)], begun.append), Declarations) and begun == [str(file)]
    for needs in ("import a_package_that_is_not_there\n", "import xebench.system.runtime as r\nr.load()\n"):
        file.write_text(needs)
        assert pattern_file.read([str(file)], begun.append) == Refusal("dpctl is missing: make install", 3)
    file.write_text("1 / 0\n")
    refusal = pattern_file.read([str(file)], begun.append)
    assert isinstance(refusal, Refusal) and "ZeroDivisionError" in refusal.line and refusal.exit_code == 2


def test_a_broken_file_ends_a_command_with_one_line_and_status_2(file: Path) -> None:
    file.write_text("print('hello')\nraise SystemExit(3)\n")
    command = [sys.executable, "-m", "xebench", "list", "--json", "--path", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"xebench: {file}:2: SystemExit: 3: fix the pattern file\n"
