"""Print from a kernel to see what it does, and take the print out again: it costs far more than the kernel."""

import ctypes
import os
import re
import tempfile
from contextlib import contextmanager

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, opencl_kernel, output, sycl_kernel
from xebench import kernel_api as kapi

pattern = Pattern(
    name="kernel_printing",
    catalogue=("E57",),
    guide="Kernels / Doing I/O in the Kernel",
    lesson="A device has nowhere to print to: its text goes to the host through a buffer, which must be large enough.",
    presets={
        "smoke": {"n": (32, 28)},
        "default": {"n": 32},  # as the guide: more lines tell no more, and the host has to keep them all
        "guide": {"n": 32},
    },
    axes={"work_group_size": (4,)},
    metric="wall",  # the host prints when the kernel is over
)

SIZE, STATEMENT = 8192, 1024  # bytes of a stream, and of a statement, in the guide's program
SHORT = 4  # "ABC" and a newline, in its second one
LINE = len("ID=831\n")

# The print of numba-dpex shows zeros on a CPU device.
print_by_printf = opencl_kernel(
    """
    __kernel void print_by_printf(const int first) {
        printf("ID=%d\\n", first + (int)get_global_id(0));
    }
    """
)

print_by_stream = sycl_kernel(
    """
    #include <sycl/sycl.hpp>
    namespace syclex = sycl::ext::oneapi::experimental;

    extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::nd_range_kernel<1>))
    void print_by_stream(int first, sycl::stream out) {
        const int i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
        out << "ID=" << first + i << sycl::endl;
    }
    """
)


@kernel
def store(item: kapi.NdItem, ids, first):
    i = item.get_global_id(0)
    ids[i] = first + i


@pattern.problem
def identifiers(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(first=int(rng.integers(100, 800)), ids=output(n, np.int64, host=True, fill=-1))


@pattern.reference
def expected(p):
    return {"ids": p.first + np.arange(p.n)}


@pattern.canonical
def in_any_order(results):
    return {"ids": np.sort(results["ids"])}


@contextmanager
def standard_output_in(file):
    """Have libraries print to a file."""
    flush = ctypes.CDLL(None).fflush
    flush(None)
    kept = os.dup(1)
    os.dup2(file.fileno(), 1)
    try:
        yield
    finally:
        flush(None)
        os.dup2(kept, 1)
        os.close(kept)


def printed_by(session, p, work_group_size, kernel, *stream):
    """Launch it, and read the identifiers in what it prints."""
    with tempfile.TemporaryFile() as file:
        with standard_output_in(file):
            session.launch(kernel, kapi.NdRange((p.n,), (work_group_size,)), p.first, *stream)
            session.wait()
        file.seek(0)
        found = re.findall(rb"ID=(\d+)\n", file.read())
    p.ids[: len(found)] = list(map(int, found))


@pattern.naive
def printed(session, p, work_group_size):
    """Each work-item prints a line, by OpenCL's printf."""
    printed_by(session, p, work_group_size, print_by_printf)


@pattern.intermediate
def streamed(session, p, work_group_size):
    """Each work-item prints a line, by a `sycl::stream`."""
    printed_by(session, p, work_group_size, print_by_stream, session.stream(SIZE, STATEMENT))


# "to either not be printed, or to be printed with less information than expected"
@pattern.antipattern(claim=Claim("wrong", source="G 5525 to 5546"))
def statement_too_long(session, p, work_group_size):
    """The stream has room for statements of four characters: of a longer one only the end may be left."""
    printed_by(session, p, work_group_size, print_by_stream, session.stream(SIZE, SHORT))


@pattern.antipattern(claim=Claim("wrong", strength="implied", source="G 5479, 5525"))
def stream_too_short(session, p, work_group_size):
    """The stream has room for half of what all work-items print."""
    printed_by(session, p, work_group_size, print_by_stream, session.stream(p.n // 2 * LINE, STATEMENT))


# That a kernel which faults prints nothing (G 5621) is no variant: it would end the process.
@pattern.optimized(claim=(Claim("faster"), Claim("faster", "streamed", strength="implied", source="G 5465")))
def stored(session, p, work_group_size):
    """Each work-item stores its identifier, and the host gets them all at once."""
    ids = session.alloc(p.n, np.int64)

    def timed():
        session.launch(store, kapi.NdRange((p.n,), (work_group_size,)), ids, p.first)
        session.copy(p.ids, ids)

    return timed
