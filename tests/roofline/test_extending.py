"""A roof is one row and one probe: the recipe of docs/extending.md, done in a copy of the package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest
from temporary_copy import environment

ROOT = Path(__file__).parents[2]
RECIPE = re.compile(r"^`(?P<file>harness/xebench/[\w/.]+)`.*?```python\n(?P<code>.*?)```", re.MULTILINE | re.DOTALL)
#: What stands behind a new row, and between two rows.
ROWS = {
    "harness/xebench/vocabulary.py": ("\n\n#: The rate roof of each kind", ""),
    "harness/xebench/roofline/catalogue.py": ('    Probe("launch_host"', ","),
}
USED = """
import xebench
from xebench import runtime

runtime.load()
from xebench.roofline.in_process import quick_result
from xebench.tables import TABLES
from xebench.vocabulary import Roof
from synthetic import Synthetic

assert Roof.FLOAT_ATOMICS.column in TABLES["devices"]
result = quick_result("cpu", Roof.FLOAT_ATOMICS.probes[0])
assert result.status == "ok", result
made = Synthetic(**{Roof.FLOAT_ATOMICS.column: result.value})
made.times(made.case("v", "naive", operations=1000, operation_kind="float atomic"), [100.0] * 8)
row = made.run().summaries.iloc[0]
for folder in STORED:
    known = xebench.load_run(folder)
    assert known.devices[Roof.FLOAT_ATOMICS.column].isna().all() and len(known.pairs), folder
print(xebench.__file__, result.value, row["roof_fraction"] * result.value, row["bound_by"])
"""
#: Runs that are older than the roof, finished and not.
STORED = [
    str(ROOT / "results/cpu-epyc-2-cores"),
    *sorted(str(path) for path in (ROOT / "tests/tables/fixtures").iterdir() if path.is_dir()),
]


def applied(root: Path, file: str, code: str) -> str:
    """The file with its new row, or the new file."""
    if file not in ROWS:
        return code
    behind, separator = ROWS[file]
    text = (root / file).read_text(encoding="utf-8")
    assert text.count(behind) == 1, f"where a row belongs in {file}"
    return text.replace(behind, f"{indent(code.strip(), ' ' * 4)}{separator}\n{behind}")


@pytest.mark.compiler
@pytest.mark.device
def test_the_recipe_of_a_roof(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "harness", tmp_path / "harness")
    section = (ROOT / "docs/extending.md").read_text(encoding="utf-8").partition("## A roof\n")[2].partition("\n## ")[0]
    edits = {match["file"]: match["code"] for match in RECIPE.finditer(section)}
    assert len(edits) == 3, "the row of the roof, the row of the probe, and the probe"
    for file, code in edits.items():
        (tmp_path / file).write_text(applied(tmp_path, file, code), encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(1, {str(ROOT / 'tests/kits')!r})\nSTORED = {STORED}\n{USED}",
        ],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    package, measured, placed, bound_by = done.stdout.split()
    assert Path(package).is_relative_to(tmp_path)
    assert float(measured) > 0
    assert float(placed) == pytest.approx(10), "1,000 operations in 100 ns"
    assert bound_by == "atomics"
