"""What is missing in a run, what it was asked for, and whether this is still its device."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pandas as pd
import pytest

from xebench.errors import RunFolderError, XebenchError
from xebench.measuring.case_rows import CaseResult, fixed_columns
from xebench.measuring.sampling import Sampling
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.plan import Family
from xebench.results import Run, RunWriter, load_run, schema
from xebench.results.analysis.summaries import CheckRow
from xebench.runner import resume
from xebench.runner.round_plan import Round
from xebench.runner.run_options import Recipe
from xebench.vocabulary import CheckResult, Status, StopReason

DEVICE = {"device": "opencl:cpu:0", "name": "CPU", "driver_version": "1.2", "device_class": "cpu"}


def family(name: str, own_n: int = 8, **axes: Any) -> Family:
    variants = tuple(VariantInfo(variant, role, (), "") for variant, role in (("a", "naive"), ("b", "optimized")))
    info = PatternInfo(name, "f", "g", "l", (), "device", {"smoke": {"n": own_n}}, {}, variants, f"{name}.py")
    return Family(info, "smoke", {"n": own_n, **axes}, {"n": own_n})


def case_rows(of: Family, *statuses: str) -> list[dict[str, Any]]:
    rows = fixed_columns(of, DEVICE, 1).values()
    return [
        {**row, **CaseResult(Status(status), "").columns()}
        for row, status in zip(rows, statuses or ("ok", "ok"), strict=True)
    ]


def cases(statuses: dict[str, tuple[str, str]]) -> pd.DataFrame:
    return schema.frame("cases", [row for name, pair in statuses.items() for row in case_rows(family(name), *pair)])


def test_a_family_is_missing_until_every_case_has_a_final_status() -> None:
    known = cases(
        {
            "done": ("ok", "ok"),
            "failed": ("ok", "crashed"),
            "not_here": ("skipped", "skipped"),
            "half": ("ok", "interrupted"),
            "untouched": ("interrupted", "interrupted"),
        }
    )
    plan = [family(name) for name in ("half", "done", "failed", "not_here", "untouched", "never_begun")]
    missing = resume.missing_families(plan, known, "cpu")
    assert [one.pattern.name for one in missing] == ["half", "untouched", "never_begun"]
    assert resume.missing_families([family("done", stride=2)], known, "cpu"), "another point of the axes is another"
    changed = family("done", own_n=16)
    assert resume.case_ids([changed], "cpu") == resume.case_ids([family("done")], "cpu")
    assert resume.missing_families([changed], known, "cpu"), "and so is a preset whose size is another by now"
    assert resume.case_ids(missing[:1], "cpu") == ["half/a/smoke/-/cpu", "half/b/smoke/-/cpu"]


def test_a_family_whose_pattern_file_has_changed_is_missing() -> None:
    def of(name: str, source_sha256: str) -> Family:
        own = family(name)
        return replace(own, pattern=msgspec.structs.replace(own.pattern, source_sha256=source_sha256))

    plan = [of("same", "a"), of("changed", "b"), of("of_an_old_run", "b"), of("not_begun", "b")]
    known = [*case_rows(of("same", "a")), *case_rows(of("changed", "a")), *case_rows(of("of_an_old_run", ""))]
    known += case_rows(of("not_begun", "a"), "interrupted", "interrupted")
    frame = schema.frame("cases", known)
    assert [one.pattern.name for one in resume.changed_families(plan, frame, "cpu")] == ["changed"]
    assert [one.pattern.name for one in resume.missing_families(plan, frame, "cpu")] == ["changed", "not_begun"]


def test_a_complete_run_is_done_until_a_pattern_file_changes(tmp_path: Path) -> None:
    own = family("own")
    now = replace(own, pattern=msgspec.structs.replace(own.pattern, source_sha256="b"))
    with RunWriter.create(tmp_path / "run", {}) as writer:
        writer.append("cases", case_rows(now))
        run = writer.finish()
    assert resume.is_done(run, [now, family("never_begun")])
    assert not resume.is_done(run, [replace(own, pattern=msgspec.structs.replace(own.pattern, source_sha256="c"))])


def test_a_case_whose_samples_or_their_check_are_lost_is_missing() -> None:
    known = cases(dict.fromkeys(("kept", "lost", "unchecked"), ("ok", "crashed")))
    samples = pd.DataFrame(
        [
            {"case_id": case_id, "state": "hot", "checked": not case_id.startswith("unchecked")}
            for case_id in known["case_id"]
            if not case_id.startswith("lost")
        ]
    )
    run: Any = SimpleNamespace(cases=known, samples=samples)
    left = resume.cases_with_samples(run)
    plan = [family(name) for name in ("kept", "lost", "unchecked")]
    assert [one.pattern.name for one in resume.missing_families(plan, left, "cpu")] == ["lost", "unchecked"]


def run_of(tmp_path: Path, manifest: dict[str, Any]) -> Run:
    with RunWriter.create(tmp_path / "run", manifest) as writer:
        writer.append("devices", [{**dict.fromkeys(schema.columns("devices")), **DEVICE}])
    return load_run(tmp_path / "run")


@pytest.mark.parametrize("changed", [{"driver_version": "1.3"}, {"name": "GPU"}, {"device": "opencl:cpu:1"}])
def test_a_run_goes_on_on_its_own_device_only(changed: dict[str, str], tmp_path: Path) -> None:
    recorded = resume.recorded_device(run_of(tmp_path, {}))
    assert recorded is not None and recorded["bandwidth_roof_gbps"] is None
    resume.require_same_device(recorded, DEVICE)
    with pytest.raises(XebenchError, match=r"measured on CPU \(opencl:cpu:0, driver 1.2\), but this is"):
        resume.require_same_device(recorded, {**DEVICE, **changed})


def test_a_run_that_ended_before_its_device_was_known_has_none(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        assert resume.recorded_device(writer.finish("interrupted")) is None


def test_other_software_is_told() -> None:
    before = {"xebench": "0.1", "git": {"commit": "a" * 40}, "packages": {"numba": "0.59", "numpy": "1.26"}}
    now = {"xebench": "0.1", "git": {"commit": "b" * 40}, "packages": {"numba": "0.60", "numpy": "1.26"}}
    assert resume.changed_software(before, before) == []
    assert resume.changed_software(before, now) == [f"commit {'a' * 12} -> {'b' * 12}", "numba 0.59 -> 0.60"]
    assert resume.changed_software({"git": None}, {"git": None}) == []
    with pytest.raises(RunFolderError, match="manifest is damaged .*packages"):
        resume.changed_software({"packages": 5}, now)


def test_a_run_remembers_what_it_was_asked_for(tmp_path: Path) -> None:
    recipe = Recipe(("slm*", "E34"), "smoke", ("n=1,2",), ("/my.py",), "gpu", True, 0.02, 1.5, "both", 7, 3, 6, 50)
    run = run_of(tmp_path, recipe.to_manifest())
    assert Recipe.of_run(run.path) == recipe


@pytest.mark.parametrize("kept", [None, [], {"names": []}, {"names": [], "preset": "smoke", "colour": "red"}])
def test_a_run_that_does_not_remember_cannot_be_resumed(kept: Any, tmp_path: Path) -> None:
    manifest = json.loads(json.dumps({"request": kept}))
    with pytest.raises(RunFolderError, match="does not record its settings"):
        Recipe.of_run(run_of(tmp_path, manifest).path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("names", 5),
        ("overrides", [5]),
        ("paths", ["p.py", 5]),
        ("budget_s", "x"),
        ("precision", 0),
        ("state", "lukewarm"),
        ("instances", 0),
        ("max_samples", True),
        ("max_samples", 2.0),
        ("precision", math.inf),
        ("state", "hot\n"),
        ("require_gpu", 1),
        ("seed", -5),
        ("preset", None),
    ],
)
def test_a_recipe_that_was_tampered_with_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    manifest = {"request": {"names": [], "preset": "smoke", name: value}}
    with pytest.raises(RunFolderError, match=f"records {name} .*: start a new run"):
        Recipe.of_run(run_of(tmp_path, manifest).path)


@pytest.mark.parametrize("path", ["run/evil.py", "evil.py", "{}/run/evil.py", "/proc/self/cwd/run/evil.py"])
def test_a_run_folder_brings_no_program(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    manifest = {"request": {"names": [], "preset": "smoke", "paths": [path.format(tmp_path)]}}
    run_of(tmp_path, manifest)
    with pytest.raises(RunFolderError, match="names the pattern file .*evil.py, which a stranger may have"):
        Recipe.of_run(Path("run"))


def test_a_recipe_makes_the_plan_of_the_command_line() -> None:
    families = Recipe(("slm_convolution_cache",), "smoke", ("work_group_size=32,64",)).plan()
    # and one at a size that divides nothing
    assert [one.axes["work_group_size"] for one in families] == [32, 64, 32]


def test_a_family_that_the_run_wanted_to_come_to_again_lacks_a_pass() -> None:
    known = cases({"done": ("ok", "ok"), "waits": ("ok", "ok"), "half": ("ok", "interrupted")})
    known.loc[known["pattern"] != "done", "stopped_by"] = StopReason.ROUND
    plan = [family(name) for name in ("done", "waits", "half", "never_begun")]
    assert [one.pattern.name for one in resume.unfinished_families(plan, known, "cpu")] == ["waits"]


SAMPLING = Sampling(budget_s=9.0)
ROUND_SECONDS = '{"making": 4.0, "sampling": 5.0, "warming up": 1.0}'


def write_two_instances(writer: RunWriter, checked: int = 12) -> None:
    """Three blocks of each: the second variant takes a half and a quarter of the first one's time."""
    writer.append("devices", [{**dict.fromkeys(schema.columns("devices")), **DEVICE}])
    writer.append("cases", [{**row, "round_seconds": ROUND_SECONDS} for row in case_rows(family("p"))])
    empty = dict.fromkeys(schema.columns("samples", measured=True))
    for number in range(12):
        block, second = divmod(number, 2)
        instance = block // 3
        known = {
            "sample_id": number,
            "block": block,
            "instance": instance,
            "state": "hot",
            "valid": True,
            "sample_flags": "",
        }
        case_id = family("p").case_id("ab"[second], "cpu")
        time_ns = 200.0 / (1 + instance) if second else 400.0
        writer.append("samples", [{**empty, **known, "case_id": case_id, "device_ns": time_ns}])
    ids = resume.case_ids([family("p")], "cpu")
    writer.append_checks([CheckRow(case_id, 0, checked, CheckResult.PASSED) for case_id in ids])


