"""The occupancy model against Intel's calculator, its limits, its refusals and its properties."""

import json
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from occupancy_kit import occupancy

from xebench.errors import XebenchError
from xebench.system.gpus import SizeError, find_gpu, gpus
from xebench.system.occupancy import LaunchShape, UnsupportedLaunch, occupancy_of, parse_launch

TGL, PVC = find_gpu("tgl"), find_gpu("pvc")
KIB = 1024
# no deadline: the machine may be busy
UNHURRIED = settings(deadline=None)


# catalogue of the SYCL chapters, 3.7: GPU, launch, threads, work-groups per Xe-core, occupancy in percent
@pytest.mark.parametrize(
    ("gpu", "launch", "threads", "work_groups", "percent"),
    [
        (TGL, LaunchShape(320, 8), 40, 2, 71.43),
        (TGL, LaunchShape(224, 8), 28, 4, 100),
        (TGL, LaunchShape(320, 16), 20, 5, 89.29),
        (TGL, LaunchShape(224, 16), 14, 8, 100),
        (TGL, LaunchShape(512, 32), 16, 7, 100),
        (TGL, LaunchShape(512, 16), 32, 3, 85.71),
        (TGL, LaunchShape(512, 8), 64, 1, 57.14),
        (PVC, LaunchShape(1024, 32), 32, 2, 100),
        (PVC, LaunchShape(1024, 16), 64, 1, 100),
        (PVC, LaunchShape(256, 16), 16, 4, 100),
        (PVC, LaunchShape(224, 16), 14, 4, 87.5),
        (PVC, LaunchShape(256, 32, slm_bytes=64 * KIB), 8, 2, 25),
        (PVC, LaunchShape(512, 32, large_grf=True), 16, 2, 50),
    ],
)
def test_check_vectors(gpu, launch, threads, work_groups, percent):
    found = occupancy_of(launch, gpu)
    assert found.threads_per_work_group == threads
    assert found.work_groups_per_xe_core == work_groups
    assert round(100 * found.xe_core_occupancy, 2) == percent
    # without a global size the device is as full as its Xe-cores
    assert found.device_occupancy == found.average_device_occupancy == found.xe_core_occupancy
    assert found.waves is None


@pytest.mark.parametrize(
    ("launch", "limited_by"),
    [
        (LaunchShape(256, 16), "threads"),
        (LaunchShape(224, 16), "threads"),
        (LaunchShape(256, 32, slm_bytes=64 * KIB), "slm"),
        (LaunchShape(256, 16, slm_bytes=32 * KIB), "threads"),  # four either way, and all contexts are taken
        (LaunchShape(512, 32, large_grf=True), "large GRF"),
        (LaunchShape(512, 32, 128 * KIB, large_grf=True), "slm"),
        (LaunchShape(16, 16, barriers=2), "barriers"),
        (LaunchShape(16, 16, barriers=2, large_grf=True), "large GRF"),
        (LaunchShape(256, 16, global_size=256 * 511), "global size"),
        (LaunchShape(256, 16, global_size=256 * 512), "threads"),
        (LaunchShape(256, 32, 64 * KIB, global_size=256 * 256), "slm"),
    ],
)
def test_limiting_factor(launch, limited_by):
    assert occupancy_of(launch, PVC).limited_by == limited_by


def test_limit_of_work_groups_per_xe_core():
    few = msgspec.structs.replace(PVC, max_work_groups_per_xe_core=16)
    found = occupancy(few, 16, 16)
    assert (found.work_groups_per_xe_core, found.limited_by) == (16, "work-groups")


def test_slm_is_allocated_in_steps():
    for slm_bytes, work_groups in [(1, 128), (16 * KIB, 8), (16 * KIB + 1, 5), (24 * KIB, 5), (33 * KIB, 2)]:
        found = occupancy(PVC, 16, 16, slm_bytes)
        assert found.work_groups_by_limit["slm"] == work_groups


def test_a_partly_filled_sub_group_takes_a_thread():
    assert occupancy(PVC, 17, 16).threads_per_work_group == 2


def test_named_barriers_take_more_registers():
    assert occupancy(PVC, 16, 16, barriers=1).work_groups_per_xe_core == 64
    assert occupancy(PVC, 16, 16, barriers=3).work_groups_per_xe_core == 21


def test_another_member_of_the_family():
    whole = occupancy(PVC, 256, 16, global_size=256 * 512)
    stack = occupancy(PVC.with_eu_count(512), 256, 16, global_size=256 * 512)
    assert (whole.waves, stack.waves) == (1, 2)


