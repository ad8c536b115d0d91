"""The catalogue of GPUs against the guide's and the calculator's tables, and a user's own GPU by file."""

import json
import subprocess
import sys

import pytest

from xebench.errors import XebenchError
from xebench.system.gpus import (
    GpuError,
    SizeError,
    find_gpu,
    gpu_of_device,
    gpu_of_platform,
    gpus,
    load_gpu_file,
    parse_size,
)

KIB = 1024

# Occupancy calculator, snapshot 6f5ade58: EUs per Xe-core, threads per EU, EU counts, threads per Xe-core,
# sub-group sizes, SLM per Xe-core and per work-group in KiB, work-group, work-groups per core, barriers
CALCULATOR = {
    "bmg": (8, 8, (160, 144), 64, (16, 32), 128, 128, 1024, 64, 64),
    "lnl": (8, 8, (64, 56, 32), 64, (16, 32), 128, 128, 1024, 64, 64),
    "mtl": (16, 8, (128, 112, 64, 48), 128, (8, 16, 32), 128, 64, 1024, 128, 128),
    "pvc": (8, 8, (1024, 896, 512, 448), 64, (16, 32), 128, 128, 1024, 64, 64),
    "xe-hp": (16, 8, (512, 128), 128, (8, 16, 32), 128, 64, 1024, 128, 128),
    "dg2": (16, 8, (512, 448, 384, 256, 128, 96), 128, (8, 16, 32), 128, 64, 1024, 128, 128),
    "dg1": (16, 7, (96, 80), 112, (8, 16, 32), 64, 64, 512, 112, 64),
    # the calculator's 24 EUs are left out: one and a half Xe-cores
    "tgllp": (16, 7, (96, 48, 32, 16), 112, (8, 16, 32), 64, 64, 512, 112, 64),
    "gen11": (8, 7, (64, 48, 32), 56, (8, 16, 32), 64, 64, 256, 56, 32),
    "gen9": (8, 7, (72, 48, 24), 56, (8, 16, 32), 64, 64, 256, 56, 32),
}


def test_every_gpu_of_the_calculator_is_there_and_no_other_names_it_as_its_source():
    assert {gpu.code for gpu in gpus() if "snapshot 6f5ade58" in gpu.source} == set(CALCULATOR)


@pytest.mark.parametrize("code", CALCULATOR)
def test_parameters_are_those_of_the_calculator(code):
    gpu = find_gpu(code)
    assert CALCULATOR[code] == (
        gpu.eus_per_xe_core,
        gpu.threads_per_eu,
        gpu.eu_counts,
        gpu.threads_per_xe_core,
        gpu.sub_group_sizes,
        gpu.slm_per_xe_core_bytes // KIB,
        gpu.max_slm_per_work_group_bytes // KIB,
        gpu.max_work_group_size,
        gpu.max_work_groups_per_xe_core,
        gpu.barrier_registers,
    )
    powers = [1, 2, 4, 8, 16, 32, 64]
    steps = [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128]
    allowed = steps if gpu.max_slm_per_work_group_bytes == 128 * KIB else powers
    assert list(gpu.slm_sizes_bytes) == [size * KIB for size in allowed]


@pytest.mark.parametrize("gpu", gpus(), ids=lambda gpu: gpu.code)
def test_every_parameter_set_and_product_names_its_source(gpu):
    assert gpu.source
    assert gpu.products
    for product in gpu.products:
        assert product.source


def test_names_lead_to_one_gpu_each():
    names = [name for gpu in gpus() for name in (gpu.code, *gpu.aliases, *_product_aliases(gpu))]
    plain = [name.replace("-", "").replace("_", "") for name in names]
    assert len(plain) == len(set(plain))
    for gpu in gpus():
        for name in (gpu.code, *gpu.aliases, *_product_aliases(gpu)):
            assert find_gpu(name.upper()).code == gpu.code


def _product_aliases(gpu):
    return [alias for product in gpu.products for alias in product.aliases]


# notebook, table of generations: Xe-cores, EUs, threads; its column headed "Total XCs" holds EUs
@pytest.mark.parametrize(
    ("name", "totals", "work_group"),
    [("p630", (3, 24, 168), 256), ("icl", (8, 64, 448), 256), ("tgl", (6, 96, 672), 512)],
)
def test_notebook_table_of_generations(name, totals, work_group):
    gpu = find_gpu(name)
    assert (gpu.xe_cores, gpu.eu_count, gpu.threads) == totals
    assert gpu.max_work_group_size == work_group


def test_guide_table_of_one_xe_lp_core():
    assert find_gpu("tgl").threads_per_xe_core == 7 * 16 == 112


# guide, Xe Configurations
@pytest.mark.parametrize(
    ("name", "threads"), [("tgl", 672), ("a770", 4096), ("flex170", 4096), ("pvc-stack", 4096), ("max1550", 4096 * 2)]
)
def test_guide_table_of_xe_configurations(name, threads):
    assert find_gpu(name).threads == threads


