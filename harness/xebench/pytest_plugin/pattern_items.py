"""Patterns as tests: an item for each variant and point, which looks at one run of all that were selected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from xebench.errors import XebenchError
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.plan import Family, build_plan
from xebench.patterns.registry import read
from xebench.pytest_plugin import borrowed
from xebench.pytest_plugin.borrowed import DeviceClock, refuse_other_device, replay
from xebench.records.claim import from_json, is_expected
from xebench.results import Run
from xebench.vocabulary import FAILED, Status

RUN: Final = pytest.StashKey[Run]()
FAMILY: Final = pytest.StashKey[Family]()


class PatternFile(pytest.File):
    """A pattern file."""

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each variant at each point of its pattern's axes."""
        preset = self.config.getoption("--xebench-preset")
        try:
            plan = build_plan(read([self.path]), preset)
        except XebenchError as error:
            raise self.CollectError(str(error)) from error
        points = Counter(family.pattern.name for family in plan)
        make = _benchmark_function if self.config.getoption("benchmark_only", None) is not None else _check_function
        for family in plan:
            point = f"[{family.point()}]" if points[family.pattern.name] > 1 else ""
            for variant in family.pattern.variants:
                name = f"{family.pattern.name}::{variant.name}{point}"
                item = pytest.Function.from_parent(self, name=name, callobj=make(family, variant.name))
                item.stash[FAMILY] = family
                yield item


def _benchmark_function(family: Family, variant: str) -> Callable[..., None]:
    def check(request: pytest.FixtureRequest, benchmark: Any) -> None:
        case, times_ns = _look(request, family, variant)
        refuse_other_device(request, request.node.nodeid, case["device_class"], case["name"])
        place = f"[{case['device_class']} {case['name']}]"
        benchmark.group = " ".join(filter(None, (family.pattern.name, family.preset, family.point(), place)))
        benchmark.extra_info.update(device=case["name"], device_class=case["device_class"], metric=case["metric"])
        clock = DeviceClock("xebench")
        try:
            borrowed.set_timer(benchmark, clock)
        except XebenchError as error:
            pytest.fail(str(error), pytrace=False)
        replay(benchmark, clock, times_ns)

    return check


def _check_function(family: Family, variant: str) -> Callable[..., None]:
    def check(request: pytest.FixtureRequest) -> None:
        _look(request, family, variant)

    return check


def _look(request: pytest.FixtureRequest, family: Family, variant: str) -> tuple[dict[str, Any], list[float]]:
    """The case of an item in the run, and its times in ns; the test ends here if it has none."""
    from xebench.records.points import rows
    from xebench.results.analysis import summaries

    run = _run(request)
    device = rows(run.devices)[0]
    sizes = [int(size) for size in str(device["sub_group_sizes"] or "").split(",") if size]
    case_id = family.on(device["device_class"], sizes).case_id(variant, device["device_class"])
    here = run.cases[run.cases["case_id"] == case_id]
    (case,) = rows(here)
    print(case["output"] or "", end="")  # pytest shows it where the test fails
    expected = is_expected(case["status"], case["reason"], from_json(case["claims"]))
    if case["status"] in (*FAILED, Status.INTERRUPTED) and not expected:
        pytest.fail(f"{case['status']}: {case['reason']}", pytrace=False)
    samples = summaries.usable(here, run.samples[run.samples["case_id"] == case_id])
    if samples.empty:
        pytest.skip(f"{case['status']}: {case['reason']}")
    return {**case, "name": device["name"]}, samples["time_ns"].tolist()


def _run(request: pytest.FixtureRequest) -> Run:
    """One run of every selected pattern, made when the first item needs it."""
    config = request.config
    if RUN not in config.stash:
        families = [item.stash[FAMILY] for item in request.session.items if FAMILY in item.stash]
        unique = {(family.pattern.name, family.point()): family for family in families}
        folder = request.getfixturevalue("tmp_path_factory").mktemp("xebench") / "run"
        try:
            config.stash[RUN] = _run_plan(list(unique.values()), folder, config.getoption("--xebench-device"))
        except XebenchError as error:
            pytest.exit(f"xebench: {error}", returncode=error.exit_code)
    if str(config.stash[RUN].manifest.get("ended_by") or "").startswith("SIG"):
        raise KeyboardInterrupt
    return config.stash[RUN]


def _run_plan(plan: Sequence[Family], folder: Path, device: str) -> Run:
    from xebench.runner.run import run_plan
    from xebench.runner.run_options import Options, Recipe

    infos: dict[str, PatternInfo] = {family.pattern.name: family.pattern for family in plan}
    paths = tuple(sorted({info.source for info in infos.values()}))
    recipe = Recipe(tuple(infos), plan[0].preset, paths=paths, device=device)
    return run_plan(plan, Options(folder, recipe, command_line=("pytest", "--xebench")), _Silent())


class _Silent:
    """A run's progress, which pytest does not show."""

    def say(self, text: str) -> None: ...
    def stage(self, text: str) -> None: ...
    def family(self, done: int, total: int, name: str, left_s: float | None = None) -> None: ...
    def variant(self, name: str) -> None: ...
    def finished(self, name: str, results: Sequence[tuple[str, str]]) -> None: ...
