"""Occupancies of patterns' own launches, with the command that shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import isa_kit as kit
import msgspec
import pytest
from command_kit import Done, Here
from optional import needs

from xebench.isa.asked_gpu import asked_gpu
from xebench.isa.collect import KernelLaunch, collect
from xebench.isa.compilation import read_zeinfo
from xebench.isa.launch_occupancy import KernelOccupancy, occupancies
from xebench.isa.ocloc import find_compiler
from xebench.patterns.plan import Family, build_plan
from xebench.patterns.problem import Room
from xebench.patterns.registry import discover, select
from xebench.system import runtime
from xebench.system.gpus import GpuParameters, find_gpu
from xebench.vocabulary import DeviceClass

PVC = find_gpu("pvc")
XE_LP = find_gpu("tgllp")


def plan_on(plan: list[Family], gpu: GpuParameters) -> list[Family]:
    limits = asked_gpu([gpu])
    return [family.on(DeviceClass.GPU, limits.sub_group_sizes, Room(limits.lanes)) for family in plan]


@pytest.fixture
def command(here: Here) -> Here:
    """Runs a command in this process, to the exit status that is given."""

    def run(*arguments: str, status: int = 0) -> Done:
        done = here(*arguments)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def launch() -> KernelLaunch:
    """Of the kernel with which the stand-in for ocloc answers whatever it is given."""
    kernel = next(iter(read_zeinfo(kit.text("igc2/spills.pvc.zeinfo"))))
    return KernelLaunch(
        "pattern", "chapter", "variant", "naive", "{}", kernel, "0" * 64, b"spirv", (), (1 << 20,), (256,), 0
    )


@pytest.fixture
def of(tmp_path: Path) -> Callable[..., KernelOccupancy]:
    compiler = find_compiler(str(kit.fake_ocloc(tmp_path / "fake")))

    def occupancy_of(launch: KernelLaunch, gpu: GpuParameters = PVC) -> KernelOccupancy:
        (one,) = occupancies([launch], gpu, compiler)
        return one

    return occupancy_of


def test_a_launch_and_its_binary_make_the_occupancy(launch: KernelLaunch, of: Callable[..., KernelOccupancy]) -> None:
    code = kit.code("igc2/spills.pvc")
    one = of(replace(launch, local_bytes=40_000))
    assert one.occupancy is not None
    asked = one.occupancy.launch
    assert (asked.work_group_size, asked.global_size) == (256, 1 << 20)
    assert (asked.sub_group_size, asked.barriers) == (code.simd_width, code.info.barriers)
    assert asked.slm_bytes == code.info.slm_bytes + 40_000
    assert asked.large_grf == (code.info.grf_count > 128)
    # 48 KiB of 128 are allocated: two work-groups of an Xe-core
    assert (one.occupancy.work_groups_per_xe_core, one.occupancy.limited_by) == (2, "slm")
    assert one.to_json()["limited_by"] == "slm"


def test_a_work_group_that_the_driver_chooses_is_assumed_and_said(
    launch: KernelLaunch, of: Callable[..., KernelOccupancy]
) -> None:
    one = of(replace(launch, local_size=None, global_size=(1000, 10)))
    assert one.occupancy is not None
    # the largest divisor of 10000 up to 256
    assert one.occupancy.launch.work_group_size == 250
    assert "to the driver" in one.assumed
    assert one.to_json()["assumed"] == one.assumed


def test_threads_left_over_by_work_groups_without_a_barrier_are_said(
    launch: KernelLaunch, of: Callable[..., KernelOccupancy]
) -> None:
    lanes = kit.code("igc2/spills.pvc").simd_width
    threads = PVC.threads_per_xe_core // 2 + 1
    uneven = replace(launch, local_size=(threads * lanes,), global_size=(threads * lanes * 1024,))
    assert "without a barrier" in of(uneven).assumed
    assert of(replace(uneven, local_bytes=4)).assumed == "", "SLM holds the work-group together"
    assert of(launch).assumed == "", "no thread is left over"


def test_what_cannot_be_compiled_or_launched_says_why(launch: KernelLaunch, of: Callable[..., KernelOccupancy]) -> None:
    refused = of(launch, msgspec.structs.replace(PVC, code="unknown"))
    assert refused.occupancy is None
    assert "does not know the GPU unknown" in refused.reason
    too_large = of(replace(launch, local_size=(2048,)))
    assert (too_large.occupancy, too_large.reason) == (None, "pvc has no work-groups of 2048: use at most 1024")
    assert "xe_core_occupancy" not in too_large.to_json()


@pytest.mark.device
def test_variants_size_their_launches_by_the_asked_gpu() -> None:
    plan = build_plan(select(discover(), ["vector_add_groups", "slm_per_work_group"]), "smoke")
    here = plan_on(plan, XE_LP)
    of = {launch.variant: launch for launch in collect(here, asked_gpu([XE_LP])).launches}
    assert of["all_of_it"].global_size == (42 * 512,)  # G 782
    assert of["largest_array"].local_bytes == 64 * 1024
    both = asked_gpu([XE_LP, PVC])
    assert (both.max_work_group_size, both.threads_per_core, both.sub_group_sizes) == (512, 64, (16, 32))


@needs("ocloc")
@pytest.mark.device
def test_occupancy_of_a_pattern(command: Here) -> None:
    done = command("occupancy", "--pattern", "slm_convolution_cache", "--gpu", "pvc", "--preset", "smoke", "--json")
    rows = {row["variant"]: row for row in json.loads(done.stdout)}
    assert rows["global_memory"]["slm_bytes"] == 0
    assert rows["cooperative_halo"]["slm_bytes"] >= 2048
    for row in rows.values():
        assert row["work_group"] == 256
        assert 0 < row["xe_core_occupancy"] <= 1
    text = command("occupancy", "--pattern", "slm_convolution_cache", "--gpu", "pvc", "--preset", "smoke").stdout
    assert "cooperative_halo" in text
    assert "nearest better" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("occupancy", "--gpu", "pvc"), "a launch needs --work-group and --sub-group, or a pattern"),
        (("occupancy", "--gpu", "pvc", "--pattern", "x", "--slm", "1K"), "leave out --slm"),
        (("occupancy", "--gpu", "nope", "--work-group", "1", "--sub-group", "16"), "unknown GPU 'nope'"),
        (("occupancy", "--gpu", "pvc", "--pattern", "no_such"), "no pattern"),
    ],
)
def test_errors_are_one_line(arguments: tuple[str, ...], message: str, here: Here) -> None:
    done = here(*arguments)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("xebench: ")
    assert message in last


@pytest.mark.device
def test_the_device_that_is_present_must_be_a_gpu_that_is_known(command: Here) -> None:
    if runtime.select_device().device.device_class == "gpu":
        pytest.skip("a GPU is present here")
    done = command("occupancy", "--work-group", "64", "--sub-group", "16", status=2)
    assert "no GPU is present" in done.stderr
    assert "--gpu" in done.stderr


@needs("ocloc")
@pytest.mark.device
def test_launches_of_one_module_have_the_registers_that_each_asks_for(tmp_path: Path, command: Here) -> None:
    path = Path(__file__).parent / "option_patterns.py"
    found = json.loads(
        command(
            "occupancy",
            "--gpu",
            "pvc",
            "--pattern",
            "register_modes",
            "--path",
            str(path),
            "--preset",
            "smoke",
            "--json",
        ).stdout
    )
    assert [(one["variant"], one["large_grf"], one["xe_core_occupancy"]) for one in found] == [
        ("small_file", False, 1.0),
        ("large_file", True, 0.5),
        ("both", False, 1.0),
        ("both", True, 0.5),
    ]