def test_json_has_the_documented_keys_and_nothing_else():
    launch = parse_launch("256", "16", slm="32K", barriers=1, global_size="1M")
    printed = occupancy_of(launch, find_gpu("pvc")).to_json()
    assert json.loads(json.dumps(printed)) == {
        "gpu": "pvc",
        "threads_per_work_group": 16,
        "work_groups_per_xe_core": 4,
        "xe_core_occupancy": 1.0,
        "device_occupancy": 1.0,
        "is_upper_bound": False,
        "waves": 8.0,
        "limited_by": "threads",
    }


def test_texts_of_a_command_line():
    assert parse_launch("16x16", "32") == LaunchShape(256, 32)
    assert parse_launch("1x2x128", "8", global_size="64x64x128", large_grf=True) == LaunchShape(
        256, 8, global_size=524288, large_grf=True
    )
    with pytest.raises(SizeError, match="'' is not a size"):
        parse_launch("16x", "32")


@pytest.mark.parametrize(
    ("gpu", "launch", "message"),
    [
        (PVC, LaunchShape(1025, 16), "pvc has no work-groups of 1025: use at most 1024"),
        (PVC, LaunchShape(256, 8), "pvc has no sub-groups of 8: use one of 16, 32"),
        (
            PVC,
            LaunchShape(256, 16, 128 * KIB + 1),
            "pvc has no 131073 bytes of SLM per work-group: use at most 131072",
        ),
        (PVC, LaunchShape(256, 16, barriers=65), "pvc has no 65 barriers per work-group: use at most 64"),
        (
            PVC,
            LaunchShape(256, 16, global_size=1000),
            "global size 1000 is no multiple of the work-group size 256",
        ),
        (TGL, LaunchShape(256, 16, large_grf=True), "tgllp has no large GRF mode"),
        (
            PVC,
            LaunchShape(1024, 16, large_grf=True),
            "a work-group of 1024 needs 64 threads, an Xe-core of pvc has 32: use at most 512 work-items",
        ),
        (PVC, LaunchShape(0, 16), "sizes must be above 0"),
        (PVC, LaunchShape(16, 16, -1), "sizes must be above 0"),
        (PVC, LaunchShape(16, 16, barriers=-1), "sizes must be above 0"),
        (PVC, LaunchShape(16, 16, global_size=0), "sizes must be above 0"),
    ],
)
def test_launches_that_cannot_run_name_the_limit(gpu, launch, message):
    with pytest.raises(UnsupportedLaunch, match=message) as caught:
        occupancy_of(launch, gpu)
    assert isinstance(caught.value, XebenchError)
    assert "\n" not in str(caught.value)


@st.composite
def launches(draw, *, sized=None, most_barriers=3):
    """A GPU and a launch that it can run; ``sized`` settles whether it has a global size."""
    gpu = draw(st.sampled_from(gpus()))
    sub_group_size = draw(st.sampled_from(gpu.sub_group_sizes))
    large_grf = gpu.large_grf and draw(st.booleans())
    contexts = gpu.threads_per_xe_core // (2 if large_grf else 1)
    size = draw(st.integers(1, min(gpu.max_work_group_size, contexts * sub_group_size)))
    has_size = draw(st.booleans()) if sized is None else sized
    launch = LaunchShape(
        work_group_size=size,
        sub_group_size=sub_group_size,
        slm_bytes=draw(st.just(0) | st.integers(0, gpu.max_slm_per_work_group_bytes)),
        barriers=draw(st.integers(0, most_barriers)),
        global_size=size * draw(st.integers(1, 20_000)) if has_size else None,
        large_grf=large_grf,
    )
    return gpu, launch


