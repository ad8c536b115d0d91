"""Numba-dpex's modules of the suite's kernels beside ours: ``python -m tools.compilers.compare``.

    python -m tools.compilers.modules theirs                      # on the pinned stack
    python -m tools.compilers.modules ours                        # on the current stack, as all below
    python -m tools.compilers.compare bytes theirs [PATTERN...]
    python -m tools.compilers.compare instructions theirs ours    # on GPUs that need not be there
    python -m tools.compilers.compare page                        # what docs/compiler.md has of both

For ``bytes`` ours are compiled here: both run on the same bytes of the same buffers, and every byte of every buffer
that they are given is compared afterwards. Each pattern has a process of its own, since the driver of the CPU device
may end it; after that the pattern goes on without the kernel that it happened in. For ``instructions``, ``ocloc``
compiles both. The outcomes are bytes.json and instructions.json in
results/studies/compilers. For ``page``, each kernel whose bytes differ, and each with more than a twentieth more
instructions, needs its cause in ``causes.toml``: without it, or with one that nothing needs any more, there is no page.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TextIO

import msgspec
import numpy as np

from numba_sycl.kernel_options import KernelOptions
from tools.compilers.modules import Module, read_index, source_key
from tools.pages import renewed
from xebench.errors import XebenchError
from xebench.isa.compilation import CompileCache, Compiled, Source, Target
from xebench.isa.kernel_code import compile_all, read_code
from xebench.isa.ocloc import find_compiler
from xebench.report.table_forms import table

ROOT: Final = Path(__file__).parents[2]
DATA: Final = ROOT / "results/studies/compilers"
BYTES: Final = DATA / "bytes.json"
TIMEOUT_S: Final = 300
#: Kernels of one pattern that may end its process before the rest is given up.
MOST_CRASHES: Final = 5
#: Whose module runs; the first runs twice, since a race gives other bytes each time.
SIDES: Final = ("numba-dpex", "ours", "numba-dpex again")


def compare_all_bytes() -> None:
    """Compare the bytes that all patterns, or those whose names are given, leave in their buffers."""
    parser = argparse.ArgumentParser(prog="compare.py bytes", description=compare_all_bytes.__doc__)
    parser.add_argument("theirs", type=Path, help="folder of numba-dpex's modules")
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--child", type=Path, metavar="FILE", help="compare in this process, and write lines there")
    parser.add_argument("--without", nargs="*", default=[], help="keys of kernels that are left out")
    asked = parser.parse_args()
    if asked.child:
        with asked.child.open("a", encoding="utf-8") as file:
            compare(asked.theirs, asked.patterns[0], set(asked.without), file)
        return
    from xebench.patterns.registry import builtin_files, read

    found: dict[str, dict[str, Any]] = {}
    for info in read(builtin_files()):
        if not asked.patterns or info.name in asked.patterns:
            of_pattern = in_children(asked.theirs, info.name)
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
        DATA.mkdir(parents=True, exist_ok=True)
        BYTES.write_text(
            json.dumps({"versions": versions(asked.theirs), "kernels": lines}, indent=1) + "\n", encoding="utf-8"
        )


def versions(theirs: Path) -> dict[str, str]:
    """Versions of what made the modules, and of the driver."""
    from numba_sycl.stacks import compiler_versions, installed_version

    made = {f"theirs: {name}": version for name, version in read_index(theirs).versions.items()}
    return made | compiler_versions() | {"intel-opencl-rt": installed_version("intel-opencl-rt") or ""}


def in_children(theirs: Path, pattern: str) -> dict[str, dict[str, Any]]:
    """The result of each kernel of a pattern, by key."""
    found: dict[str, dict[str, Any]] = {}
    for _ in range(MOST_CRASHES):
        with TemporaryDirectory() as folder:
            lines = Path(folder, "lines")  # kernels print
            command = [sys.executable, "-m", "tools.compilers.compare", "bytes", str(theirs), pattern]
            command += ["--child", str(lines), "--without", *found]
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


def compare(theirs: Path, pattern: str, without: set[str], out: TextIO) -> None:
    """Write a line before each launch of a module, and one with the outcome."""
    from xebench.system import runtime

    runtime.load()
    from numba_sycl.identity import UnknownIdentity
    from numba_sycl.signature import signature_of
    from tools.compilers.suite_kernels import CompilingSession, collect_preset
    from xebench.dpex import ForeignKernel, direct_calls
    from xebench.patterns.registry import builtin_files, read
    from xebench.session.session import Session
    from xebench.session.session_kernels import SessionKernels
    from xebench.vocabulary import DeviceClass

    class ComparingStore(SessionKernels):
        """Compares every kernel once before it is launched as usual."""

        def submit(
            self,
            kernel: Any,
            queue: Any,
            index_space: Any,
            arguments: Sequence[Any],
            depends: Sequence[Any] = (),
            submitter: Any = None,
        ) -> Any:
            if not isinstance(kernel, ForeignKernel) and submitter is None:  # bytes of buffers are not at hand
                signature = signature_of(kernel, index_space, arguments)
                try:
                    key = source_key(kernel, signature)
                except UnknownIdentity:
                    key = ""
                if key and key not in without:
                    without.add(key)
                    queue.wait()
                    compare_kernel(theirs, key, kernel, signature, queue, index_space, arguments, out)
            return super().submit(kernel, queue, index_space, arguments, depends, submitter)

    direct_calls.install()
    device = runtime.select_device("cpu").device.device
    session = CompilingSession(Session.on(device).queue, ComparingStore())
    info = next(info for info in read(builtin_files()) if info.name == pattern)
    for failure in collect_preset(session, info, next(iter(info.presets)), (DeviceClass.CPU,)):
        print(failure, file=sys.stderr)


def compare_kernel(
    theirs: Path,
    key: str,
    kernel: Any,
    signature: Any,
    queue: Any,
    index_space: Any,
    arguments: Sequence[Any],
    out: TextIO,
) -> None:
    """Run both modules of a kernel on the same bytes."""
    from numba_sycl import PreparedLaunch, build
    from numba_sycl.compiler import compile_here
    from numba_sycl.errors import KernelError
    from numba_sycl.signature import CompiledKernel, as_usm_array
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
            module = compile_here(kernel, signature)
            if side != "ours":
                spirv = (theirs / f"{key}.spv").read_bytes()
                module = CompiledKernel(module.name, spirv, module.options, signature, {}, cached=True)
            PreparedLaunch(build(module, queue), queue, index_space, arguments).submit().wait()
            after.append({at: buffer.copy_to_host() for at, buffer in buffers.items()})
    except FileNotFoundError:
        line |= {"outcome": "not run", "reason": f"{theirs} has no such module"}
    except KernelError as error:
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
    """The differences between two states of a buffer; empty if there are none."""
    wrong = int((first != second).sum())
    if not wrong:
        return {}
    said: dict[str, Any] = {"dtype": str(dtype), "bytes": len(first), "bytes that differ": wrong}
    if dtype.kind == "f" and len(first) % dtype.itemsize == 0:
        numbers = [side.view(dtype).astype(float) for side in (first, second)]
        largest = np.abs(numbers[0]).max()
        said["largest difference over largest value"] = float(np.abs(numbers[0] - numbers[1]).max() / (largest or 1))
    return said


INSTRUCTIONS: Final = DATA / "instructions.json"
GPUS: Final = ("pvc", "dg2")
#: Sub-groups of 8 are dg2's only, and no Intel GPU has 64.
SUB_GROUPS: Final = (None, 16, 32)


def compare_all_instructions() -> None:
    """Count the instructions of the kernels of both compilers."""
    parser = argparse.ArgumentParser(prog="compare.py instructions", description=compare_all_instructions.__doc__)
    parser.add_argument("theirs", type=Path, help="folder of numba-dpex's modules")
    parser.add_argument("ours", type=Path, help="folder of our compiler's")
    asked = parser.parse_args()
    folders = {"numba-dpex": asked.theirs, "ours": asked.ours}
    compiler = find_compiler()
    sources = dict(in_both(*folders.values()))
    jobs = [(source, target_of(kernel, gpu)) for kernel, two in sources.items() for source in two for gpu in GPUS]
    made = compile_all(compiler, jobs, CompileCache())
    lines = []
    for kernel, two in sources.items():
        line: dict[str, Any] = {name: getattr(kernel, name) for name in ("kernel", "origin", "signature", "options")}
        for gpu in GPUS:
            target = target_of(kernel, gpu)
            line[gpu] = {
                side: counted(made[source.sha256, target], kernel.kernel)
                for side, source in zip(folders, two, strict=True)
            }
        lines.append(line)
    versions = {side: read_index(folder).versions for side, folder in folders.items()}
    DATA.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"ocloc": compiler.label, "versions": versions, "kernels": lines}, indent=1)
    INSTRUCTIONS.write_text(text + "\n", encoding="utf-8")
    print(f"{len(lines)} kernels in {INSTRUCTIONS}")


def in_both(*folders: Path) -> Iterator[tuple[Module, list[Source]]]:
    """Kernels whose modules are in both folders, each with its options and types once, and these modules."""
    others = {kernel.key for kernel in read_index(folders[1]).kernels}
    seen = set()
    for kernel in read_index(folders[0]).kernels:
        if kernel.key in others and json.loads(kernel.options).get("sub_group_size") in SUB_GROUPS:
            sources = [Source((folder / f"{kernel.key}.spv").read_bytes()) for folder in folders]
            digests = tuple(source.sha256 for source in sources)
            if digests not in seen:
                seen.add(digests)
                yield kernel, sources


def target_of(kernel: Module, gpu: str) -> Target:
    """A GPU, with what the kernel's options say to its driver."""
    flags, _ = msgspec.json.decode(kernel.options, type=KernelOptions).flags("opencl", "Intel", "gpu")
    return Target(gpu, flags)