def test_what_an_earlier_session_has_of_a_family_is_read_from_its_samples(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write_two_instances(writer)
    progress = resume.family_progress(family("p"), load_run(tmp_path / "run"), "cpu", SAMPLING, next_block=6)
    assert progress.statuses() == {"a": "ok", "b": "ok"} and not progress.waiting
    assert (progress.next_block, progress.next_instance) == (6, 2)
    assert [(one.number, one.state, one.blocks) for one in progress.instances] == [(0, "hot", 3), (1, "hot", 3)]
    assert progress.spent_s == pytest.approx(6.0) and progress.seconds["making"] == 4.0
    assert progress.round == Round(0), "of two instances"
    assert progress.compiled == {"a", "b"}
    one, two = (instance.speedups for instance in progress.instances)
    assert one == {"b": pytest.approx([math.log(2)] * 3)}
    assert two == {"b": pytest.approx([math.log(4)] * 3)}
    rows = [schema.measured_row("cases", row) for row in progress.rows()]
    assert (
        schema.frame("cases", rows)
        .drop(columns="round_seconds")
        .equals(schema.frame("cases", case_rows(family("p"))).drop(columns="round_seconds"))
    )


def test_samples_that_no_check_followed_decide_nothing(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write_two_instances(writer, checked=6)
        case_id = family("p").case_id("a", "cpu")
        writer.append_checks([CheckRow(case_id, 0, 1, CheckResult.SUPERSEDED)])
    progress = resume.family_progress(family("p"), load_run(tmp_path / "run"), "cpu", SAMPLING, next_block=6)
    assert progress.next_instance == 2, "numbers of instances are taken nevertheless"
    (instance,) = progress.instances
    assert instance.blocks == 3
    assert instance.speedups == {"b": pytest.approx([math.log(2)] * 2)}