def _calculator(gpu, launch):
    """Intel's calculator as it works, for at most one barrier; in percent, with its own waves."""
    contexts = gpu.threads_per_xe_core / (2 if launch.large_grf else 1)
    threads = -(-launch.work_group_size // launch.sub_group_size)
    most = gpu.barrier_registers if launch.barriers else gpu.max_work_groups_per_xe_core
    slm = next((size for size in gpu.slm_sizes_bytes if launch.slm_bytes <= size), 0) if launch.slm_bytes else 0
    by_slm = gpu.slm_per_xe_core_bytes // slm if slm else most
    total = launch.global_size // launch.work_group_size
    resident = min(contexts // threads, by_slm, most, total)
    xe_core = 100 * threads * resident / gpu.threads_per_xe_core
    items = gpu.eu_count / gpu.eus_per_xe_core * resident * launch.work_group_size
    full_waves, left = divmod(launch.global_size, items)
    if not left:
        return resident, xe_core, xe_core, xe_core, full_waves
    waves = round(full_waves + left / items, 2)
    peak = xe_core if full_waves else left / items * xe_core
    return resident, xe_core, peak, waves * xe_core / (full_waves + 1), waves


@UNHURRIED
@given(launches(sized=True, most_barriers=1))
def test_agrees_with_the_calculator(case):
    gpu, launch = case
    found = occupancy_of(launch, gpu)
    resident, xe_core, peak, average, waves = _calculator(gpu, launch)
    assert found.work_groups_per_xe_core == resident
    assert 100 * found.xe_core_occupancy == pytest.approx(xe_core)
    assert 100 * found.device_occupancy == pytest.approx(peak)
    # the calculator rounds its waves to two decimals and goes on with them
    assert 100 * found.average_device_occupancy == pytest.approx(average, abs=0.51)
    assert found.launch.work_groups is not None
    if found.work_groups_per_xe_core < found.launch.work_groups:
        assert found.waves == pytest.approx(waves, abs=0.0051)


@UNHURRIED
@given(launches())
def test_occupancies_are_fractions_and_ordered(case):
    found = occupancy_of(case[1], case[0])
    assert 0 < found.average_device_occupancy <= found.device_occupancy + 1e-12
    assert found.device_occupancy <= 1
    assert 0 < found.work_group_utilisation <= found.xe_core_occupancy <= 1
    assert found.work_groups_per_xe_core >= 1
    assert found.tail_occupancy is None or 0 < found.tail_occupancy <= 1
    assert not found.launch.large_grf or found.xe_core_occupancy <= 0.5


@UNHURRIED
@given(launches(), st.data())
def test_more_slm_never_helps(case, data):
    gpu, launch = case
    more = data.draw(st.integers(launch.slm_bytes, gpu.max_slm_per_work_group_bytes))
    less, greedy = occupancy_of(launch, gpu), occupancy_of(replace(launch, slm_bytes=more), gpu)
    assert greedy.xe_core_occupancy <= less.xe_core_occupancy
    assert greedy.device_occupancy <= less.device_occupancy


@UNHURRIED
@given(launches())
def test_barriers_never_help(case):
    gpu, launch = case
    with_barriers, without = occupancy_of(launch, gpu), occupancy_of(replace(launch, barriers=0), gpu)
    assert with_barriers.device_occupancy <= without.device_occupancy


@UNHURRIED
@given(launches())
def test_large_grf_never_helps(case):
    gpu, launch = case
    small = occupancy_of(replace(launch, large_grf=False), gpu)
    assert occupancy_of(launch, gpu).device_occupancy <= small.device_occupancy


@UNHURRIED
@given(launches(sized=True))
def test_waves_hold_the_global_size(case):
    gpu, launch = case
    found = occupancy_of(launch, gpu)
    per_wave = min(found.work_groups_by_limit.values()) * gpu.xe_cores
    assert found.waves * per_wave * launch.work_group_size == pytest.approx(launch.global_size)
    assert found.waves is not None and found.launch.work_groups is not None
    assert (found.waves < 1) == (found.limited_by == "global size")
    assert (found.tail_occupancy is None) == (found.launch.work_groups % per_wave == 0)
    twice = occupancy_of(replace(launch, global_size=2 * launch.global_size), gpu)
    assert twice.waves == pytest.approx(2 * found.waves)
    assert twice.device_occupancy >= found.device_occupancy


@UNHURRIED
@given(launches(sized=False))
def test_unlimited_work_is_as_full_as_a_whole_wave(case):
    gpu, launch = case
    endless = occupancy_of(launch, gpu)
    wave = endless.work_groups_per_xe_core * gpu.xe_cores * launch.work_group_size
    whole = occupancy_of(replace(launch, global_size=wave), gpu)
    assert whole.waves == 1
    assert whole.device_occupancy == pytest.approx(endless.device_occupancy)
    assert whole.average_device_occupancy == pytest.approx(endless.device_occupancy)


@UNHURRIED
@given(launches(sized=True))
def test_threads_spread_over_xe_cores_bound_the_model(case):
    gpu, launch = case
    found = occupancy_of(launch, gpu)
    # F3, the guide's estimate for kernels with neither barrier nor SLM, sees no waste within an Xe-core
    assert found.launch.work_groups is not None
    spread = min(1, found.launch.work_groups * found.threads_per_work_group / gpu.threads)
    assert found.device_occupancy <= spread + 1e-12


@UNHURRIED
@given(launches(sized=False))
def test_the_limiting_factor_is_the_smallest_limit(case):
    gpu, launch = case
    found = occupancy_of(launch, gpu)
    name = "threads" if found.limited_by == "large GRF" else found.limited_by
    assert found.work_groups_by_limit[name] == found.work_groups_per_xe_core