def counted(compiled: Compiled, kernel: str) -> dict[str, Any]:
    """The result of compiling a kernel, or the reason why it failed."""
    if compiled.status != "ok":
        return {"status": compiled.status, "reason": compiled.reason}
    code = read_code(compiled, kernel)
    return {
        "instructions": len(code.assembly.instructions),
        "simd": code.simd_width,
        "messages": sum(code.messages.values()),
        "spilled": code.spilled_registers,
        "registers": code.registers_used,
    }


PAGE: Final = ROOT / "docs/compiler.md"
CAUSES: Final = Path(__file__).with_name("causes.toml")
#: A kernel with more than so many times numba-dpex's instructions needs a cause.
MOST: Final = 1.05


class Causes:
    """Why kernels differ, by pattern and kernel; each cause is to be used."""

    def __init__(self, what: str, causes: Mapping[str, str]) -> None:
        self._what, self._causes, self._unused = what, causes, set(causes)

    def of(self, line: Mapping[str, Any]) -> str:
        """The cause for a kernel.

        Raises:
            XebenchError: there is none.
        """
        name = _name(line)
        for known in (name, name.partition("/")[0]):
            if known in self._causes:
                self._unused.discard(known)
                return self._causes[known]
        raise XebenchError(f"{CAUSES.name} has no cause in [{self._what}] for {name}")

    def end(self) -> None:
        """Raise what is wrong if a cause was not used."""
        if self._unused:
            raise XebenchError(f"{CAUSES.name}, [{self._what}]: nothing needs {', '.join(sorted(self._unused))}")


