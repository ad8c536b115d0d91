"""How commands end: one line for what a user can cause, and the exit status that docs/runs.md names."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from command_kit import run_here
from signals_kit import HEEDING_SIGNALS

from xebench.errors import from_here

XEBENCH = [sys.executable, "-m", "xebench"]
ROOT = Path(__file__).parents[2]
RUN = str(ROOT / "tests/results/fixtures/schema-6")
OWN = str(ROOT / "docs/examples/own_saxpy.py")
OCCUPANCY = ("occupancy", "--gpu", "pvc", "--sub-group", "16", "--work-group")


def xebench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*XEBENCH, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--budget", "nan"), "nan is not a finite number: see xebench run --help"),
        (("run", "--precision", "inf"), "inf is not a finite number"),
        (("run", "--run-budget", "0"), "0.0 is not in the range x>0"),
        (("run", "--run-budget", "0m"), "0.0 is not in the range x>0"),
        (("run", "--run-budget", "soon"), "'soon' is no duration: write 540, 500ms, 9m or 1h30m"),
        (("reprtt", RUN), "no command 'reprtt': did you mean report? See xebench --help"),
        (("report", RUN, "--format", "htm"), "'text'; did you mean html? See xebench report --help"),
        (("report", RUN, "--formt", "html"), "Did you mean '--format'? See xebench report --help"),
        (("report", RUN[:-1]), f"there is no run folder {RUN[:-1]}: did you mean {RUN}"),
        (("report", str(ROOT / "docs")), "holds no run (no manifest.json in it): check the path"),
        (("run", "--seed", "-5"), "-5 is not in the range"),
        (("run", "--seed", str(2**40)), "is not in the range"),
        (("run", "--output", f"{__file__}/run"), "name another folder with --output"),
        (("run", "own_saxpi", "--path", OWN), "no pattern matches 'own_saxpi': your own patterns are own_saxpy"),
        (("report", RUN, "--output", "/no/such/x.html"), "there is no folder /no/such: make it"),
        (("report", RUN, "--output", "/tmp"), "/tmp is a folder: name a file in it"),
        (("isa", "--html", "/no/such/x.html"), "there is no folder /no/such"),
        (("isa", "--table", "/no/such/x.csv"), "there is no folder /no/such"),
        (("isa", "--keep", f"{__file__}/x"), "cannot be made"),
        (("isa", "--gpu", ","), "name a GPU, such as pvc"),
        ((*OCCUPANCY, "256", "--global", "9" * 400), "is more than any device has"),
        ((*OCCUPANCY, "256", "--global", "4Gx4Gx4G"), "is more than any device has"),
    ],
)
def test_what_a_user_can_cause_ends_in_one_line(
    arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here(monkeypatch, *arguments) == 2
    stderr = capsys.readouterr().err
    assert len(stderr.splitlines()) == 1, stderr
    assert stderr.startswith("xebench: ") and from_here(said) in stderr


def test_a_process_ends_likewise() -> None:
    done = xebench("nonsense")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith("xebench: no command 'nonsense': known are ab, advise, build,")


@pytest.mark.nightly
@pytest.mark.parametrize("program", ["pages.measured readme", "pages.measured stacks", "studies.intervals"])
def test_programs_about_xebench_read_their_arguments(program: str) -> None:
    command = [sys.executable, "-m", *f"tools.{program}".split()]
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"Usage: python -m tools.{program}")
    done = subprocess.run([*command, "no", "such", "files"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and f"{program} --help" in done.stderr


def test_too_few_open_files_are_one_line() -> None:
    few = ["sh", "-c", 'ulimit -n 7; exec "$@"', "sh", *XEBENCH, "doctor"]
    done = subprocess.run(few, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "xebench: too many files are open: raise the limit (ulimit -n 1024)\n"


def test_a_gpu_file_that_is_a_riddle_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text("[" * 100_000)
    done = xebench("occupancy", "--gpu", str(file), "--work-group", "256", "--sub-group", "16")
    assert done.returncode == 2
    assert done.stderr.startswith(f"xebench: {file}: is not JSON")


def test_help_is_no_error() -> None:
    assert xebench("--version").returncode == 0
    assert xebench("run", "--help").stdout.startswith("Usage: xebench run")


def test_help_has_commands_and_options_in_sections() -> None:
    commands = xebench("--help").stdout
    assert commands.index("\nMeasure:\n  run ") < commands.index("\nRead results:\n  report ")
    assert "..." not in commands.partition("Measure:")[2], "a summary is cut"
    options = xebench("run", "--help").stdout
    assert options.index("\nDevice:\n  --device ") < options.index("\nRun folder:\n  -o, --output ")


def test_a_result_goes_to_a_file_and_quiet_drops_notices(tmp_path: Path) -> None:
    printed = xebench("report", RUN, "--format", "json").stdout
    for quiet in ([], ["-q"]):
        done = xebench("report", RUN, "--format", "json", "-o", tmp_path / "a.json", *quiet)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == ("" if quiet else f"wrote {tmp_path / 'a.json'}\n")
        assert (tmp_path / "a.json").read_text() == printed
    assert xebench("list", "-o", tmp_path / "list.txt", "-q").stdout == ""
    assert "tiled_matmul" in (tmp_path / "list.txt").read_text()
    assert xebench("report", "/no/such", "-q").stderr.startswith("xebench: ")


def test_a_reader_that_goes_away_changes_no_exit_status() -> None:
    with subprocess.Popen([*XEBENCH, "report", RUN, "--format", "json"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_result_that_cannot_be_printed_is_said() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*XEBENCH, "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "xebench: the result cannot be printed (No space left on device): redirect it elsewhere\n"


def test_a_closed_standard_output_is_said(tmp_path: Path) -> None:
    shell = ["sh", "-c", 'exec "$@" >&-', "sh", *XEBENCH, "report", RUN]
    done = subprocess.run(shell, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "xebench: the result cannot be printed (standard output is closed): redirect it elsewhere\n"
    done = subprocess.run([*shell, "-o", tmp_path / "report.txt", "-q"], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and (tmp_path / "report.txt").exists()


@pytest.mark.parametrize(("redirect", "command"), [("2>&-", "report"), ("2>/dev/full", "list")])
def test_closed_and_full_errors_change_no_exit_status(redirect: str, command: str) -> None:
    arguments = [RUN] if command == "report" else []
    shell = ["sh", "-c", f'exec "$@" {redirect}', "sh", *XEBENCH, command, *arguments]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.device
def test_a_run_whose_notices_nobody_can_read_measures_all_the_same(tmp_path: Path) -> None:
    run = ["run", "own_saxpy", "--path", OWN, "--preset", "smoke", "--budget", "0.1", "--output", str(tmp_path / "run")]
    shell = ["sh", "-c", 'exec "$@" 2>/dev/full', "sh", *XEBENCH, *run]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "(complete)" in done.stdout


def test_names_that_are_not_utf_8_are_one_line(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff")
    odd.mkdir()
    for arguments, folder in ((("report", odd), tmp_path), (("list",), odd)):
        done = subprocess.run([*XEBENCH, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
        assert "is not UTF-8: rename it, or work in another folder" in done.stderr


def test_a_path_that_this_user_may_not_read_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    assert run_here(monkeypatch, "report", "secret/run") == 2
    assert capsys.readouterr().err == "xebench: Permission denied: secret/run: name another\n"


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGINT, 130, "xebench: stopped"), (signal.SIGTERM, 143, "xebench: stopped by SIGTERM")],
)
def test_a_command_that_is_stopped_takes_its_compilers_along(
    number: signal.Signals, status: int, said: str, tmp_path: Path
) -> None:
    slow = tmp_path / "ocloc"
    slow.write_text(f"#!/bin/sh\nif [ $1 = query ]; then echo 1.2.3; exit; fi\necho $$ > {tmp_path}/pid\nsleep 600\n")
    slow.chmod(0o755)
    command = [*HEEDING_SIGNALS, *XEBENCH, "isa", "--ocloc", str(slow)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text().endswith("\n"):
            time.sleep(0.05)
            assert process.poll() is None
        process.send_signal(number)
        assert process.stderr is not None
        said_last = process.stderr.read().strip()
        assert process.wait() == status
    assert said_last == said
    assert not is_running(int((tmp_path / "pid").read_text()))


@pytest.mark.device
def test_a_command_that_is_stopped_while_it_collects_ends_at_once(tmp_path: Path) -> None:
    compiler = tmp_path / "ocloc"
    compiler.write_text("#!/bin/sh\necho 1.2.3\n")
    compiler.chmod(0o755)
    command = [*XEBENCH, "isa", "--gpu", "pvc", "--ocloc", str(compiler)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "collecting the kernels of" not in process.stderr.readline():
            assert process.poll() is None
        children = psutil.Process(process.pid).children
        while not children():
            time.sleep(0.05)
        workers = children()
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read().strip() == "xebench: stopped by SIGTERM"  # and how far it is would follow
        assert process.wait() == 143
    assert not any(is_running(worker.pid) for worker in workers)


def is_running(pid: int) -> bool:
    """Whether a process lives on; a killed one ends when its turn comes, and may wait for good to be asked how."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                return False
        except psutil.NoSuchProcess:
            return False
        time.sleep(0.05)
    return True
