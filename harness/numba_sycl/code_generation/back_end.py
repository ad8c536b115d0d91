"""LLVM's optimizer and its SPIR-V back end, in a process of its own for each module.

LLVM 20 to 22 keep state of earlier modules in static variables, so that a second module of a process is invalid about
every other time (https://github.com/llvm/llvm-project/issues/160613), and they end the process where they cannot go on.
So a small server forks once for each module; it has neither the SYCL runtime nor numba in it.

The back end widens integers of odd widths without masking them, so no such integer is given to it; its own optimizer,
which makes them by itself, is off. LLVM's pipeline runs before it, without vectorizers, which have no model of what
a device's instructions cost, and with unrolling only where a kernel requests it: a device's compiler does both better.
"""

from __future__ import annotations

import itertools
import os
import re
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any, Final

#: Status and length of a message.
_HEAD: Final = struct.Struct("<iI")
#: A type of integers that SPIR-V has not. The back end takes the next wider one, and leaves what is above in it.
ODD_WIDTH: Final = re.compile(r"(?<![\w.@%$\"-])i(?!(?:1|8|16|32|64)\b)(\d+)\b")
#: LLVM puts tables in the place of branches: integers of odd widths, or constants in memory, on which Intel's CPU
#: driver crashes.
NO_TABLES: Final = "--switch-to-lookup=false"
#: It makes integers of odd widths of formulas in the place of loops.
NO_FORMULAS: Final = "--replexitval=never"
_EXTENSIONS: Final = (
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float_min_max",
    "SPV_INTEL_subgroups",
    "SPV_INTEL_variable_length_array",
    "SPV_KHR_expect_assume",
    "SPV_KHR_no_integer_wrap_decoration",
)
#: Ids in the optimised module. LLVM itself has their range, and drops what says the same earlier.
_ID: Final = re.compile(r"^ +(%\d+) = [a-z_ ]*call [^\n]*i64 @_Z\d+get_\w+_(?:id|size|groups)j\([^\n]*$", re.MULTILINE)


def without_texts(module: str) -> tuple[str, str]:
    """A module's text without its constants of text, which are the user's and no code, and these."""
    lines = module.splitlines(keepends=True)
    texts = [line for line in lines if line.startswith("@") and ' c"' in line]
    return "".join(line for line in lines if line not in texts), "\n" + "".join(texts)


class BackEndError(RuntimeError):
    """The back end failed; the message is its own."""


class BackEnd:
    """The server, started when it is first needed; it ends with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def emit(self, module: str, triple: str, *, unroll: bool, clean: bool = False) -> tuple[str, bytes]:
        """Optimise a module and emit it.

        Args:
            module: LLVM IR as text.
            triple: LLVM's name of the target.
            unroll: True to unroll loops with a hint.
            clean: True for an optimised module, of which only unused parts are dropped.

        Returns:
            The optimised LLVM IR as text, without names of values, and its SPIR-V: the same in every process.

        Raises:
            BackEndError: the back end refuses it, or crashes on it.
        """
        with self._lock:
            source, sink = self._pipes()
            request = f"{triple}\0{int(unroll)}\0{int(clean)}\0{module}".encode()
            sink.write(_HEAD.pack(0, len(request)) + request)
            sink.flush()
            head = source.read(_HEAD.size)
            if len(head) < _HEAD.size:
                raise BackEndError("the process that emits SPIR-V has ended")
            status, size = _HEAD.unpack(head)
            data = source.read(size)
        if status:
            raise BackEndError(f"LLVM's SPIR-V back end: {_first_line(data) or f'it ended with status {status}'}")
        text, _, spirv = data.partition(b"\0")
        return text.decode(), spirv

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        process = self._process
        # a process that was forked since shares the pipes of its parent, whose answers would get mixed up with its own
        if process is None or process.poll() is not None or self._owner != os.getpid():
            import llvmlite

            packages = str(Path(llvmlite.__file__).parent.parent)
            command = [sys.executable, "-S", __file__, packages]
            process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._owner = os.getpid()
        assert process.stdout is not None
        assert process.stdin is not None
        return process.stdout, process.stdin


def _first_line(data: bytes) -> str:
    lines = [line.strip() for line in data.decode(errors="replace").splitlines() if line.strip()]
    return lines[0][:300] if lines else ""


def _serve(packages: str) -> None:
    """Answer requests until there are no more."""
    sys.path.insert(0, packages)
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(_HEAD.size):
        request = source.read(_HEAD.unpack(head)[1]).decode().split("\0")
        status, data = _in_a_fork(llvm, *request)
        sink.write(_HEAD.pack(status, len(data)) + data)
        sink.flush()


def _in_a_fork(llvm: Any, *request: str) -> tuple[int, bytes]:
    """The exit status, and the result or the error's text."""
    said = os.memfd_create("said")
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(said, 2)  # LLVM prints its error there, and aborts
        os._exit(_emit(llvm, writer, *request))
    os.close(writer)
    with os.fdopen(reader, "rb") as result:
        data = result.read()
    status = os.waitpid(child, 0)[1]
    if status:
        os.lseek(said, 0, os.SEEK_SET)
        data = data or os.read(said, 1 << 16)
    os.close(said)
    return status, data


