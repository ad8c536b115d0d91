"""The action for pull requests: its settings fit together, and its script does what the page says.

actionlint would look deeper; what PyPI has of it fetches a program from elsewhere.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github/actions/ab"


def read(name: str) -> dict[Any, Any]:
    return dict(yaml.safe_load((FOLDER / name).read_text()))


def test_every_input_is_described_and_reaches_a_step() -> None:
    action = read("action.yml")
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite" and all("shell" in step for step in steps if "run" in step)
    assert set(re.findall(r"steps\.cache\.outputs\.([a-z]+)", yaml.safe_dump(steps))) == {
        name for step in steps if step.get("id") == "cache" for name in re.findall(r"([a-z]+)=", step["run"])
    }, "the cache's step writes what the next one reads"
    assert all(each.get("description") and ("default" in each) != each.get("required", False)
               for each in action["inputs"].values())  # fmt: skip
    used = set(re.findall(r"inputs\.([a-z-]+)", yaml.safe_dump(steps)))
    assert used == set(action["inputs"])
    assert not any("${{" in step.get("run", "") for step in steps), (
        "what others write reaches the shell as variables only"
    )


def test_the_script_reads_the_variables_that_the_step_sets() -> None:
    text = (FOLDER / "compare.sh").read_text()
    (step,) = (step for step in read("action.yml")["runs"]["steps"] if step.get("id") == "compare")
    assert step["run"] == 'bash "$GITHUB_ACTION_PATH/compare.sh"'
    assert {name for name in re.findall(r"\$\{?([A-Z_]+)", text) if not name.startswith("GITHUB_")} == set(step["env"])


def test_the_example_asks_for_what_there_is() -> None:
    action, workflow = read("action.yml"), read("example-workflow.yml")
    steps = workflow["jobs"]["speed"]["steps"]
    (own,) = (step for step in steps if step.get("uses") == "./.github/actions/ab")
    required = {name for name, each in action["inputs"].items() if each.get("required")}
    assert required <= set(own["with"]) <= set(action["inputs"])
    assert set(re.findall(r"steps\.ab\.outputs\.([a-z]+)", yaml.safe_dump(steps))) == set(action["outputs"])
    (checkout,) = (step for step in steps if step.get("uses", "").startswith("actions/checkout"))
    assert checkout["with"]["fetch-depth"] == 0, "a shallow clone lacks the base"


@pytest.mark.parametrize(
    ("fail_on", "kinds"),
    [
        ("slower", ["slower"]),
        ("slower missing", ["slower", "missing"]),
        ("both", ["slower", "missing"]),
        ("nothing", []),
    ],
)
@pytest.mark.parametrize("status", [0, 5])
def test_the_script_runs_ab_and_passes_its_status_on(
    status: int, fail_on: str, kinds: list[str], tmp_path: Path
) -> None:
    program = tmp_path / "bin/xebench"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$@" >>called; [ "$1" = ab ] || { echo "| a | table |"; exit 0; }\n'
        f"mkdir -p out && touch out/manifest.json && exit {status}\n"
    )
    program.chmod(0o755)
    settings = {"BASE": "main", "HEAD": ".", "PATHS": "bench/a.py\n\nbench/b c.py\n", "NAMES": "one two*",
                "PRESET": "smoke", "DEVICE": "cpu", "BUDGET": "", "THRESHOLD": "3%", "FAIL_ON": fail_on,
                "OUTPUT": "out", "GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output"}  # fmt: skip
    environment = {**os.environ, **settings, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", str(FOLDER / "compare.sh")], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == status
    called = (tmp_path / "called").read_text().splitlines()
    assert called[: called.index("compare")] == [
        "ab", "main", ".", "one", "two*", "--preset", "smoke", "--device", "cpu", "--threshold", "3%", "--output",
        "out", "--overwrite", "--path", "bench/a.py", "--path", "bench/b c.py",
        *(word for kind in kinds for word in ("--fail-on", kind)),
    ]  # fmt: skip
    assert (tmp_path / "summary.md").read_text() == "| a | table |\n"
    assert (tmp_path / "output").read_text() == "run=out\n"
