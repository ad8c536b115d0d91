"""Two GPUs, and two stacks of one, that are not there: how they are listed, and whether work is taken by each.

The driver is that of `test_level_zero`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from optional import needs
from pretended_gpus import OF_ONEMKL, SMALL_STACKS, Driver, Tried, current_driver, try_patterns

from xebench.patterns.registry import builtin_files

TWO_GPUS = {**SMALL_STACKS, "CreateMultipleRootDevices": "2"}
TWO_STACKS = {**SMALL_STACKS, "CreateMultipleSubDevices": "2"}
FLAT, COMPOSITE, COMBINED = ({"ZE_FLAT_DEVICE_HIERARCHY": name} for name in ("FLAT", "COMPOSITE", "COMBINED"))
STACK, GPU = 64, 128  # vector engines

#: Variables, compute units of each device that is listed, and those of the stacks of each.
LISTED = {
    "two GPUs": (TWO_GPUS, [STACK, STACK], [[], []]),
    "two stacks, by default": (TWO_STACKS, [STACK, STACK], [[], []]),
    "two stacks, flat": (TWO_STACKS | FLAT, [STACK, STACK], [[], []]),
    "two stacks, combined": (TWO_STACKS | COMBINED, [STACK, STACK], [[], []]),
    "two stacks, composite": (TWO_STACKS | COMPOSITE, [GPU], [[STACK, STACK]]),
    "two of two, flat": (TWO_GPUS | TWO_STACKS, [STACK] * 4, [[]] * 4),
    "two of two, composite": (TWO_GPUS | TWO_STACKS | COMPOSITE, [GPU, GPU], [[STACK, STACK]] * 2),
    "second and fourth of four": (TWO_GPUS | TWO_STACKS | {"ZE_AFFINITY_MASK": "1,3"}, [STACK] * 2, [[]] * 2),
    "second GPU": (TWO_GPUS | TWO_STACKS | COMPOSITE | {"ZE_AFFINITY_MASK": "1"}, [GPU], [[STACK, STACK]]),
    "a stack and a GPU": (
        TWO_GPUS | TWO_STACKS | COMPOSITE | {"ZE_AFFINITY_MASK": "0.1,1"},
        [STACK, GPU],
        [[], [STACK, STACK]],
    ),
}

#: Variables, and on what patterns for several devices run then.
SEVERAL = {
    "two GPUs": (TWO_GPUS, "2 devices: 64 and 64 compute units"),
    "two stacks, flat": (TWO_STACKS, "2 devices: 64 and 64 compute units"),
    "two stacks, composite": (
        TWO_STACKS | COMPOSITE,
        "2 sub-devices of level_zero:gpu:0 by affinity domain: 64 and 64 compute units",
    ),
    "two of two, composite": (TWO_GPUS | TWO_STACKS | COMPOSITE, "2 devices: 128 and 128 compute units"),
}

# These divide the work by measured speed, and this driver gives no times.
BY_SPEED = {
    *("streams_over_devices/streams_by_speed", "vector_add_devices/parts_by_speed", "heterogeneous_split/by_speed"),
}

# These ask for the composite hierarchy themselves, and can do nothing without stacks.
OF_STACKS = {"implicit_scaling_launch", "implicit_scaling_copies", "memory_of_other_stack"}
# These as well; without stacks they have variants that are left.
OF_PARTS = {"build_for_stacks", "context_schemes", "explicit_subdevice_triad", "subdevice_partition"}

pytestmark = [pytest.mark.slow, needs("Level Zero driver")]


def of_openmp(**values: str) -> dict[str, str]:
    """Variables of Intel's OpenMP runtime."""
    return {f"LIBOMPTARGET_LEVEL_ZERO_{name}": value for name, value in values.items()}


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    return current_driver(tmp_path_factory.mktemp("driver"))


@pytest.mark.parametrize("case", LISTED)
def test_hierarchy_and_affinity_decide_what_is_listed(driver: Driver, case: str, tmp_path: Path) -> None:
    variables, units, stacks = LISTED[case]
    last = f"level_zero:gpu:{len(units) - 1}"
    found = driver.tell("pvc", tmp_path, "answers.py", "devices", last, more=variables)
    listed = [name for name in found["listed"] if name.startswith("level_zero")]
    by_number = [f"level_zero:gpu:{number}" for number in range(len(units))]
    # the one with more compute units first
    assert listed == sorted(by_number, key=found["units"].get, reverse=True) == found["listed"][: len(units)]
    assert [found["units"][name] for name in by_number] == units
    assert [found["stacks"][name] for name in by_number] == stacks
    assert (found["auto"], found["asked"]) == (listed[0], last)


def test_stacks_share_the_memory_of_their_gpu(driver: Driver, tmp_path: Path) -> None:
    flat, composite = (
        driver.tell("pvc", tmp_path, "answers.py", "devices", "level_zero:gpu:0", more=TWO_STACKS | each)["memory"]
        for each in (FLAT, COMPOSITE)
    )
    assert flat["level_zero:gpu:0"] == flat["level_zero:gpu:1"] == composite["level_zero:gpu:0"] // 2


