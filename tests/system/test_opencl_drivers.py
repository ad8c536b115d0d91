"""Which OpenCL drivers are registered, and what is set for the environment's own."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from numba_sycl import libraries, stacks
from xebench.errors import BrokenEnvironment
from xebench.system.runtime.variables import hiding_variables

INTEL = "processor : 0\nvendor_id : GenuineIntel\nflags\t\t: fpu avx avx2 fma bmi2\n"
AMD = "processor : 0\nvendor_id : AuthenticAMD\nflags\t\t: {}\n"
AVX512 = "avx avx2 fma bmi2 avx512f avx512dq avx512bw avx512vl avx512cd"


@pytest.fixture
def vendors(tmp_path: Path) -> Path:
    folder = tmp_path / "vendors"
    folder.mkdir()
    return folder


def driver(folder: Path, version: str = "2026.22.10.0") -> Path:
    """A CPU driver as the packages install it: a link to a file that carries the version."""
    (folder / f"libintelocl.so.{version}").touch()
    link = folder / "libintelocl.so"
    link.symlink_to(f"libintelocl.so.{version}")
    return link


def settings(vendors: Path, cpu_driver: Path | None, cpuinfo: str = INTEL, **environment: str) -> dict[str, str]:
    return libraries.driver_settings({"OCL_ICD_VENDORS": str(vendors)} | environment, cpu_driver, cpuinfo)


def test_the_driver_joins_those_of_the_system(vendors: Path, tmp_path: Path) -> None:
    (vendors / "intel.icd").write_text("/usr/lib/intel-opencl/libigdrcl.so\n")
    cpu_driver = driver(tmp_path)
    assert settings(vendors, cpu_driver) == {"OCL_ICD_FILENAMES": str(cpu_driver)}


def test_a_driver_in_a_path_with_a_space_gets_another(
    vendors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver reads the path in /proc/self/maps: that of a hard link, or of a copy; of no symbolic one."""
    folder = tmp_path / "my projects"
    folder.mkdir()
    cpu_driver = driver(folder)
    cpu_driver.write_text("driver")
    (folder / "beside.rtl").write_text("part")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    named = Path(settings(vendors, cpu_driver)["OCL_ICD_FILENAMES"])
    assert named == Path(settings(vendors, cpu_driver)["OCL_ICD_FILENAMES"])
    assert named.is_relative_to(tmp_path / "cache/numba-sycl/driver") and " " not in str(named.resolve())
    assert (named.read_text(), (named.parent / "beside.rtl").read_text()) == ("driver", "part")
    assert not hiding_variables({"OCL_ICD_FILENAMES": str(named)}, cpu_driver)
    # where the environment's own cache has a space, too, and on another file system
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(Path, "hardlink_to", Mock(side_effect=OSError(18, "Invalid cross-device link")))
    named = Path(settings(vendors, cpu_driver)["OCL_ICD_FILENAMES"])
    assert named.is_relative_to(tmp_path / "temporary") and not named.is_symlink()
    assert named.read_text() == "driver"
    # another driver in its place
    (folder / "libintelocl.so.2026.22.10.0").write_text("later driver")
    assert Path(settings(vendors, cpu_driver)["OCL_ICD_FILENAMES"]).read_text() == "later driver"


