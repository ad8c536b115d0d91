"""What a shell is offered, as click's own classes ask for it and, where it is, in a real bash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from xebench.cli.main import SHELLS, commands
from xebench.patterns.registry import discover


@pytest.fixture(scope="module")
def infos() -> list[str]:
    """Names of the patterns; listing them remembers them."""
    return [info.name for info in discover()]


def offered(*typed: str) -> list[str]:
    """The words for the last one that was typed."""
    completer = ShellComplete(commands, {}, "xebench", "_XEBENCH_COMPLETE")
    return [item.value for item in completer.get_completions(list(typed[:-1]), typed[-1])]


def test_names_and_chapters_of_patterns_are_offered(infos: list[str]) -> None:
    for command in ("run", "list", "isa"):
        assert set(infos) < set(offered(command, ""))
    assert offered("run", "tiled_") == ["tiled_matmul"] == offered("run", "slm", "tiled_")
    assert "slm" in offered("run", "slm") and "slm_convolution_cache" in offered("run", "slm")
    assert offered("trace", "folder", "tiled_") == ["tiled_matmul"]
    assert offered("occupancy", "--pattern", "tiled_") == ["tiled_matmul"]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("run", "--preset", ""), ["smoke", "default", "guide"]),
        (("run", "--device", "g"), ["gpu"]),
        (("run", "--state", "c"), ["cold"]),
        (("isa", "--gpu", "tgll"), ["tgllp"]),
        (("isa", "--gpu", "pvc,tgll"), ["pvc,tgllp"]),
        (("occupancy", "--gpu", "a77"), ["a770"]),
        (("completion", ""), [*SHELLS]),
        (("setup", "--k"), ["--kernels"]),
        (("se",), ["setup"]),
    ],
)
@pytest.mark.usefixtures("infos")
def test_words_of_options_are_offered(typed: tuple[str, ...], words: list[str]) -> None:
    assert offered(*typed) == words


def test_what_was_never_read_is_not_read_for_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert offered("run", "") == []
    assert not [*tmp_path.rglob("*.json")]


@pytest.mark.usefixtures("infos")
def test_completing_loads_no_part_of_the_stack() -> None:
    code = (
        "import sys; from click.shell_completion import ShellComplete; from xebench.cli.main import commands;"
        "words = ShellComplete(commands, {}, 'xebench', 'X').get_completions(['run'], 'tiled');"
        "print(len(words), [m for m in ('numpy', 'dpctl', 'numba', 'dpnp', 'pandas', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1 []"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed_for_each_shell(shell: str) -> None:
    command = [sys.executable, "-m", "xebench", "completion", shell]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"_XEBENCH_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.usefixtures("infos")
def test_a_real_bash_completes(tmp_path: Path) -> None:
    command = tmp_path / "xebench"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m xebench "$@"\n')
    command.chmod(0o755)
    script = f"""
        PATH="{tmp_path}:$PATH"
        eval "$(xebench completion bash)"
        complete -p xebench
        COMP_WORDS=(xebench run tiled_) COMP_CWORD=2
        _xebench_completion xebench tiled_ run
        echo "${{COMPREPLY[*]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["complete -o nosort -F _xebench_completion xebench", "tiled_matmul"], (
        done.stderr
    )