def test_a_product_is_another_size_of_its_family_():
    stack = find_gpu("pvc", eu_count=512)
    assert stack.product.name == "Max 1550, one stack"
    assert stack.code == "pvc"
    unnamed = find_gpu("pvc", eu_count=896)
    assert unnamed.xe_cores == 112


@pytest.mark.parametrize("eu_count", [0, -16, 100, 1040])
def test_eu_counts_that_the_family_lacks(eu_count):
    with pytest.raises(GpuError, match=r"pvc has no product of -?\d+ EUs: use one of 1024, 896, 512, 448"):
        find_gpu("pvc", eu_count)


def test_unknown_gpu_lists_the_known_ones():
    with pytest.raises(GpuError, match=r"unknown GPU 'rtx'.*bmg.*parameter file") as caught:
        find_gpu("rtx")
    assert isinstance(caught.value, XebenchError)
    assert "\n" not in str(caught.value)
    with pytest.raises(GpuError, match=r"unknown GPU 'PVV': did you mean pvc or pvc-sdv\?"):
        find_gpu("PVV")


@pytest.mark.parametrize(
    ("device", "code"),
    [
        ("Intel(R) Arc(TM) A770 Graphics", "dg2"),
        ("Intel(R) Arc(TM) Pro A60 Graphics", "dg2"),
        ("Intel(R) Data Center GPU Flex 170", "dg2"),
        ("Intel(R) Data Center GPU Max 1550", "pvc"),
        ("Intel(R) UHD Graphics P630", "gen9"),
        ("Intel(R) UHD Graphics 770", "tgllp"),
        ("Intel(R) Iris(R) Xe Graphics", "tgllp"),
        ("Intel(R) Iris(R) Xe MAX Graphics", "dg1"),
        ("Intel(R) Iris(R) Plus Graphics", "gen11"),
        ("Intel(R) Iris(R) Plus Graphics 655", "gen9"),
        ("Intel(R) Arc(TM) Graphics", "mtl"),
        ("Intel(R) Arc(TM) 140V GPU (16GB)", "lnl"),
        ("Intel(R) Arc(TM) B580 Graphics", "bmg"),
        ("Intel(R) Graphics [0x56a0]", "dg2"),
        ("Intel(R) Graphics [0x0bd5]", "pvc"),
        ("Intel(R) Graphics [0x9a49]", "tgllp"),
    ],
)
def test_devices_by_name(device, code):
    assert gpu_of_device(device).code == code


def test_device_with_its_compute_units():
    assert gpu_of_device("Intel(R) Data Center GPU Max 1550", 512).xe_cores == 64


def test_a_device_that_is_no_intel_gpu():
    with pytest.raises(GpuError, match=r"AMD EPYC.*parameter file"):
        gpu_of_device("AMD EPYC 9655P")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        (7, 7),
        (" 32K ", 32768),
        ("32kb", 32768),
        ("64 KiB", 65536),
        ("1M", 1 << 20),
        ("2g", 2 << 30),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1.5K", "1T", "32 32", "0x10", "\u0662", -4, 1.5])
def test_texts_that_are_no_sizes(text):
    with pytest.raises(SizeError, match="is not a size: write"):
        parse_size(text)


MINE = {
    "name": "My GPU",
    "eus_per_xe_core": 8,
    "threads_per_eu": 8,
    "eu_counts": [512],
    "sub_group_sizes": [16, 32],
    "slm_per_xe_core_bytes": "128K",
    "max_slm_per_work_group_bytes": "64K",
    "slm_sizes_bytes": ["1K", 2048, "64K"],
    "max_work_group_size": 1024,
    "max_work_groups_per_xe_core": 64,
    "barrier_registers": 32,
}


def _written(tmp_path, entry):
    path = tmp_path / "mine.json"
    path.write_text(entry if isinstance(entry, str) else json.dumps(entry))
    return path


def test_own_gpu_from_json(tmp_path):
    path = _written(tmp_path, MINE)
    gpu = find_gpu(str(path))
    assert (gpu.code, gpu.name, gpu.source) == ("mine", "My GPU", str(path))
    assert gpu.slm_sizes_bytes == (1024, 2048, 65536)
    assert (gpu.threads, gpu.large_grf, gpu.eu_count) == (4096, False, 512)
    assert gpu.product.name == "My GPU, 512 EUs"


