"""Which environment variables belong to a measurement's record."""

from __future__ import annotations

import pytest

from xebench.system.runtime import relevant_environment

MATTER = [
    *("ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY", "ZEX_NUMBER_OF_CCS", "ONEAPI_DEVICE_SELECTOR"),
    *("SYCL_PI_TRACE", "SYCL_CACHE_PERSISTENT", "SYCL_USM_HOSTPTR_IMPORT", "NEO_CACHE_PERSISTENT"),
    *("NEOReadDebugKeys", "EnableImplicitScaling", "CFESingleSliceDispatchCCSMode", "PrintDebugMessages"),
    *("IGC_ForceOCLSIMDWidth", "OCL_ICD_FILENAMES", "CL_CONFIG_CPU_TARGET_ARCH", "LIBOMPTARGET_DEBUG"),
    *("OMP_TARGET_OFFLOAD", "MKL_BLAS_COMPUTE_MODE", "NUMBA_DPEX_OPT", "DPCTL_VERBOSITY", "LD_LIBRARY_PATH"),
    *("I_MPI_OFFLOAD", "AMPLXE_EXPERIMENTAL", "CreateMultipleRootDevices"),
]


@pytest.mark.parametrize("name", MATTER)
def test_what_changes_a_measurement_is_recorded(name: str) -> None:
    assert relevant_environment({name: "1"}) == {name: "1"}


@pytest.mark.parametrize("name", ["HOME", "PATH", "USER", "AWS_SECRET_ACCESS_KEY", "CLICOLOR", "OCLUSTER"])
def test_nothing_else_is(name: str) -> None:
    assert relevant_environment({name: "1"}) == {}


def test_the_record_is_sorted() -> None:
    assert list(relevant_environment({"ZE_B": "", "OMP_A": "", "ZE_A": ""})) == ["OMP_A", "ZE_A", "ZE_B"]


def test_this_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYCL_CACHE_DIR", "/somewhere")
    assert relevant_environment()["SYCL_CACHE_DIR"] == "/somewhere"
