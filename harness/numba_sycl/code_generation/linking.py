"""A kernel's entry point, and the one module that it makes with all functions that it calls.

Every launch gives arguments and ids that have values, and extents that are not negative. The entry point says so: then
tests for negative indices vanish, and remainders by powers of two become masks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types

from numba_sycl.code_generation.calls import INT32, INT64, define_library
from numba_sycl.code_generation.context import target
from numba_sycl.code_generation.device_types import NOTHING, DeviceArray, IndexSpaceType
from numba_sycl.entry_point import required_sizes
from numba_sycl.kernel_options import KernelOptions

#: OpenCL C 1.2, which a module says that it is of. Without it LLVM says C++ for OpenCL, and Intel's CPU driver, which
#: looks at that, ignores ``-cl-fast-relaxed-math`` and makes slow loops around a compare-and-exchange.
_LANGUAGE: Final = (INT32(1), INT32(2))
#: How the names of what devices have begin.
_OF_DEVICE: Final = ("_Z", "llvm.", "printf")
# Parts of LLVM's printed text.
_NAME: Final = r'(?:"[^"]*"|[-\w$.]+)'
_ADDRESS: Final = re.compile(rf"^(  %{_NAME} = getelementptr )(?!inbounds )", re.MULTILINE)
_ARITHMETIC: Final = re.compile(rf"^(  %{_NAME} = (?:fadd|fsub|fmul|fdiv|frem|fneg|fcmp) )(?!fast )", re.MULTILINE)
_METADATA: Final = re.compile(r"^!(\d+) = ", re.MULTILINE)
_LABEL: Final = re.compile(rf"({_NAME}):")
_TARGET: Final = re.compile(rf"label %({_NAME})")


class HostFunction(TypeError):
    """A kernel needs a function that only the host has."""


def make_entry_point(
    compiled: Any, name: str, arguments: tuple[Any, ...], options: KernelOptions, facts: Mapping[int, int | None]
) -> Any:
    """An LLVM module with the entry point.

    Args:
        compiled: numba's result for the Python function.
        name: name of the entry point.
        arguments: numba types of the item and the arguments, as they are flattened by `numba_sycl.launch`.
        options: options of the kernel.
        facts: known facts of the flattened parameters (`launch_facts`).
    """
    context = target.target_context
    module = context.create_module("entry point")
    module.add_named_metadata("opencl.ocl.version", _LANGUAGE)
    if options.fp_contract or options.fast_math:  # which contraction is a part of
        module.add_named_metadata("opencl.enable.FP_CONTRACT")  # without it LLVM's back end writes ContractionOff
    flat = [kind for argument in arguments for kind in _flattened(context, argument)]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), flat), name)
    function.calling_convention = "spir_kernel"
    for kind, sizes in required_sizes(options).items():
        function.set_metadata(kind, module.add_metadata([INT32(size) for size in sizes]))
    for argument in function.args:
        argument.add_attribute("noundef")
        if options.restrict and isinstance(argument.type, ir.PointerType):
            argument.add_attribute("noalias")
    builder = ir.IRBuilder(function.append_basic_block())
    for position, value in facts.items():
        operator, known = (">", -1) if value is None else ("==", value)
        builder.assume(builder.icmp_signed(operator, function.args[position], INT64(known)))
    given = iter(function.args)
    values = [_assembled(context, builder, argument, given) for argument in arguments]
    called = context.declare_function(module, compiled.fndesc)
    context.call_conv.call_function(builder, called, types.void, arguments, values)
    builder.ret_void()
    return module


def _flattened(context: Any, argument: Any) -> list[Any]:
    if isinstance(argument, IndexSpaceType):
        return []
    if isinstance(argument, DeviceArray):
        pointer = ir.PointerType(context.get_data_type(argument.dtype), addrspace=argument.addrspace)
        return [INT64, INT64, pointer, *[INT64] * (2 * argument.ndim)]
    if isinstance(argument, types.Complex):
        return [context.get_data_type(argument.underlying_float)] * 2
    return [context.get_data_type(argument)]


def _assembled(context: Any, builder: Any, argument: Any, given: Iterator[Any]) -> Any:
    if isinstance(argument, IndexSpaceType):
        return NOTHING
    if isinstance(argument, DeviceArray):
        array = context.make_array(argument)(context, builder)
        nitems, itemsize, data = next(given), next(given), next(given)
        shape = [next(given) for _ in range(argument.ndim)]
        strides = [next(given) for _ in range(argument.ndim)]
        context.populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
        array.nitems = nitems
        return array._getvalue()
    if isinstance(argument, types.Complex):
        number = context.make_complex(builder, argument)
        number.real, number.imag = next(given), next(given)
        return number._getvalue()
    return context.data_model_manager[argument].from_data(builder, next(given))


def linked(modules: Sequence[Any], kernel: str, options: KernelOptions) -> str:
    """The LLVM IR of a whole kernel.

    Args:
        modules: llvmlite's, of the entry point and of all functions; linked as text.
        kernel: name of the entry point.
        options: options of the kernel.

    Raises:
        HostFunction: it calls what no device has, such as a library for random numbers.
    """
    for module in modules:
        define_library(module)
    whole, *others = (llvm.parse_assembly(str(module)) for module in modules)
    for other in others:
        whole.link_in(other)
    for function in whole.functions:
        if not function.is_declaration:
            function.linkage = llvm.Linkage.external if function.name == kernel else llvm.Linkage.internal
        elif not function.name.startswith(_OF_DEVICE):
            raise HostFunction(f"it calls {function.name}, which does not exist on devices")
    return _marked(str(whole), options)


def _marked(text: str, options: KernelOptions) -> str:
    """A module's text with what is true of all kernels, and what a kernel's options say of its arithmetic and loops.

    Kernels share the modules of functions that they call, so these stay as they are.
    """
    text = _ADDRESS.sub(r"\1inbounds ", text)  # an address leads to an element that is accessed
    if options.fast_math:
        text = _ARITHMETIC.sub(r"\1fast ", text)
    return text if options.unroll is None else _with_loop_hints(text, options.unroll)


def _with_loop_hints(text: str, unroll: int | str) -> str:
    """A module's text with a hint at each branch that leads back."""
    hint = 1 + max((int(number) for number in _METADATA.findall(text)), default=-1)
    what = f'"llvm.loop.unroll.count", i32 {unroll}' if isinstance(unroll, int) else f'"llvm.loop.unroll.{unroll}"'
    nodes = [f"!{hint} = !{{!{what}}}"]
    lines, passed = [], set[str]()
    for line in text.splitlines():
        lines.append(line)
        label = _LABEL.match(line)
        if line.startswith("define "):
            passed = set()
        elif label:
            passed.add(label[1])
        elif line.startswith("  br ") and not passed.isdisjoint(_TARGET.findall(line)):
            loop = hint + len(nodes)
            lines[-1] += f", !llvm.loop !{loop}"
            nodes.append(f"!{loop} = distinct !{{!{loop}, !{hint}}}")
    return "\n".join([*lines, *nodes, ""])