def test_own_gpu_from_toml_with_a_product(tmp_path):
    path = tmp_path / "mine.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in MINE.items()]
    product = ["[[products]]", 'name = "Mine"', "eu_count = 512"]
    path.write_text("\n".join([*lines, *product]))
    gpu = load_gpu_file(path)
    assert gpu.product.name == "Mine"
    assert find_gpu(str(path), eu_count=512) == gpu


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eus_per_xe_core": None}, "field eus_per_xe_core: Expected 'int', got 'null'"),
        ({"eus_per_xe_core": True}, "field eus_per_xe_core: Expected 'int', got 'bool'"),
        ({"threads_per_eu": 0}, "field threads_per_eu: Expected 'int' >= 1"),
        ({"eu_counts": 512}, "field eu_counts: Expected 'array', got 'int'"),
        ({"eu_counts": []}, "field eu_counts: Expected 'array' of length >= 1"),
        ({"eu_counts": [512, -8]}, r"field eu_counts\[1\]: Expected 'int' >= 1"),
        ({"eu_counts": [100]}, "field eu_counts must be multiples of eus_per_xe_core"),
        ({"sub_group_sizes": ["16"]}, r"field sub_group_sizes\[0\]: Expected 'int', got 'str'"),
        ({"slm_per_xe_core_bytes": "128X"}, "field slm_per_xe_core_bytes: '128X' is not a size: write a whole number"),
        ({"slm_per_xe_core_bytes": 0}, "field slm_per_xe_core_bytes: Expected a size such as 65536 or '64K', got 0"),
        ({"slm_per_xe_core_bytes": 1.5}, "field slm_per_xe_core_bytes: Expected a size such as .*, got 1.5"),
        ({"slm_per_xe_core_bytes": True}, "field slm_per_xe_core_bytes: Expected a size such as .*, got True"),
        ({"slm_per_xe_core_bytes": "32K"}, "field max_slm_per_work_group_bytes must not be above"),
        ({"slm_sizes_bytes": ["1K", "2K"]}, "field slm_sizes_bytes must ascend to max_slm_per_work_group_bytes"),
        ({"slm_sizes_bytes": ["2K", "1K", "64K"]}, "field slm_sizes_bytes must ascend"),
        ({"slm_sizes_bytes": ["1K", "x"]}, r"field slm_sizes_bytes\[1\]: 'x' is not a size"),
        ({"large_grf": 1}, "field large_grf: Expected 'bool', got 'int'"),
        ({"name": 5}, "field name: Expected 'str', got 'int'"),
        ({"max_workgroup_size": 5}, "Object contains unknown field 'max_workgroup_size'"),
        ({"products": {"name": "x"}}, "field products: Expected 'array', got 'object'"),
        ({"products": ["x"]}, r"field products\[0\]: Expected 'object', got 'str'"),
        ({"products": [{"name": "x"}]}, r"field products\[0\]: Object missing required field 'eu_count'"),
        ({"products": [{"name": "x", "eu_count": 64}]}, "field products must have an eu_count of eu_counts"),
        (
            {"products": [{"name": "x", "eu_count": 512, "stacks": 0}]},
            r"field products\[0\].stacks: Expected 'int' >= 1",
        ),
    ],
)
def test_errors_of_a_file_name_it_and_the_field(tmp_path, change, message):
    path = _written(tmp_path, MINE | change)
    with pytest.raises(GpuError, match=message) as caught:
        load_gpu_file(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in MINE if name != "name"])
def test_a_missing_field_is_named(tmp_path, name):
    path = _written(tmp_path, {key: value for key, value in MINE.items() if key != name})
    with pytest.raises(GpuError, match=f"mine.json: Object missing required field '{name}'"):
        load_gpu_file(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "mine.json: is not JSON \\(Expecting"),
        ("[1]", "mine.json: Expected 'object', got 'array'"),
    ],
)
def test_a_file_that_holds_no_gpu(tmp_path, text, message):
    with pytest.raises(GpuError, match=message) as caught:
        load_gpu_file(_written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_toml_or_missing(tmp_path):
    broken = tmp_path / "mine.toml"
    broken.write_text("a = = 1")
    with pytest.raises(GpuError, match=r"mine.toml: is not TOML \("):
        find_gpu(str(broken))
    with pytest.raises(GpuError, match=r"none.toml: cannot be read \(No such file"):
        find_gpu(str(tmp_path / "none.toml"))


def test_an_error_of_the_catalogue_names_file_entry_and_field(monkeypatch):
    broken = {"calculator": "", "gpus": [MINE | {"code": "new", "eu_counts": [0]}]}
    monkeypatch.setattr(json, "loads", lambda text: broken)
    with pytest.raises(GpuError, match=r"^gpus.json: entry 'new': field eu_counts\[0\]: Expected 'int' >= 1"):
        gpus.__wrapped__()


@pytest.mark.parametrize(
    ("platform", "code"), [("PVCXT", "pvc"), ("XE2", "bmg"), ("DG2", "dg2"), ("TGLLP", "tgllp"), ("", None)]
)
def test_gpus_by_what_the_assembly_calls_them(platform, code):
    gpu = gpu_of_platform(platform)
    assert (gpu and gpu.code) == code


def test_what_ocloc_calls_a_gpu(tmp_path):
    names = {gpu.code: gpu.ocloc_name for gpu in gpus()}
    assert (names["dg2"], names["gen9"], names["pvc"]) == ("dg2-g10", "skl", "pvc")
    assert load_gpu_file(_written(tmp_path, MINE | {"ocloc": "pvc"})).ocloc_name == "pvc"


def test_the_model_is_cheap_to_import():
    code = (
        "import sys, xebench.system.occupancy;"
        "print([name for name in ('numpy', 'pandas', 'rich', 'dpctl') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