def _name(line: Mapping[str, Any]) -> str:
    return f"{Path(line['origin']).stem}/{line['kernel']}"


def of_bytes(data: Mapping[str, Any], causes: Causes) -> Iterator[str]:
    """The number of compared kernels, and those that differ."""
    kernels = data["kernels"]
    count = Counter(line["outcome"] for line in kernels)
    yield f"{len(kernels)} kernels: {', '.join(f'{number} {outcome}' for outcome, number in count.most_common())}."
    yield ""
    others: dict[tuple[str, str, str], int] = Counter(
        (_name(line), line["outcome"], causes.of(line)) for line in kernels if line["outcome"] != "equal"
    )
    yield from table(("kernel", "outcome", "types and options", "cause"), _of_kernels(others), right=(2,))
    causes.end()


def _of_kernels(counted: Mapping[tuple[str, str, str], int]) -> Iterator[tuple[str, str, int, str]]:
    for (name, outcome, cause), number in sorted(counted.items()):
        yield name, outcome, number, cause


def of_instructions(data: Mapping[str, Any], causes: Causes) -> Iterator[str]:
    """Mean ratios, and the kernels that have more instructions with their causes."""
    yield f"By {data['ocloc']}:"
    yield ""
    yield from table(("", *GPUS), _summary([_ratios(data["kernels"], gpu) for gpu in GPUS]), right=(1, 2))
    yield ""
    rows = []
    for line in data["kernels"]:
        ratios = [_ratio(line, gpu) for gpu in GPUS]
        if max(ratio or 0 for ratio in ratios) > MOST:
            shown = ("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
            rows.append((_name(line), line["options"].replace("{}", ""), *shown, causes.of(line)))
    yield from table(("kernel", "options", *GPUS, "cause"), rows, right=(2, 3))
    causes.end()


def _ratio(line: Mapping[str, Any], gpu: str) -> float | None:
    """Our instructions over numba-dpex's; None where one of the two is not compiled."""
    counts = [line[gpu][side].get("instructions") for side in ("numba-dpex", "ours")]
    return counts[1] / counts[0] if all(counts) else None


def _ratios(kernels: list[Mapping[str, Any]], gpu: str) -> list[tuple[Mapping[str, Any], float | None]]:
    return [(line[gpu], _ratio(line, gpu)) for line in kernels]


def _summary(by_gpu: list[list[tuple[Mapping[str, Any], float | None]]]) -> Iterator[tuple[str, ...]]:
    def row(what: str, value: Any) -> tuple[str, ...]:
        return (what, *(str(value(pairs)) for pairs in by_gpu))

    def compiled(pairs: Any) -> list[float]:
        return [ratio for _, ratio in pairs if ratio is not None]

    def same(field: str) -> Any:
        return lambda pairs: sum(
            of["ours"][field] == of["numba-dpex"][field] for of, ratio in pairs if ratio is not None
        )

    yield row("kernels that both compilers' modules give", lambda pairs: len(compiled(pairs)))
    yield row("geometric mean", lambda pairs: f"{math.exp(statistics.fmean(map(math.log, compiled(pairs)))):.3f}")
    yield row("median", lambda pairs: f"{statistics.median(compiled(pairs)):.3f}")
    yield row("equal", lambda pairs: sum(ratio == 1 for ratio in compiled(pairs)))
    yield row("fewer", lambda pairs: sum(ratio < 1 for ratio in compiled(pairs)))
    yield row("more", lambda pairs: sum(ratio > 1 for ratio in compiled(pairs)))
    yield row(f"more than {MOST} times", lambda pairs: sum(ratio > MOST for ratio in compiled(pairs)))
    yield row("least, most", lambda pairs: f"{min(compiled(pairs)):.2f}, {max(compiled(pairs)):.2f}")
    yield row("same SIMD width", same("simd"))
    yield row("same number of messages", same("messages"))


def write_page() -> None:
    """Put what was measured into the page."""
    causes = tomllib.loads(CAUSES.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    for file, content in ((BYTES, of_bytes), (INSTRUCTIONS, of_instructions)):
        data, what = json.loads(file.read_text(encoding="utf-8")), file.stem
        begin = f"<!-- {what}: made by python -m tools.compilers.compare page -->"
        text = renewed(text, begin, f"<!-- end of {what} -->", "\n".join(content(data, Causes(what, causes[what]))))
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Run the command whose name comes first."""
    commands = {"bytes": compare_all_bytes, "instructions": compare_all_instructions, "page": write_page}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        raise SystemExit(f"compare.py needs one of {', '.join(commands)}\n\n{__doc__}")
    try:
        commands[sys.argv.pop(1)]()
    except XebenchError as error:
        raise SystemExit(f"xebench: {error}") from None


if __name__ == "__main__":
    main()