def test_where_the_driver_gets_no_other_folder_the_space_is_the_reason(
    vendors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my projects"
    folder.mkdir()
    cpu_driver = driver(folder)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.raises(BrokenEnvironment, match=r"^Intel's CPU driver cannot work in /.*/my projects, since the path"):
        settings(vendors, cpu_driver)
    # what the user has chosen asks for no folder
    assert settings(vendors, cpu_driver, OCL_ICD_FILENAMES="") == {}


def test_what_the_loader_finds_is_what_is_registered_and_named(tmp_path: Path) -> None:
    here, registered = tmp_path / "libhere.so", tmp_path / "own.icd"
    here.touch()
    registered.write_text("/nowhere/libgone.so\nlibsomewhere.so.1\n")
    environment = {"OCL_ICD_VENDORS": str(registered), "OCL_ICD_FILENAMES": f"{here}:/nowhere/libgone.so"}
    assert libraries.existing_drivers(environment) == ["libsomewhere.so.1", str(here)]


def test_a_folder_that_is_not_there_registers_nothing(tmp_path: Path) -> None:
    assert libraries.registered_drivers([tmp_path / "nowhere"]) == []


def test_a_cpu_driver_of_the_system_is_not_registered_twice(vendors: Path, tmp_path: Path) -> None:
    cpu_driver = driver(tmp_path)
    (vendors / "cpu.icd").write_text(f"{cpu_driver}\n")
    assert settings(vendors, cpu_driver) == {}
    (vendors / "cpu.icd").write_text("libintelocl.so\n")
    assert settings(vendors, cpu_driver) == {}


def test_a_stale_registration_does_not_count(vendors: Path, tmp_path: Path) -> None:
    (vendors / "cpu.icd").write_text("/opt/gone/libintelocl.so\n")
    assert "OCL_ICD_FILENAMES" in settings(vendors, driver(tmp_path))


def test_what_the_user_has_set_stays(vendors: Path, tmp_path: Path) -> None:
    cpu_driver = driver(tmp_path, "2024.18.7.0")
    own = {"OCL_ICD_FILENAMES": "", "CL_CONFIG_CPU_TARGET_ARCH": "corei7"}
    assert settings(vendors, cpu_driver, AMD.format(AVX512), **own) == {}


def test_without_a_driver_nothing_is_set(vendors: Path) -> None:
    assert settings(vendors, None) == {}


def test_condas_own_registration_counts(vendors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "env" / "etc" / "OpenCL" / "vendors"
    own.mkdir(parents=True)
    cpu_driver = driver(tmp_path)
    (own / "intel-cpu.icd").write_text(str(cpu_driver))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    assert "OCL_ICD_FILENAMES" in settings(vendors, cpu_driver)  # pip's loader does not read that folder
    (tmp_path / "env" / "conda-meta").mkdir()
    assert settings(vendors, cpu_driver) == {}


@pytest.mark.parametrize(
    ("flags", "architecture"),
    [(AVX512, "skx"), ("avx avx2 fma bmi2", "core-avx2"), ("sse4_2 avx", "corei7-avx"), ("sse2", "corei7")],
)
def test_an_old_driver_is_told_what_processor_this_is(
    vendors: Path, tmp_path: Path, flags: str, architecture: str
) -> None:
    found = settings(vendors, driver(tmp_path, "2024.18.7.0"), AMD.format(flags))
    assert found["CL_CONFIG_CPU_TARGET_ARCH"] == architecture


def test_an_old_driver_knows_intels_processors(vendors: Path, tmp_path: Path) -> None:
    assert "CL_CONFIG_CPU_TARGET_ARCH" not in settings(vendors, driver(tmp_path, "2024.18.7.0"), INTEL)


def test_a_new_driver_is_told_nothing(vendors: Path, tmp_path: Path) -> None:
    assert "CL_CONFIG_CPU_TARGET_ARCH" not in settings(vendors, driver(tmp_path), AMD.format(AVX512))


def test_the_series_is_in_the_file_name_or_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert libraries.cpu_driver_series(driver(tmp_path, "2024.18.7.0")) == 2024
    plain = tmp_path / "copy" / "libintelocl.so"
    plain.parent.mkdir()
    plain.touch()
    monkeypatch.setattr(stacks, "installed_version", lambda package: "2026.2.0")
    assert libraries.cpu_driver_series(plain) == 2026
    monkeypatch.setattr(stacks, "installed_version", lambda package: None)
    assert libraries.cpu_driver_series(plain) is None
