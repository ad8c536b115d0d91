"""Intel's GPU driver with no GPU behind it: which driver, as which GPU, and every pattern tried on it.

Two drivers can be told by debug variables to pretend a GPU: the OpenCL driver that this system has installed, and,
with Level Zero too, the current one in the root that ``make level-zero`` makes. The root's own dynamic linker and
libraries run this environment's Python, so that neither a chroot nor rights are needed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from optional import LIBRARIES, ROOT

from numba_sycl.stacks import is_current

HERE: Final = Path(__file__).parents[1]
CHECKOUT: Final = HERE.parent

#: Slices, sub-slices and vector engines of each, as ``HardwareInfoOverride`` takes them.
GPUS: Final = {"dg2": "8x4x16", "tgllp": "1x6x16", "pvc": "8x8x8", "bmg": "5x4x8"}

#: Makes one of them small enough for several.
SMALL_STACKS: Final = {"HardwareInfoOverride": "2x4x8"}

#: Variants that are made to be refused or need more than an Xe-LP has, and how they are refused.
REFUSED: Final = {
    "barrier_work_group/five_rows": "UnsupportedByDevice: ",
    "ccs_modes/one_engine": "UnsupportedByDevice: ",  # groups of 1024 fill a core of the Max; an Xe-LP allows 512
    "slm_too_large/more_than_there_is": "unexpected KernelBuildError: ",
    "slm_too_large/items_with_too_much_each": "unexpected KernelBuildError: ",
    "random_numbers/rand_in_kernel": "unexpected KernelBuildError: ",
}

#: What a variant says of which a library refuses the device, and what oneMKL's own thread says as it aborts.
OF_LIBRARY: Final = ("does not run on this device", "in kernel: oneapi::mkl::")

#: Patterns whose products, sums, transforms or random numbers are oneMKL's. It reads memory that nothing has written
#: here, and refuses the device, or aborts, in some processes.
OF_ONEMKL: Final = {
    *("gemm_batch", "gemm_consecutive", "gemm_padded_rows", "gemm_padded_size", "gemm_resident", "library_matmul"),
    *("axpy_devices", "ccs_mpi_dgemm", "fourier_correlation", "matmul_devices", "random_generators"),
    *("gemm_groups", "matrix_engine_modes", "update_what_changed"),
}

#: How variants with buffers, and kernels in SYCL C++, are refused on Level Zero by the pinned stack, which has no
#: headers of SYCL.
OF_HEADERS: Final = re.compile(r"Unsupported: .*\bneeds the headers of |NeedsSyclCompiler: ")

#: One process tries all patterns on a GPU: 30 s, and several times as much on a busy machine.
TIMEOUT_S: Final = 900


@dataclass(frozen=True)
class Driver:
    """A driver that pretends.

    Attributes:
        python: that loads it.
        variables: that it needs.
    """

    python: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def environment(self, gpu: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The variables of a process that finds this GPU."""
        return {
            **os.environ,
            "NEOReadDebugKeys": "1",
            "SetCommandStreamReceiver": "1",
            "ProductFamilyOverride": gpu,
            "HardwareInfoOverride": GPUS[gpu],
            **self.variables,
            **(more or {}),
        }

    def run(
        self, gpu: str, folder: Path, *arguments: str | Path, more: Mapping[str, str] | None = None, told: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run Python with the GPU beside the CPU device.

        Args:
            gpu: one of `GPUS`.
            folder: where it runs, since the driver leaves files there.
            arguments: of Python.
            more: variables.
            told: standard input.
        """
        return subprocess.run(
            [self.python, *arguments],
            input=told,
            env=self.environment(gpu, more),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def tell(self, gpu: str, folder: Path, script: str, *arguments: str, more: Mapping[str, str] | None = None) -> Any:
        """What a script of ``tests/no_hardware`` prints as its last line of JSON."""
        done = self.run(gpu, folder, HERE / "no_hardware" / script, *arguments, more=more)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return list(_json_lines(done.stdout))[-1]


def installed_driver() -> Driver:
    """The OpenCL driver of this system."""
    return Driver(Path(sys.executable))


def current_driver(folder: Path) -> Driver:
    """The driver in the root.

    Args:
        folder: for an environment like this one whose Python runs with the root's libraries.
    """
    # all but the OpenCL loader: that of our environment knows our CPU driver
    libraries = folder / "libraries"
    libraries.mkdir()
    for library in LIBRARIES.iterdir():
        if not library.name.startswith("libOpenCL.so"):
            (libraries / library.name).symlink_to(library)
    vendors = folder / "vendors"
    vendors.mkdir()
    (vendors / "intel.icd").write_text(f"{LIBRARIES / 'intel-opencl' / 'libigdrcl.so'}\n")
    builds = folder / "builds"
    builds.mkdir()
    variables = {
        "UseAubStream": "0",  # the driver ends at its start else
        "UseBindlessMode": "0",  # dg2 and bmg end at their first kernel else
        "OCL_ICD_VENDORS": str(vendors),
        "NEO_CACHE_DIR": str(builds),  # not into the user's
    }
    if is_current():
        variables["SYCL_UR_USE_LEVEL_ZERO_V2"] = "0"  # bmg does not submit with the newer adapter
        variables["LIBOMPTARGET_LEVEL_ZERO_USM_RESIDENT"] = "0x000"  # OpenMP's runtime takes no device otherwise
    return Driver(_python_of_root(folder, libraries), variables)


def _python_of_root(folder: Path, libraries: Path) -> Path:
    """A virtual environment with the packages of this one, in which Python and its children run with the libraries."""
    environment = folder / "environment"
    (environment / "bin").mkdir(parents=True)
    (environment / "lib").symlink_to(Path(sys.prefix) / "lib")
    base = Path(os.path.realpath(sys.executable))
    (environment / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
    python = environment / "bin" / "python"
    linker = ROOT / "lib64" / "ld-linux-x86-64.so.2"
    python.write_text(f'#!/bin/sh\nexec "{linker}" --argv0 "$0" --library-path "{libraries}" "{base}" "$@"\n')
    python.chmod(0o755)
    return python


@dataclass(frozen=True)
class Tried:
    """What became of the patterns on a GPU.

    Attributes:
        device: the row of table ``devices``.
        outcomes: by ``pattern/variant``: ``submitted N``, ``skipped: ...``, an error, or how the process ended.
        ends: how processes crashed that were at no variant, such as at their end.
        without: variables with which the driver has no GPU, so that their variants were tried without.
    """

    device: dict[str, Any]
    outcomes: dict[str, str]
    ends: list[str]
    without: list[dict[str, str]]

    @property
    def submitted(self) -> dict[str, str]:
        """The variants whose commands the driver took."""
        return {name: text for name, text in self.outcomes.items() if text.startswith("submitted ")}

    @property
    def patterns(self) -> set[str]:
        """Those of which a variant was submitted."""
        return {name.partition("/")[0] for name in self.submitted}

    @property
    def wrong(self) -> dict[str, str]:
        """The variants that were not submitted, and neither lack something of the device nor claim to be refused."""
        fine = ("submitted ", "skipped: ", "Unsupported: needs ", *(["NeedsCompiler: "] if is_current() else []))
        return {
            name: text
            for name, text in self.outcomes.items()
            if not text.startswith((*fine, REFUSED.get(name, "submitted "))) and not OF_HEADERS.match(text)
        }

    @property
    def refused_by_library(self) -> set[str]:
        """The variants whose library refuses the device."""
        return {name for name, text in self.outcomes.items() if any(words in text for words in OF_LIBRARY)}

    @property
    def without_headers(self) -> set[str]:
        """The patterns of which a variant lacks SYCL's headers."""
        return {name.partition("/")[0] for name, text in self.outcomes.items() if OF_HEADERS.match(text)}

    def counts(self) -> str:
        """Patterns and variants, in a line."""
        patterns = {name.partition("/")[0] for name in self.outcomes}
        return (
            f"{len(self.patterns)} of {len(patterns)} patterns, {len(self.submitted)} of {len(self.outcomes)} variants "
            f"submitted on {self.device['device']}, not: {dict(Counter(self._reasons()))}"
        )

    def note_crash(self, done: subprocess.CompletedProcess[str], lines: Sequence[Any]) -> None:
        """A process ended early: at a variant, or at none."""
        how = f"the process ended with {done.returncode}: {done.stderr.strip()[-600:]}"
        last = next((line["at"] for line in reversed(lines) if "at" in line), None)
        if last is None or last in self.outcomes:
            self.ends.append(how)
        else:
            self.outcomes[last] = how

    def _reasons(self) -> Iterator[str]:
        return (text.partition(":")[0] for name, text in self.outcomes.items() if name not in self.submitted)


def try_patterns(
    driver: Driver, gpu: str, folder: Path, files: Iterable[Path], more: Mapping[str, str] | None = None
) -> Tried:
    """Build and submit every variant of pattern files: see ``tests/no_hardware/build_patterns.py``.

    A process that crashes or hangs costs one variant: another goes on behind it. Variants with variables of their own
    run in processes that have them; without them where the driver has no GPU then. oneMKL asks the device something
    before its first call, and gets what memory held since nothing is computed: what it refuses, and where it
    aborts, is tried again by another process.
    """
    tried = Tried({}, {}, [], [])
    paths = [str(file) for file in files]
    environments: list[dict[str, str]] = [{}]
    for own in environments:  # it grows meanwhile
        variables, attempts = {**(more or {}), **own}, 4
        while len(tried.ends) < 3:
            task = json.dumps({"files": paths, "environment": own, "done": sorted(tried.outcomes)})
            done = driver.run(gpu, folder, HERE / "no_hardware" / "build_patterns.py", more=variables, told=task)
            lines = list(_json_lines(done.stdout))
            if own and own.items() <= variables.items() and not any("device" in line for line in lines):
                tried.without.append(own)
                variables = dict(more or {})
                continue
            for line in lines:
                tried.device.update(line.get("device", {}))
                environments += [
                    json.loads(each) for each in line.get("environments", ()) if json.loads(each) not in environments
                ]
            before = tried.refused_by_library
            tried.outcomes.update(item for line in lines for item in line.get("outcome", {}).items())
            if done.returncode:
                tried.note_crash(done, lines)
            refused = tried.refused_by_library - before
            if refused and attempts > 1:
                attempts -= 1
                for name in refused:
                    del tried.outcomes[name]
            elif done.returncode == 0:
                break
    return tried


def _json_lines(text: str) -> Iterator[Any]:
    """Libraries print between them."""
    return (json.loads(line) for line in text.splitlines() if line.startswith("{"))
