"""Variables are looked up after they were set: here by a queue that tells what a test wants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xebench.errors import Unsupported

pytestmark = pytest.mark.device  # importing switches loads dpctl


class Device:
    is_gpu = True
    vendor = "Intel(R) Corporation"

    def __init__(self, stacks: int, backend: str) -> None:
        import dpctl

        self.backend = dpctl.backend_type[backend]
        self.filter_string = f"{backend}:gpu:0"
        self._stacks = stacks

    def create_sub_devices(self, partition: str) -> list[str]:
        import dpctl

        if not self._stacks:
            raise dpctl.SyclSubDeviceCreationError(partition)
        return [partition] * self._stacks


class Queue:
    def __init__(self, stacks: int = 0, backend: str = "level_zero") -> None:
        self.sycl_device = Device(stacks, backend)


def found(environment: dict[str, str], queue: Any) -> dict[str, str]:
    from xebench.session.switches import looked_up

    with looked_up(environment, queue) as words:
        pass
    return words


@pytest.mark.parametrize(
    ("hierarchy", "stacks", "heeded"), [("FLAT", 0, True), ("FLAT", 2, False), ("COMPOSITE", 2, True)]
)
def test_a_hierarchy_that_was_not_heeded_is_told(hierarchy: str, stacks: int, heeded: bool) -> None:
    asked = {"ZE_FLAT_DEVICE_HIERARCHY": hierarchy}
    if heeded:
        assert found(asked, Queue(stacks)) == {"ZE_FLAT_DEVICE_HIERARCHY": f"{stacks} stacks in the device"}
    else:
        with pytest.raises(Unsupported, match="=FLAT had no effect: 2 stacks in the device"):
            found(asked, Queue(stacks))


def test_engines_and_lists_are_compared_with_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    import dpctl

    from numba_sycl import level_zero_library
    from xebench.session import switches
    from xebench.system.runtime import level_zero

    monkeypatch.setattr(dpctl, "SyclDevice", lambda filter_string: Device(2, "level_zero"))
    monkeypatch.setattr(switches, "device_handle", lambda device: device)
    monkeypatch.setattr(level_zero_library, "open_library", lambda: None)
    of_stack = {"numa": 4}  # the name of a pretended stack; the card itself shows one engine
    monkeypatch.setattr(level_zero, "compute_engines", lambda library, device: of_stack.get(device, 1))
    monkeypatch.setattr(switches, "has_immediate_list", lambda queue: True)
    assert found({"ZEX_NUMBER_OF_CCS": "0:4"}, Queue()) == {"ZEX_NUMBER_OF_CCS": "4 compute engines"}
    with pytest.raises(Unsupported, match="ZEX_NUMBER_OF_CCS=0:2 had no effect"):
        found({"ZEX_NUMBER_OF_CCS": "0:2"}, Queue())
    with pytest.raises(Unsupported, match="=0 had no effect: immediate command lists"):
        found({"UR_L0_USE_IMMEDIATE_COMMANDLISTS": "0"}, Queue())
    assert found({"ZEX_NUMBER_OF_CCS": "0:2", "OTHER": "1"}, Queue(backend="opencl")) == {}


def test_ranks_that_nobody_pinned_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"I_MPI_OFFLOAD_DEVICE_LIST": "0,1"}
    monkeypatch.setenv("ZE_AFFINITY_MASK", "1")
    assert found(asked, Queue()) == {"I_MPI_OFFLOAD_DEVICE_LIST": "ZE_AFFINITY_MASK=1"}
    monkeypatch.setenv("ZE_AFFINITY_MASK", "0,1")
    with pytest.raises(Unsupported, match="=0,1 had no effect: ZE_AFFINITY_MASK=0,1"):
        found(asked, Queue())
    monkeypatch.delenv("ZE_AFFINITY_MASK")
    with pytest.raises(Unsupported, match="=0,1 had no effect: the launcher sets no ZE_AFFINITY_MASK"):
        found(asked, Queue())


@pytest.mark.parametrize(("owner", "heeded"), [(None, "0"), (7, "device,16,4,256")])
def test_a_pool_is_found_by_what_becomes_of_freed_memory(
    owner: int | None, heeded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from types import SimpleNamespace

    from numba_sycl import level_zero_library
    from xebench.dpex import openmp
    from xebench.system.runtime import level_zero

    target = SimpleNamespace(context=1, alloc=lambda size_bytes: size_bytes, free=lambda address: None)
    monkeypatch.setattr(openmp, "target_device", lambda device: target)
    monkeypatch.setattr(level_zero_library, "open_library", lambda: None)
    monkeypatch.setattr(level_zero, "owner", lambda library, context, address: owner)
    name = "LIBOMPTARGET_LEVEL_ZERO_MEMORY_POOL"
    for wanted, mib in (("0", 1), ("device,16,4,256", 16)):
        words = f"memory of {mib} MiB {'goes' if owner is None else 'stays'} when it is freed"
        if wanted == heeded:
            assert found({name: wanted}, Queue()) == {name: words}
        else:
            with pytest.raises(Unsupported, match=f"{name}={wanted} had no effect: {words}"):
                found({name: wanted}, Queue())


@pytest.mark.parametrize(
    ("name", "wanted", "lists", "staged", "heeded"),
    [
        ("USE_IMMEDIATE_COMMAND_LIST", "0", 2, False, True),
        ("USE_IMMEDIATE_COMMAND_LIST", "0", 0, False, False),
        ("USE_IMMEDIATE_COMMAND_LIST", "all", 0, False, True),
        ("COMMAND_BATCH", "copy", 1, False, True),
        ("COMMAND_BATCH", "copy", 2, False, False),
        ("COMMAND_BATCH", "copy", 0, False, False),
        ("STAGING_BUFFER_SIZE", "16", 0, True, True),
        ("STAGING_BUFFER_SIZE", "16", 0, False, False),
        ("STAGING_BUFFER_SIZE", "0", 0, False, True),
        ("STAGING_BUFFER_SIZE", "0", 0, True, False),
    ],
)
def test_variables_of_openmp_are_found_by_how_it_copies(
    name: str, wanted: str, lists: int, staged: bool, heeded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xebench.dpex import openmp

    copies = openmp.Copies(lists, staged)
    monkeypatch.setattr(openmp, "traced_copies", lambda device, size_kib: copies)
    variable = f"LIBOMPTARGET_LEVEL_ZERO_{name}"
    if heeded:
        assert set(found({variable: wanted}, Queue())) == {variable}
    else:
        with pytest.raises(Unsupported, match=f"{name}={wanted} had no effect: "):
            found({variable: wanted}, Queue())


def test_a_variable_that_mpi_has_not_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.system.runtime import variables

    read = {"I_MPI_OFFLOAD_BUFFER_NUM": 32, "I_MPI_OFFLOAD_PIPELINE_THRESHOLD": 65536}
    monkeypatch.setattr(variables, "control_variable", read.get)
    assert found({"I_MPI_OFFLOAD_BUFFER_NUM": "32"}, Queue()) == {"I_MPI_OFFLOAD_BUFFER_NUM": "MPI has 32"}
    with pytest.raises(Unsupported, match="THRESHOLD=524288 had no effect: MPI has 65536"):
        found({"I_MPI_OFFLOAD_PIPELINE_THRESHOLD": "524288"}, Queue())
    with pytest.raises(Unsupported, match="SIZE=1 had no effect: this MPI does not read it"):
        found({"I_MPI_OFFLOAD_CACHE_TOTAL_MAX_SIZE": "1"}, Queue())


def test_builds_that_are_kept_although_none_are_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.session.switches import looked_up

    monkeypatch.setenv("NEO_CACHE_DIR", str(tmp_path))

    def building(wanted: str, *, keeps: bool) -> dict[str, str]:
        with looked_up({"NEO_CACHE_PERSISTENT": wanted}, Queue(backend="opencl")) as words:
            if keeps:
                (tmp_path / f"{len(list(tmp_path.iterdir()))}.cl_cache").touch()
        return words

    with pytest.raises(Unsupported, match="=1 had no effect: 0 builds kept"):
        building("1", keeps=False)
    assert building("1", keeps=True) == {"NEO_CACHE_PERSISTENT": "1 builds kept"}
    assert building("0", keeps=False) == {"NEO_CACHE_PERSISTENT": "0 new builds kept"}
    with pytest.raises(Unsupported, match="=0 had no effect"):
        building("0", keeps=True)
