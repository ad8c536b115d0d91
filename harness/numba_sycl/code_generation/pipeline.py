"""Compile a Python function, and those that it calls, for the types of its arguments: numba's passes and ours."""

from __future__ import annotations

import dis
import inspect
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from numba.core import cgutils, compiler, errors, ir, lowering, target_extension, typed_passes, types, typing, utils
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, LoweringPass, PassManager, register_pass
from numba.core.datamodel import models
from numba.core.ir_utils import find_const, get_definition, guard
from numba.core.target_extension import target_override
from numba.core.targetconfig import ConfigStack, Option
from numba.core.typing.templates import fold_arguments
from numba.core.untyped_passes import IRProcessing
from numba.np import arrayobj

from numba_sycl.code_generation.context import NAME, SpirvTarget, target
from numba_sycl.code_generation.device_types import own_models
from numba_sycl.extensions import forget_compiled
from numba_sycl.kernel_options import SourceFunction


@register_pass(mutates_CFG=False, analysis_only=False)
class ConstantGetattr(FunctionPass):  # type: ignore[misc]
    """Rewrites such calls; numba's own ``getattr`` needs reference counts for the name."""

    _name = "numba_sycl_constant_getattr"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Rewrite them (numba's protocol); whether there were any."""
        function, changed = state.func_ir, False
        for block in function.blocks.values():
            for statement in block.find_insts(ir.Assign):
                name = _constant_name(function, statement.value)
                if name is not None:
                    statement.value = ir.Expr.getattr(statement.value.args[0], name, statement.loc)
                    changed = True
        return changed


@register_pass(mutates_CFG=False, analysis_only=False)
class Squares(FunctionPass):  # type: ignore[misc]
    """Makes products of them: numba has a loop over the bits of an exponent, which LLVM does not always see through."""

    _name = "numba_sycl_squares"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Make them (numba's protocol); whether there were any."""
        changed = False
        for block in state.func_ir.blocks.values():
            for expression in block.find_exprs(op="binop"):
                if expression.fn is operator.pow and _constant(state.func_ir, expression.rhs) == 2:
                    expression.fn, expression.rhs, changed = operator.mul, expression.lhs, True
        return changed


@register_pass(mutates_CFG=False, analysis_only=False)
class PositionalArguments(FunctionPass):  # type: ignore[misc]
    """Gives arguments by position to functions inside a kernel: numba, which inlines these, drops those with names."""

    _name = "numba_sycl_positional_arguments"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Rewrite such calls (numba's protocol); whether there were any."""
        changed = False
        for block in state.func_ir.blocks.values():
            for call in block.find_exprs(op="call"):
                inner = guard(get_definition, state.func_ir, call.func)
                if getattr(inner, "op", None) != "make_function":
                    continue
                if any(map(inspect.iscode, inner.code.co_consts)) and _names_arguments(inner.code):
                    raise errors.UnsupportedError(_BY_POSITION.format(inner.code.co_name), call.loc)
                if call.kws:
                    call.args, call.kws, changed = _by_position(inner.code, call), (), True
        return changed


_BY_POSITION = "{} is a function inside a kernel: give arguments by position"


def _names_arguments(code: Any) -> bool:
    """True if a function calls another with arguments that have names."""
    return any(instruction.opname in ("CALL_KW", "KW_NAMES") for instruction in dis.get_instructions(code))


def _by_position(code: Any, call: Any) -> list[Any]:
    """The arguments of a call in the order of the parameters.

    Raises:
        numba.core.errors.UnsupportedError: one between them has been left to its default, or there is no such name.
    """
    named = dict(call.kws)
    further = code.co_varnames[len(call.args) : code.co_argcount][: len(named)]
    if set(further) != set(named):
        raise errors.UnsupportedError(_BY_POSITION.format(code.co_name), call.loc)
    return [*call.args, *(named[name] for name in further)]


def _constant_name(function: Any, value: Any) -> str | None:
    """The attribute that an expression reads by ``getattr`` of two arguments, or None."""
    if not isinstance(value, ir.Expr) or value.op != "call" or len(value.args) != 2 or value.kws:
        return None
    called = guard(get_definition, function, value.func)
    if getattr(called, "value", None) is not getattr:
        return None
    name = _constant(function, value.args[1])
    return name if isinstance(name, str) else None


def _constant(function: Any, variable: Any) -> Any:
    """The constant value of a variable, or None."""
    try:
        return guard(find_const, function, variable)
    except errors.NumbaError:
        return None


class _Flags(compiler.Flags):  # type: ignore[misc]
    """Numba's, and whether negative indices count from the end."""

    wraparound = Option(type=bool, default=True, doc="negative indices count from the end")


def compile_function(
    function: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any], returns: Any = None
) -> Any:
    """Compile a function with numba: return its signature, and a library with its LLVM IR.

    Args:
        function: the Python function.
        arguments: numba types.
        options: ``error_model``, ``fastmath``, ``wraparound``... of a decorator.
        returns: the numba type of the result; None: what comes of the arguments.

    Raises:
        numba.core.errors.NumbaError: it cannot be typed or lowered.
    """
    flags = _Flags()
    flags.wraparound = bool(options.get("wraparound", True))
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.nrt = flags.enable_pyobject = False
    flags.error_model = options.get("error_model", "numpy")
    flags.fastmath = bool(options.get("fastmath", False))
    with target_override(NAME):
        return compiler.compile_extra(
            target.typing_context,
            target.target_context,
            function,
            arguments,
            returns,
            flags,
            {},
            pipeline_class=_Compiler,
        )


@contextmanager
def compiling() -> Iterator[None]:
    """Numba as one compilation of a kernel needs it, under numba's lock: other targets never see our replacements."""
    with global_compiler_lock:
        theirs = cgutils.pointer_add, arrayobj.fix_integer_index
        cgutils.pointer_add, arrayobj.fix_integer_index = _pointer_add, _fix_integer_index
        try:
            # declarations may have been added since the last kernel
            target.typing_context.refresh()
            target.target_context.refresh()
            forget_compiled(target.typing_context)
            yield
        finally:
            cgutils.pointer_add, arrayobj.fix_integer_index = theirs


def _pointer_add(builder: Any, ptr: Any, offset: Any, return_type: Any = None) -> Any:
    """Numba's own, but in the pointer's address space: its cast to the default one would lose it.

    For pointers in the default address space, which all of the host's are, both are the same.
    """
    byte_pointer = cgutils.int8_t.as_pointer(ptr.type.addrspace)
    if isinstance(offset, int):
        offset = cgutils.intp_t(offset)
    address = builder.gep(builder.bitcast(ptr, byte_pointer), [offset])
    return builder.bitcast(address, return_type or ptr.type)


_numba_index = arrayobj.fix_integer_index


def _fix_integer_index(context: Any, builder: Any, idxty: Any, idx: Any, size: Any) -> Any:
    """Numba's own, but for functions in which no index is negative: these have no test of the sign."""
    if getattr(ConfigStack.top_or_none(), "wraparound", True):
        return _numba_index(context, builder, idxty, idx, size)
    return context.cast(builder, idx, idxty, types.intp)


class _Lower(lowering.Lower):  # type: ignore[misc]
    """Numba's own, but its errors name the line of the kernel."""

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement (numba's protocol)."""
        try:
            super().lower_inst(inst)
        except errors.NumbaError:
            raise
        except Exception as error:
            raise errors.LoweringError(str(error), inst.loc) from error


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed_passes.BaseNativeLowering):  # type: ignore[misc]
    _name = "numba_sycl_lowering"

    @property
    def lowering_class(self) -> type:
        """The class that lowers statements (numba's protocol)."""
        return _Lower


@register_pass(mutates_CFG=True, analysis_only=False)
class _Collect(LoweringPass):  # type: ignore[misc]
    """The last pass: numba's own would make an executable."""

    _name = "numba_sycl_collect"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        lowered = state["cr"]
        state.cr = compiler.compile_result(
            typing_context=state.typingctx,
            target_context=state.targetctx,
            typing_error=state.status.fail_reason,
            type_annotation=state.type_annotation,
            library=state.library,
            call_helper=lowered.call_helper,
            signature=typing.signature(state.return_type, *state.args),
            fndesc=lowered.fndesc,
        )
        return True


class _Compiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        manager = PassManager(NAME)
        manager.passes.extend(DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        manager.add_pass_after(PositionalArguments, IRProcessing)
        manager.add_pass(ConstantGetattr, "getattr of constant names")
        manager.add_pass(Squares, "squares")
        manager.passes.extend(DefaultPassBuilder.define_typed_pipeline(self.state).passes)
        manager.add_pass(typed_passes.IRLegalization, "ensure IR is legal")
        manager.add_pass(typed_passes.AnnotateTypes, "annotate types")
        manager.add_pass(_Lowering, "native lowering")
        manager.add_pass(_Collect, "collect")
        manager.finalize()
        return [manager]


class _Overload:
    """A function that numba implements in Python (``numba.extending.overload``), compiled for each call's types."""

    targetdescr = target

    def __init__(self, function: Callable[..., Any], targetoptions: Mapping[str, Any] | None = None) -> None:
        self.py_func = function
        self.__name__ = function.__name__
        self.targetoptions = dict(targetoptions or {})
        self.overloads: dict[tuple[Any, ...], Any] = {}
        self._pysig = utils.pysignature(function)
        self._numba_type_ = types.Dispatcher(self)

    @property
    def nopython_signatures(self) -> list[Any]:
        """The signatures of all that was compiled (numba's protocol)."""
        return [result.signature for result in self.overloads.values()]

    def _compilation_chain_init_hook(self) -> None:
        pass

    def compile(self, arguments: tuple[Any, ...]) -> Any:
        """Compile it for types (numba's protocol)."""
        if arguments not in self.overloads:
            result = compile_function(self.py_func, arguments, {})
            # numba finds the code of a call by the entry point, which nothing else uses here
            result = result._replace(entry_point=object())
            target.target_context.insert_user_function(result.entry_point, result.fndesc, [result.library])
            self.overloads[arguments] = result
        return self.overloads[arguments]

    def get_call_template(self, args: Any, kws: Any) -> tuple[Any, Any, Any, Any]:
        """Type one call (numba's protocol)."""
        folded = fold_arguments(
            self._pysig,
            args,
            kws,
            lambda _, __, value: value,
            lambda _, __, default: types.Omitted(default),
            lambda _, __, values: types.StarArgTuple(values),
        )
        self.compile(tuple(folded))
        name = f"Call({self.__name__})"
        template = typing.make_concrete_template(name, key=self.__name__, signatures=self.nopython_signatures)
        return template, self._pysig, folded, {}

    def get_overload(self, signature: Any) -> Any:
        """The compiled code for a call of these types (numba's protocol)."""
        return self.overloads[tuple(getattr(signature, "args", signature))].entry_point


def _jit(function: Callable[..., Any] | None = None, *_: Any, **__: Any) -> Any:
    return _jit if function is None else _Overload(function)


target_extension.dispatcher_registry[SpirvTarget] = _Overload

target_extension.jit_registry[SpirvTarget] = _jit


_numbers = itertools.count()


class DeviceFuncType(types.Callable, types.Opaque):  # type: ignore[misc]
    """The type of one device function in one kernel, which keeps what was compiled of it.

    Args:
        source: the function; nothing else has this type.
    """

    def __init__(self, source: SourceFunction) -> None:
        self._source = source
        self._signature = inspect.signature(source.py_func)
        self._compiled: dict[tuple[Any, ...], Any] = {}
        self._called: dict[tuple[Any, ...], Any] = {}
        super().__init__(f"device function {source.py_func.__name__} {next(_numbers)}")

    def forget(self) -> None:
        """Free the compiled code."""
        for result in self._compiled.values():
            target.target_context.remove_user_function(result)
        self._compiled.clear()
        self._called.clear()

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Type one call (numba's protocol).

        Raises:
            numba.core.errors.TypingError: its arguments do not fit, or it cannot be compiled for them.
        """
        try:
            bound = self._signature.bind(*args, **kws)
        except TypeError as error:
            raise errors.TypingError(f"{self._source.py_func.__name__}: {error}") from None
        bound.apply_defaults()
        given = tuple(
            value if isinstance(value, types.Type) else context.resolve_value_type(value) for value in bound.args
        )
        returns = None
        if self._source.overloads:
            best = context.resolve_overload(self, self._source.overloads, given, {}, unsafe_casting=True)
            if best is None:
                raise errors.TypingError(f"{self._source.py_func.__name__}: none of its signatures takes {given}")
            given, returns = best.args, best.return_type
        result = self._compile(given, returns)
        self._called[result.signature.args] = result
        return result.signature.replace(pysig=self._signature)

    def _compile(self, given: tuple[Any, ...], returns: Any) -> Any:
        """Compile for the plain types, so that calls share the code; for literals if the function needs them."""
        plain = tuple(map(types.unliteral, given))
        first_error: errors.NumbaError | None = None
        for arguments in dict.fromkeys((plain, given)):
            if arguments in self._compiled:
                return self._compiled[arguments]
            try:
                result = compile_function(self._source.py_func, arguments, self._source.targetoptions, returns)
            except errors.NumbaError as error:
                first_error = first_error or error
                continue
            target.target_context.insert_user_function(result, result.fndesc, [result.library])
            self._compiled[arguments] = result
            return result
        assert first_error is not None
        raise first_error

    def get_call_signatures(self) -> tuple[list[Any], bool]:
        """No fixed signatures: the types decide (numba's protocol)."""
        return [], True

    def get_impl_key(self, sig: Any) -> Any:
        """The key under which the code of a call is registered (numba's protocol)."""
        return self._called[sig.args]


own_models.register(DeviceFuncType, models.OpaqueModel)
