"""Each kernel that the suite launches, by numba-dpex's module and by ours: ``tools/compilers/compare_bytes.py``.

On the current stack: numba-dpex's modules are those of the shipped pack, ours are compiled here. Both run on the same
bytes of the same buffers, and every byte of every buffer that they are given is compared afterwards. Each pattern has a
process of its own, since the driver of the CPU device may end it; after that the pattern goes on without the kernel
that it happened in. The outcome is written to results/studies/compilers/bytes.json, which ``page.py`` reads.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TextIO

import numpy as np

ROOT: Final = Path(__file__).parents[2]
DATA: Final = ROOT / "results/studies/compilers/bytes.json"
TIMEOUT_S: Final = 300
#: Kernels of one pattern that may end its process before the rest is given up.
MOST_CRASHES: Final = 5
#: Whose module runs; the first runs twice, since a race gives other bytes each time.
SIDES: Final = ("numba-dpex", "ours", "numba-dpex again")


def main() -> None:
    """Compare all patterns, or those whose names are given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--child", type=Path, metavar="FILE", help="compare in this process, and write lines there")
    parser.add_argument("--without", nargs="*", default=[], help="keys of kernels that are left out")
    asked = parser.parse_args()
    if asked.child:
        with asked.child.open("a", encoding="utf-8") as file:
            compare(asked.patterns[0], set(asked.without), file)
        return
    from xebench.patterns.registry import builtin_files, read

    found: dict[str, dict[str, Any]] = {}
    for info in read(builtin_files()):
        if not asked.patterns or info.name in asked.patterns:
            of_pattern = in_children(info.name)
            found |= {key: line for key, line in of_pattern.items() if key not in found}
            print(info.name, dict(Counter(line["outcome"] for line in of_pattern.values())), flush=True)
    lines = sorted(
        found.values(), key=lambda line: (line["origin"], line["kernel"], line["signature"], line["options"])
    )
    total = Counter(line["outcome"] for line in lines)
    print(dict(total))
    for line in lines:
        if line["outcome"] != "equal":
            print(json.dumps(line))
    if not asked.patterns:
        DATA.parent.mkdir(parents=True, exist_ok=True)
        DATA.write_text(json.dumps({"versions": versions(), "kernels": lines}, indent=1) + "\n", encoding="utf-8")


def versions() -> dict[str, str]:
    """Of what made the modules, and of the driver."""
    from xebench.dpex.spirv_cache import compiler_versions
    from xebench.system.kernel_pack import OWN_PACK, Pack
    from xebench.system.runtime.packages import installed_version

    made = {f"shipped {name}": version for name, version in Pack.open(OWN_PACK).index.versions.items()}
    return made | compiler_versions() | {"intel-opencl-rt": installed_version("intel-opencl-rt") or ""}


def in_children(pattern: str) -> dict[str, dict[str, Any]]:
    """What became of the kernels of a pattern, by key."""
    found: dict[str, dict[str, Any]] = {}
    for _ in range(MOST_CRASHES):
        with TemporaryDirectory() as folder:
            lines = Path(folder, "lines")  # kernels print
            command = [sys.executable, __file__, "--child", str(lines), pattern, "--without", *found]
            try:
                done = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
                how = f"the process ended with status {done.returncode}" if done.returncode else ""
            except subprocess.TimeoutExpired:
                how = f"no end within {TIMEOUT_S} s"
            for line in map(json.loads, lines.read_text(encoding="utf-8").splitlines()):
                found[line.pop("key")] = line
        unfinished = [line for line in found.values() if line["outcome"] in SIDES]
        for line in unfinished:
            line["outcome"], line["reason"] = "crashed", f"module of {line['outcome']}: {how}"
        if not how:
            break
        if not unfinished:
            print(f"{pattern}: {how}, but not in a kernel that is compared", file=sys.stderr)
            break
    return found


