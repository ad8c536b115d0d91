"""A clean shell can import the stack; a broken set is refused in one line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from numba_sycl import libraries
from numba_sycl.stacks import is_current
from xebench.errors import BrokenEnvironment
from xebench.system.runtime import gpu_drivers, loading, packages
from xebench.system.runtime.packages import Finding

PACKAGES = "dpctl, dpnp" if is_current() else "dpctl, dpnp, numba_dpex"
CLEAN = {"HOME": os.environ.get("HOME", "/"), "PATH": "/usr/bin:/bin"}


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a shell that has only HOME, PATH and ``environment``."""
    return subprocess.run(
        [sys.executable, "-c", code], env=CLEAN | environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def sound(pinned: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pinned environment in which nothing is wrong, whatever this one is."""
    monkeypatch.setattr(packages, "python_finding", lambda: Finding("python", "ok", "Python", "3.11"))
    monkeypatch.setattr(packages, "package_findings", lambda: [Finding("packages", "ok", "dpctl", "0.17.0")])
    monkeypatch.setattr(libraries, "missing_libraries", dict)
    monkeypatch.setattr(libraries, "find_library", lambda name: Path("/env/lib") / name)
    monkeypatch.setattr(gpu_drivers, "nodes", list)
    monkeypatch.delenv("OCL_ICD_FILENAMES", raising=False)


def refusal() -> str:
    with pytest.raises(BrokenEnvironment) as caught:
        loading.require_environment()
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.exit_code == 3
    return message


def wrong(package: str, detail: str = "is not installed (1 is needed)") -> Finding:
    return Finding("packages", "error", package, detail, "mend it")


@pytest.mark.usefixtures("sound")
def test_a_sound_environment_passes() -> None:
    loading.require_environment()


@pytest.mark.usefixtures("sound")
def test_the_wrong_python_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "python_finding", lambda: Finding("python", "error", "Python", "no 3.12", "use 3.11"))
    monkeypatch.setattr(packages, "package_findings", lambda: [wrong("dpctl")])
    assert refusal() == "Python: no 3.12: use 3.11"


@pytest.mark.usefixtures("sound")
def test_all_wrong_packages_are_mended_by_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [wrong("dpctl", "0.22.1 is installed, 0.17.0 is needed"), wrong("numpy", "2.0 is installed")]
    monkeypatch.setattr(packages, "package_findings", lambda: found)
    message = refusal()
    assert message.startswith("dpctl 0.22.1 is installed, 0.17.0 is needed, numpy 2.0 is installed: ")
    assert "dpctl==" in message
    assert "numpy==" in message


@pytest.mark.usefixtures("sound")
def test_many_wrong_packages_are_a_wrong_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "package_findings", lambda: [wrong(name) for name in "abcde"])
    assert refusal().endswith(" and 2 more: run xebench setup --kernels")


@pytest.mark.usefixtures("sound")
def test_missing_libraries_are_named_with_package_and_command(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = {"libsycl.so.7": "intel-sycl-rt", "libmkl_core.so.2": "mkl"}
    monkeypatch.setattr(libraries, "missing_libraries", lambda: absent)
    message = refusal()
    assert "libsycl.so.7, libmkl_core.so.2 are missing (package intel-sycl-rt, mkl)" in message
    assert "pip install --no-deps --force-reinstall intel-sycl-rt==2024.2.2 mkl==2024.2.2" in message


@pytest.mark.usefixtures("sound")
def test_a_missing_cpu_driver_is_refused_where_nothing_else_can_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.setattr(libraries, "find_library", lambda name: None)
    assert "libintelocl.so is missing (package intel-opencl-rt)" in refusal()
    monkeypatch.setattr(gpu_drivers, "nodes", lambda: [Path("/dev/dri/renderD128")])
    loading.require_environment()
    assert loading.cpu_driver_finding().status == "warning"


@pytest.mark.usefixtures("sound")
def test_any_registered_driver_may_offer_a_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.setattr(libraries, "find_library", lambda name: None)
    (tmp_path / "gone.icd").write_text("/opt/gone/libigdrcl.so\n")
    assert "libintelocl.so is missing" in refusal()
    (tmp_path / "other.icd").write_text("libnvidia-opencl.so.1\n")
    loading.require_environment()
    assert loading.cpu_driver_finding().status == "warning"


@pytest.mark.usefixtures("sound")
@pytest.mark.parametrize(("value", "refused"), [("1", True), ("0", False), ("", False)])
def test_numba_must_be_allowed_to_compile(monkeypatch: pytest.MonkeyPatch, value: str, refused: bool) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", value)
    if refused:
        assert refusal().endswith("no kernel is compiled: unset NUMBA_DISABLE_JIT")
    else:
        loading.require_environment()


@pytest.mark.usefixtures("sound")
def test_the_systems_cpu_driver_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cpu.icd").write_text("libintelocl.so\n")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.setattr(libraries, "find_library", lambda name: None)
    assert loading.cpu_driver_finding().status == "ok"


@pytest.mark.usefixtures("sound")
def test_an_old_cpu_driver_is_a_warning_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "cpu_driver_series", lambda driver: 2024)
    finding = loading.cpu_driver_finding()
    assert finding.status == "warning"
    assert "wrong results" in finding.detail
    assert "intel-opencl-rt==" in finding.next_step


def test_importing_the_room_is_cheap() -> None:
    done = run(
        "import sys, xebench.system.runtime; print(sorted({'dpctl', 'numpy', 'psutil', 'numba'} & set(sys.modules)))"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_every_public_name_is_there() -> None:
    done = run(
        "import xebench.system.runtime as r; from importlib.util import find_spec\n"
        "print([n for n in r.__all__ if not hasattr(r, n) and not find_spec(f'{r.__name__}.{n}')], hasattr(r, 'x'))"
    )
    assert done.stdout.strip() == "[] False", done.stderr


@pytest.mark.numba_dpex
def test_a_newer_dpctl_is_one_line_and_no_traceback(tmp_path: Path) -> None:
    """What ``pip install numba-dpex`` gives, as its metadata shows it."""
    shadow(tmp_path, "dpctl", "0.22.1")
    done = run("from xebench.system import runtime; runtime.load()", PYTHONPATH=str(tmp_path))
    error = done.stderr.strip().splitlines()[-1]
    assert error.startswith("numba_sycl.errors.BrokenEnvironment: dpctl 0.22.1 is installed, 0.17.0 is needed: run ")
    assert ".so" not in done.stderr


def shadow(folder: Path, name: str, version: str) -> None:
    """Metadata that is found before the environment's own."""
    metadata = folder / f"{name}-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


@pytest.mark.device
def test_a_clean_shell_can_import_everything_and_sees_a_device() -> None:
    done = run(
        "from xebench.system import runtime; runtime.load(); runtime.load()\n"
        f"import {PACKAGES}\n"
        "print(len(runtime.list_devices()) == len([d for d in dpctl.get_devices() if d.is_gpu or d.is_cpu]) > 0)"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True"


@pytest.mark.device
def test_numpy_keeps_its_own_lapack(tmp_path: Path) -> None:
    done = run(
        "from xebench.system import runtime; runtime.load()\n"
        f"import {PACKAGES}, numpy as np\n"
        "a = np.eye(3)\n"
        "print(a @ a, np.linalg.inv(a), np.linalg.svd(a), np.linalg.eigh(a), np.linalg.solve(a, a))\n",
        LD_DEBUG="bindings",
        LD_DEBUG_OUTPUT=str(tmp_path / "bindings"),
    )
    assert done.returncode == 0, done.stderr
    text = "".join(file.read_text() for file in tmp_path.glob("bindings.*"))
    lapack = re.findall(r"binding file \S*/(numpy/\S+|numpy\.libs/\S+) .* to (\S+) .*\b(?:scipy_)?dgesv_?64_'", text)
    assert lapack and all("numpy.libs" in library for _, library in lapack)
    assert not re.findall(r"binding file \S*/(?:numpy/|numpy\.libs/)\S+ .* to \S*libmkl\S+ .*", text)


@pytest.mark.device
def test_variables_of_the_user_stay_as_they_are() -> None:
    done = run(
        "import os; from xebench.system import runtime; runtime.load(); print(os.environ['OCL_ICD_FILENAMES'])",
        OCL_ICD_FILENAMES="/the/users/driver.so",
    )
    assert done.stdout.strip() == "/the/users/driver.so", done.stderr


@pytest.mark.numba_dpex
@pytest.mark.device
def test_a_library_that_cannot_be_loaded_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "libsvml.so").write_bytes(b"damaged")
    done = run(
        "from xebench.system import runtime\n"
        "from numba_sycl import libraries\n"
        "from pathlib import Path\n"
        "real = libraries.library_folders\n"
        f"libraries.library_folders = lambda: [Path({str(tmp_path)!r}), *real()]\n"
        "runtime.load()"
    )
    error = done.stderr.strip().splitlines()[-1]
    assert "the SYCL runtime cannot be loaded (" in error
    assert "libsvml.so: file too short" in error
    assert "intel-cmplr-lib-rt==" in error
