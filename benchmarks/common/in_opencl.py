"""A variant again with its kernels in OpenCL C, as a competent hand writes them: what Python costs on a device.

``native/MODULE.cl`` has twins of kernels of ``MODULE.py``, under their names. A twin has the parameters of its kernel
that it needs, under their names, and as ``x_shape0`` the first extent of array ``x``. Numbers that the kernel sees when
it is compiled are macros: those of its module and of the function that made it, and the sub-group size that it
requires.
"""

import functools
import inspect
import re
from pathlib import Path

import numpy as np

from xebench import opencl_kernel
from xebench.dpex import KernelBuildError, UnsupportedByDevice, options_of

TEXTS = Path(__file__).resolve().parents[1] / "native"
TYPES = {np.int32: "int", np.int64: "long", np.float32: "float"}


def in_opencl(pattern, variant, requires=()):
    """Register the baseline ``VARIANT_in_opencl``: the variant itself, in a session that launches twins.

    Args:
        requires: capabilities beside the variant's own.
    """

    @functools.wraps(variant)
    def with_twins(session, problem, **axes):
        return variant(TwinSession(session), problem, **axes)

    with_twins.__name__ = f"{variant.__name__}_in_opencl"
    with_twins.__doc__ = f"The kernel of ``{variant.__name__}`` in OpenCL C, launched alike."
    of_variant = pattern.variants[variant.__name__].requires
    pattern.baseline(against=variant.__name__, requires=(*of_variant, *requires))(with_twins)


class TwinSession:
    """A session that launches the twin of each kernel."""

    def __init__(self, session):
        self._session = session

    def __getattr__(self, name):
        return getattr(self._session, name)

    def launch(self, kernel, index_space, *arguments, **options):
        """As `Session.launch`.

        Raises:
            UnsupportedByDevice: the device's driver does not build the text.
        """
        twin, of_kernel, of_twin = twin_of(self._session.chosen(kernel))
        given = dict(zip(of_kernel, arguments, strict=True))
        try:
            return self._session.launch(twin, index_space, *(argument(given, name) for name in of_twin), **options)
        except KernelBuildError as error:
            raise UnsupportedByDevice(str(error)) from error


@functools.cache
def twin_of(kernel):
    """The twin of a kernel, and the names of the parameters of both."""
    function, options = kernel.py_func, options_of(kernel)
    text = (TEXTS / Path(function.__code__.co_filename).name).with_suffix(".cl").read_text(encoding="utf-8")
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    known["SUB_GROUP_SIZE"] = options.sub_group_size
    macros = {name: literal(known[name]) for name in re.findall(r"\b[A-Za-z_]\w*", text) if name in known}
    # not by -D, which would change a compiler's own header, too
    definitions = (f"#define {name} {value}\n" for name, value in macros.items() if value)
    twin = opencl_kernel(
        "".join((*definitions, text)),
        name=function.__name__,
        relaxed_math=options.relaxed_math,
        fp_contract=options.fp_contract,
        large_grf=options.large_grf,
    )
    (parameters,) = re.findall(rf"\b{twin.name}\(([^)]*)\)", text)
    of_twin = [re.findall(r"\w+", parameter)[-1] for parameter in parameters.split(",")]
    return twin, list(inspect.signature(function).parameters)[1:], of_twin


def literal(value):
    """A number or a type as OpenCL C has it; "" for anything else."""
    if isinstance(value, np.floating):
        return f"{float(value)!r}f"
    if isinstance(value, int | np.integer):
        return str(int(value))
    return TYPES.get(value, "") if isinstance(value, type) else ""


def argument(given, name):
    """What a twin is given for a parameter.

    Raises:
        UnsupportedByDevice: an array of 2**31 elements or more.
    """
    if name in given:
        return given[name]
    array, _, dimension = name.rpartition("_shape")
    if given[array].size >= 1 << 31:
        raise UnsupportedByDevice(f"{array} has {given[array].size} elements: indices of twins are of 32 bits")
    return given[array].shape[int(dimension)]