def compare(pattern: str, without: set[str], out: TextIO) -> None:
    """Write a line before each launch of a module, and one with the outcome."""
    from xebench.system import runtime

    runtime.load()
    from xebench.dpex import direct_calls
    from xebench.dpex.foreign_kernel import ForeignKernel
    from xebench.dpex.kernel_store import KernelStore
    from xebench.dpex.shipped import UnknownIdentity, shipped_key
    from xebench.dpex.signature import signature_of
    from xebench.isa.packing import CompilingSession, collect_preset
    from xebench.measuring.session.session import Session
    from xebench.patterns.registry import builtin_files, read
    from xebench.vocabulary import DeviceClass

    class ComparingStore(KernelStore):
        """Compares every kernel once before it is launched as usual."""

        def submit(
            self, kernel: Any, queue: Any, index_space: Any, arguments: Sequence[Any], depends: Sequence[Any] = ()
        ) -> Any:
            if not isinstance(kernel, ForeignKernel):
                signature = signature_of(kernel, index_space, arguments)
                try:
                    key = shipped_key(kernel, signature)
                except UnknownIdentity:
                    key = ""
                if key and key not in without:
                    without.add(key)
                    queue.wait()
                    compare_kernel(key, kernel, signature, queue, index_space, arguments, out)
            return super().submit(kernel, queue, index_space, arguments, depends)

    direct_calls.install()
    device = runtime.select_device("cpu").device.device
    session = CompilingSession(Session.on(device).queue, ComparingStore())
    info = next(info for info in read(builtin_files()) if info.name == pattern)
    for failure in collect_preset(session, info, next(iter(info.presets)), (DeviceClass.CPU,)):
        print(failure, file=sys.stderr)


def compare_kernel(
    key: str, kernel: Any, signature: Any, queue: Any, index_space: Any, arguments: Sequence[Any], out: TextIO
) -> None:
    """Run both modules of a kernel on the same bytes."""
    from xebench.dpex import PreparedLaunch, build
    from xebench.dpex.compiler import compile_here
    from xebench.dpex.dpex_errors import DpexError, NotShipped
    from xebench.dpex.shipped import find_shipped
    from xebench.dpex.signature import as_usm_array
    from xebench.patterns.registry import portable_source

    file = portable_source(kernel.py_func.__code__.co_filename)
    line = {
        "key": key,
        "kernel": kernel.py_func.__name__,
        "origin": Path(file).as_posix() if not Path(file).is_absolute() else Path(file).name,
        "signature": str(signature),
        "options": kernel.options.text(),
    }
    arrays = [array for array in map(as_usm_array, arguments) if array is not None]
    buffers = {array.usm_data._pointer: array.usm_data for array in arrays}
    dtypes = {array.usm_data._pointer: array.dtype for array in arrays}
    before = {at: buffer.copy_to_host() for at, buffer in buffers.items()}
    after: list[dict[int, Any]] = []
    try:
        for side in SIDES:
            print(json.dumps({**line, "outcome": side}), file=out, flush=True)
            for at, buffer in buffers.items():
                buffer.copy_from_host(before[at])
            module = compile_here(kernel, signature) if side == "ours" else find_shipped(kernel, signature)
            PreparedLaunch(build(module, queue), queue, index_space, arguments).submit().wait()
            after.append({at: buffer.copy_to_host() for at, buffer in buffers.items()})
    except NotShipped as error:
        line |= {"outcome": "not shipped", "reason": str(error)}
    except DpexError as error:
        line |= {"outcome": "not run", "reason": str(error)}
    else:
        first, ours, again = after
        differing = [difference(first[at], ours[at], dtypes[at]) for at in buffers]
        if any((first[at] != again[at]).any() for at in buffers):
            line["outcome"] = "other bytes each time"
        elif any(differing):
            line |= {"outcome": "differs", "arrays": [one for one in differing if one]}
        else:
            line["outcome"] = "equal"
    for at, buffer in buffers.items():
        buffer.copy_from_host(before[at])
    print(json.dumps(line), file=out, flush=True)


def difference(first: Any, second: Any, dtype: Any) -> dict[str, Any]:
    """How two states of a buffer differ; empty if they do not."""
    wrong = int((first != second).sum())
    if not wrong:
        return {}
    said: dict[str, Any] = {"dtype": str(dtype), "bytes": len(first), "bytes that differ": wrong}
    if dtype.kind == "f" and len(first) % dtype.itemsize == 0:
        numbers = [side.view(dtype).astype(float) for side in (first, second)]
        largest = np.abs(numbers[0]).max()
        said["largest difference over largest value"] = float(np.abs(numbers[0] - numbers[1]).max() / (largest or 1))
    return said


if __name__ == "__main__":
    main()
