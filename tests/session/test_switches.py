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
    from xebench.measuring.session.switches import looked_up

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
        with pytest.raises(Unsupported, match="=FLAT was not heeded: 2 stacks in the device"):
            found(asked, Queue(stacks))


def test_engines_and_lists_are_compared_with_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.measuring.session import switches

    monkeypatch.setattr(switches.dpctl, "SyclDevice", lambda filter_string: filter_string)
    monkeypatch.setattr(switches, "device_handle", lambda device: device)
    monkeypatch.setattr(switches.level_zero_library, "open_library", lambda: None)
    monkeypatch.setattr(switches.level_zero_library, "compute_engines", lambda library, device: 4)
    monkeypatch.setattr(switches, "has_immediate_list", lambda queue: True)
    assert found({"ZEX_NUMBER_OF_CCS": "0:4"}, Queue()) == {"ZEX_NUMBER_OF_CCS": "4 compute engines"}
    with pytest.raises(Unsupported, match="ZEX_NUMBER_OF_CCS=0:2 was not heeded"):
        found({"ZEX_NUMBER_OF_CCS": "0:2"}, Queue())
    with pytest.raises(Unsupported, match="=0 was not heeded: immediate command lists"):
        found({"UR_L0_USE_IMMEDIATE_COMMANDLISTS": "0"}, Queue())
    assert found({"ZEX_NUMBER_OF_CCS": "0:2", "OTHER": "1"}, Queue(backend="opencl")) == {}


def test_ranks_that_nobody_pinned_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"I_MPI_OFFLOAD_DEVICE_LIST": "0,1"}
    monkeypatch.setenv("ZE_AFFINITY_MASK", "1")
    assert found(asked, Queue()) == {"I_MPI_OFFLOAD_DEVICE_LIST": "ZE_AFFINITY_MASK=1"}
    monkeypatch.delenv("ZE_AFFINITY_MASK")
    with pytest.raises(Unsupported, match="=0,1 was not heeded: the launcher sets no ZE_AFFINITY_MASK"):
        found(asked, Queue())


@pytest.mark.parametrize(("keeps", "heeded"), [(False, "UR_L0_DISABLE_USM_ALLOCATOR"), (True, "UR_L0_USM_ALLOCATOR")])
def test_a_pool_is_found_by_what_becomes_of_freed_memory(
    keeps: bool, heeded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from types import SimpleNamespace

    from xebench.measuring.session import switches

    monkeypatch.setattr(switches.dpctl.memory, "MemoryUSMDevice", lambda size, queue: SimpleNamespace(_pointer=size))
    monkeypatch.setattr(switches.level_zero_library, "open_library", lambda: None)
    monkeypatch.setattr(switches, "context_handle", lambda context: context)
    monkeypatch.setattr(switches.level_zero_library, "is_allocated", lambda library, context, address: keeps)
    queue: Any = Queue()
    queue.sycl_context = None
    words = "an array of {} MiB " + ("stays" if keeps else "goes") + " when it is freed"
    for name, mib in (("UR_L0_DISABLE_USM_ALLOCATOR", 1), ("UR_L0_USM_ALLOCATOR", 16)):
        if name == heeded:
            assert found({name: "1"}, queue) == {name: words.format(mib)}
        else:
            with pytest.raises(Unsupported, match=f"{name}=1 was not heeded: {words.format(mib)}"):
                found({name: "1"}, queue)


def test_a_variable_that_mpi_has_not_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.measuring.session import switches

    read = {"I_MPI_OFFLOAD_BUFFER_NUM": 32, "I_MPI_OFFLOAD_PIPELINE_THRESHOLD": 65536}
    monkeypatch.setattr(switches.variables, "control_variable", read.get)
    assert found({"I_MPI_OFFLOAD_BUFFER_NUM": "32"}, Queue()) == {"I_MPI_OFFLOAD_BUFFER_NUM": "MPI has 32"}
    with pytest.raises(Unsupported, match="THRESHOLD=524288 was not heeded: MPI has 65536"):
        found({"I_MPI_OFFLOAD_PIPELINE_THRESHOLD": "524288"}, Queue())
    with pytest.raises(Unsupported, match="SIZE=1 was not heeded: this MPI does not read it"):
        found({"I_MPI_OFFLOAD_CACHE_TOTAL_MAX_SIZE": "1"}, Queue())


def test_builds_that_are_kept_although_none_are_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.measuring.session.switches import looked_up

    monkeypatch.setenv("NEO_CACHE_DIR", str(tmp_path))

    def building(wanted: str, *, keeps: bool) -> dict[str, str]:
        with looked_up({"NEO_CACHE_PERSISTENT": wanted}, Queue(backend="opencl")) as words:
            if keeps:
                (tmp_path / f"{len(list(tmp_path.iterdir()))}.cl_cache").touch()
        return words

    with pytest.raises(Unsupported, match="=1 was not heeded: 0 builds kept"):
        building("1", keeps=False)
    assert building("1", keeps=True) == {"NEO_CACHE_PERSISTENT": "1 builds kept"}
    assert building("0", keeps=False) == {"NEO_CACHE_PERSISTENT": "0 new builds kept"}
    with pytest.raises(Unsupported, match="=0 was not heeded"):
        building("0", keeps=True)
