"""What one pattern file does to its process reaches no pattern of another file, and no verdict on its own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pattern_copies import FAULTY, write_pattern

from xebench.tables import Run, load_run

TEXT = (FAULTY / "mischief.py").read_text()
MOMENTS = ("import", "problem", "preparation", "sample")
pytestmark = pytest.mark.device


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Files that spoil their process at one moment each, with one that does not after each of them."""
    folder = tmp_path_factory.mktemp("mischief")
    names = [name for moment in MOMENTS for name in (moment, f"never_after_{moment}")]
    for name in names:
        write_pattern(folder / f"{name}.py", TEXT.replace('WHEN = "never"', f'WHEN = "{name}"'))
    paths = [word for name in names for word in ("--path", str(folder / f"{name}.py"))]
    options = ("--preset=smoke", "--budget=0.1", "--device=cpu", "--output", str(folder / "run"))
    arguments = ("mischief_*", *paths, *options)
    done = subprocess.run(
        [sys.executable, "-m", "xebench", "run", *arguments], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr
    return load_run(folder / "run")


def statuses(run: Run, moment: str) -> dict[str, str]:
    cases = run.cases[run.cases["pattern"] == f"mischief_{moment}"]
    return dict(zip(cases["variant"], cases["status"], strict=True))


@pytest.mark.parametrize("moment", MOMENTS)
def test_another_file_is_measured_and_judged_as_if_it_were_alone(moment: str, run: Run) -> None:
    assert statuses(run, f"never_after_{moment}") == {"plain": "ok", "right": "ok", "wrong": "wrong"}


@pytest.mark.parametrize("moment", MOMENTS)
def test_no_variant_passes_where_its_file_has_replaced_what_judges(moment: str, run: Run) -> None:
    assert "ok" not in statuses(run, moment).values()
    reasons = run.cases.loc[run.cases["pattern"] == f"mischief_{moment}", "reason"]
    assert reasons.str.contains("the pattern file has replaced numpy.count_nonzero").all(), reasons.to_list()