@pytest.fixture(scope="module", params=SEVERAL)
def case(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def tried(driver: Driver, case: str, tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """The patterns for several devices, and those with variables of their own."""
    files = [file for file in builtin_files() if re.search(r"queues_on|environment=", file.read_text(encoding="utf-8"))]
    return try_patterns(driver, "pvc", tmp_path_factory.mktemp("several"), files, SEVERAL[case][0])


def test_patterns_for_several_devices_are_submitted_to_each(tried: Tried, case: str) -> None:
    print(tried.counts())
    _, words = SEVERAL[case]
    refused = tried.refused_by_library
    assert set(tried.wrong) - refused == BY_SPEED
    assert all("gives no times of commands" in tried.wrong[name] for name in BY_SPEED)
    of_libraries = {name.partition("/")[0] for name in refused}
    assert of_libraries <= OF_ONEMKL
    without = {name.partition("/")[0] for name in tried.outcomes} - tried.patterns - of_libraries
    without -= tried.without_headers
    assert without == (OF_STACKS if case == "two GPUs" else set())
    assert tried.submitted["vector_add_devices/equal_parts"] == f"submitted 2 on {words}"
    assert not tried.ends


def test_affinity_domains_are_the_stacks(tried: Tried, case: str) -> None:
    by_domain = {name for name, text in tried.submitted.items() if "by affinity domain: 64 and 64" in text}
    others = {name for name in by_domain if name.partition("/")[0] not in OF_STACKS | OF_PARTS}
    assert bool(others) == (case == "two stacks, composite"), "those that take any devices take whole ones first"
    lessons = {"explicit_subdevice_triad/every_sub_device", "context_schemes/context_for_each_sub_device"}
    lessons |= {"subdevice_partition/queue_of_each_sub_device", "build_for_stacks/one_build"}
    assert lessons <= by_domain if case != "two GPUs" else not by_domain & lessons, "in the driver's default, too"


@pytest.mark.numba_dpex
def test_copies_between_devices(driver: Driver, case: str, tmp_path: Path) -> None:
    variables, words = SEVERAL[case]
    found = driver.tell("pvc", tmp_path, "answers.py", "copies", "level_zero:gpu:0", more=variables)
    assert found.pop("on") == words
    peers = driver.tell("pvc", tmp_path, "answers.py", "peers", "level_zero:gpu:0", more=variables)
    direct = {found.pop(name).partition(":")[0] for name in ("pushed", "pulled", "chained")}
    assert direct == ({"submitted"} if peers["all"] else {"Unsupported"}), "the driver is asked first"
    assert found == {"to host": "submitted", "from host": "submitted"}


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        (TWO_STACKS | FLAT, {"ZE_FLAT_DEVICE_HIERARCHY": "0 stacks in the device"}),
        (TWO_STACKS | COMPOSITE, {"ZE_FLAT_DEVICE_HIERARCHY": "2 stacks in the device"}),
        ({"UR_L0_USE_IMMEDIATE_COMMANDLISTS": "0"}, {"UR_L0_USE_IMMEDIATE_COMMANDLISTS": "regular command lists"}),
        ({"UR_L0_USE_IMMEDIATE_COMMANDLISTS": "1"}, {"UR_L0_USE_IMMEDIATE_COMMANDLISTS": "immediate command lists"}),
        (of_openmp(MEMORY_POOL="0"), of_openmp(MEMORY_POOL="memory of 1 MiB goes when it is freed")),
        (of_openmp(MEMORY_POOL="device,16,4,256"), of_openmp(MEMORY_POOL="memory of 16 MiB stays when it is freed")),
        (of_openmp(STAGING_BUFFER_SIZE="0"), of_openmp(STAGING_BUFFER_SIZE="the driver copies from the array itself")),
        (of_openmp(STAGING_BUFFER_SIZE="64"), of_openmp(STAGING_BUFFER_SIZE="the driver copies from a buffer")),
        pytest.param(
            of_openmp(USE_IMMEDIATE_COMMAND_LIST="0"),
            of_openmp(USE_IMMEDIATE_COMMAND_LIST="2 regular command lists for two copies"),
            marks=pytest.mark.numba_dpex,
        ),
        pytest.param(
            of_openmp(USE_IMMEDIATE_COMMAND_LIST="0", COMMAND_BATCH="copy"),
            of_openmp(
                USE_IMMEDIATE_COMMAND_LIST="1 regular command lists for two copies",
                COMMAND_BATCH="1 regular command lists for two copies",
            ),
            marks=pytest.mark.numba_dpex,
        ),
    ],
)
def test_variables_are_looked_up_after_they_were_set(
    driver: Driver, variables: dict[str, str], words: dict[str, str], tmp_path: Path
) -> None:
    found = driver.tell("pvc", tmp_path, "answers.py", "switches", "level_zero:gpu:0", more=variables)
    assert found == {"end": "submitted", "found": words}


def test_a_variable_that_the_runtime_has_dropped_or_does_not_use_is_told(driver: Driver, tmp_path: Path) -> None:
    variables = of_openmp(COMMAND_BATCH="copy", USE_IMMEDIATE_COMMAND_LIST="all")
    found = driver.tell("pvc", tmp_path, "answers.py", "switches", "level_zero:gpu:0", more=variables)
    assert "COMMAND_BATCH=copy had no effect: 0 regular command lists for two copies" in found["end"]


@pytest.mark.numba_dpex
@pytest.mark.parametrize("gpu", ["pvc", "dg2", "tgllp", "bmg"])
def test_machine_code_is_compared_without_names(driver: Driver, gpu: str, tmp_path: Path) -> None:
    found = driver.tell(gpu, tmp_path, "answers.py", "same_code", "level_zero:gpu:0")
    assert found == {"again": True, "equal": True, "otherwise": False}
