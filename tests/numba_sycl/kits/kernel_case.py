"""One launch with its expected results, in a child process: a kernel that ends the process leaves its files.

A folder holds the source, the SPIR-V of both widths, the arguments, and how the process ended; `run_again` runs it.
"""

from __future__ import annotations

import importlib.util
import json
import linecache
import os
import shutil
import signal
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from numba_sycl import compile_kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.testing import Comparison, compare_launch

#: Kernels that ended a process; each is run again by a test.
CRASHED: Final = Path(__file__).parents[1] / "crashed_kernels"
#: Views of arrays by name.
VIEWS: Final[dict[str, Callable[[Any], Any]]] = {
    "whole": lambda array: array,
    "same": lambda array: array[:, :],
    "reversed": lambda array: array[:, ::-1],
    "shifted": lambda array: array[:, 1:],
    "every other": lambda array: array[:, ::2],
    "backwards": lambda array: array[tuple(slice(None, None, -1) for _ in array.shape)],
    "steps": lambda array: array[tuple(slice(None, None, 2) for _ in array.shape)],
    "steps back": lambda array: array[tuple(slice(None, None, -2) for _ in array.shape)],
    "transposed": lambda array: array.T,
}


@dataclass
class KernelCase:
    """A launch of the kernel ``run`` of a module.

    Attributes:
        source: text of the module.
        global_size, local_size: index space, dimension 0 first; no local size for a ``Range``.
        arrays: memory by name, before the launch.
        arguments: ``["array", name, view]``, ``["number", dtype, value]`` or ``["local", extent, dtype]`` each.
        expected: contents of the leading arguments after it.
        ulp: error that each may have.
    """

    source: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    arrays: dict[str, NDArray[Any]]
    arguments: list[list[Any]]
    expected: dict[str, NDArray[Any]]
    ulp: dict[str, int]

    def save(self, folder: Path) -> None:
        """Write the case into a folder."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "kernel.py").write_text(self.source, encoding="utf-8")
        np.savez_compressed(folder / "arrays.npz", **self.arrays)
        np.savez_compressed(folder / "expected.npz", **self.expected)
        plain = {name: value for name, value in asdict(self).items() if name not in ("source", "arrays", "expected")}
        (folder / "launch.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> KernelCase:
        """The case of a folder."""
        plain = json.loads((folder / "launch.json").read_text(encoding="utf-8"))
        sizes = {name: tuple(plain[name]) if plain[name] else None for name in ("global_size", "local_size")}
        arrays = {name: dict(np.load(folder / f"{name}.npz")) for name in ("arrays", "expected")}
        source = (folder / "kernel.py").read_text(encoding="utf-8")
        return cls(source=source, **{**plain, **sizes, **arrays})

    def index_space(self) -> Any:
        """The ``Range`` or ``NdRange``."""
        return kapi.NdRange(self.global_size, self.local_size) if self.local_size else kapi.Range(*self.global_size)

    def on_host(self) -> list[Any]:
        """The arguments as numpy's; local memory is left out."""
        arrays = {name: array.copy() for name, array in self.arrays.items()}
        return [
            VIEWS[words[1]](arrays[words[0]]) if kind == "array" else np.array(words[1], words[0])[()]
            for kind, *words in self.arguments
            if kind != "local"
        ]

    def on_device(self, queue: Any) -> list[Any]:
        """The arguments of one launch."""
        from numba_sycl.tensor import tensor as dpt

        arrays = {name: dpt.asarray(array, sycl_queue=queue) for name, array in self.arrays.items()}
        given: list[Any] = []
        for kind, *words in self.arguments:
            if kind == "array":
                given.append(VIEWS[words[1]](arrays[words[0]]))
            elif kind == "number":
                given.append(np.array(words[1], words[0])[()])
            else:
                given.append(kapi.LocalAccessor((words[0],), np.dtype(words[1]).type))
        return given


def run(case: KernelCase, folder: Path) -> Comparison:
    """Run a case on the default device and compare; its files are in the folder before anything is launched."""
    import dpctl

    case.save(folder)
    file = folder / "kernel.py"
    linecache.checkcache(str(file))
    namespace: dict[str, Any] = {"__name__": "random_kernel"}
    exec(compile(case.source, str(file), "exec"), namespace)
    queue = dpctl.SyclQueue()
    compiled = compile_kernel(namespace["run"], case.index_space(), case.on_device(queue))
    (folder / "wide.spv").write_bytes(compiled.spirv)
    (folder / "narrow.spv").write_bytes(compiled.narrow)
    return compare_launch(namespace["run"], case.index_space(), lambda: case.on_device(queue), case.expected, case.ulp)


def run_again(folder: Path, copy: Path) -> Comparison:
    """Run a kept case, with its files in another folder."""
    return run(KernelCase.load(folder), copy)


class ProcessEnded(Exception):
    """A kernel ended its process; the text names the folder with its files."""


class ChildError(Exception):
    """A function raised an error in its process; the text has its traceback."""


def _serve(connection: Connection) -> None:
    """Call functions, until there are no more, and answer with the result or the error's text."""
    os.environ["NUMBA_OPT"] = "0"  # njit as the reference: its optimizer trusts sums not to overflow
    if importlib.util.find_spec("xebench"):
        import xebench.dpex  # noqa: F401  (where numba-dpex is, it compiles kernels by xebench alone)
    while request := connection.recv():
        function, *arguments = request
        try:
            answer = function(*arguments), ""
        except Exception:  # not every error can be pickled
            answer = None, traceback.format_exc()
        connection.send(answer)


class Child:
    """Calls functions in one other process after the other: the next one where a kernel has ended the last.

    Args:
        folder: working folder, whose path the functions get as last argument.
        kept: folder for the files of kernels that end a process.
    """

    def __init__(self, folder: Path, kept: Path = CRASHED) -> None:
        self._folder, self._kept = folder / "kernel", kept
        self._process: Any = None
        self._connection: Any = None

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The function's result.

        Raises:
            ProcessEnded: it ended the process.
            ChildError: it raised an error.
        """
        if self._process is None:
            context = get_context("spawn")
            self._connection, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,))
            self._process.start()
            theirs.close()
        try:
            self._connection.send((function, *arguments, self._folder))
            result, error = self._connection.recv()
        except (EOFError, ConnectionError):
            raise ProcessEnded(self._keep()) from None
        if error:
            raise ChildError(error)
        return result

    def _keep(self) -> str:
        """Keep the files of the last kernel; the message for it."""
        self._process.join()
        code, self._process = self._process.exitcode, None
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"status {code}"
        kept = self._kept / f"kernel-{sum(1 for _ in self._kept.glob('kernel-*')) + 1}"
        shutil.copytree(self._folder, kept)
        (kept / "ended.txt").write_text(how + "\n", encoding="utf-8")
        return f"a kernel ended its process by {how}: its files are in {kept}"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._connection.send(())
            self._process.join()
            self._process = None