def _emit(llvm: Any, writer: int, triple: str, unroll: str, clean: str, module: str) -> int:
    try:
        data, status = _made(llvm, triple, unroll == "1", clean == "1", module), 0
    except Exception as error:
        data, status = str(error).encode(), 1
    with os.fdopen(writer, "wb") as out:
        out.write(data)
    return status


def _made(llvm: Any, triple: str, unroll: bool, clean: bool, text: str) -> bytes:
    """The optimised module as text, a zero, and its SPIR-V."""
    llvm.set_option("", "--spirv-ext=" + ",".join(f"+{name}" for name in _EXTENSIONS))
    llvm.set_option("", NO_TABLES)
    optimised = _optimised(llvm, triple, unroll, clean, text)
    if ODD_WIDTH.search(without_texts(optimised)[0]):
        llvm.set_option("", NO_FORMULAS)
        optimised = _optimised(llvm, triple, unroll, clean, text)
    odd = ODD_WIDTH.search(without_texts(optimised)[0])
    if odd:
        raise ValueError(f"LLVM made integers of {odd[1]} bits, which its back end would widen without masking them")
    spirv: bytes = _machine(llvm, triple).emit_object(llvm.parse_assembly(optimised))
    return optimised.encode() + b"\0" + spirv


def _optimised(llvm: Any, triple: str, unroll: bool, clean: bool, text: str) -> str:
    module = llvm.parse_assembly(text)
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_unrolling = unroll
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_interleaving = False
    builder = llvm.create_pass_builder(_machine(llvm, triple), tuning)
    passes = llvm.create_new_module_pass_manager() if clean else builder.getModulePassManager()
    if clean:
        passes.add_new_gvn_pass()
        passes.add_aggressive_dce_pass()
        passes.add_simplify_cfg_pass()
    passes.add_strip_symbols_pass()
    passes.run(module, builder)
    module.verify()
    code, texts = without_texts(str(module))
    # a conversion of the same value, which Intel's GPUs have in fewer instructions
    optimised = code.replace("uitofp nneg", "sitofp")
    return (optimised if clean else _with_assumptions(optimised)) + texts


def _with_assumptions(text: str) -> str:
    """Give the device's compiler what LLVM's optimizer had: ids are below 2**31."""
    numbers = itertools.count()

    def assumed(match: re.Match[str]) -> str:
        fact = f"%id.{next(numbers)}"
        return f"{match[0]}\n  {fact} = icmp ult i64 {match[1]}, 2147483648\n  call void @llvm.assume(i1 {fact})"

    text = _ID.sub(assumed, text)
    declared = "@llvm.assume" not in text or "declare void @llvm.assume" in text
    return text if declared else text + "declare void @llvm.assume(i1)\n"


def _machine(llvm: Any, triple: str) -> Any:
    return llvm.Target.from_triple(triple).create_target_machine(opt=0)


if __name__ == "__main__":
    _serve(sys.argv[1])
