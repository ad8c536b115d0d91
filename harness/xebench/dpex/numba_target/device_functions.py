"""Functions that kernels call: compiled for the types of each call, and inlined."""

from __future__ import annotations

import inspect
from typing import Any

from numba.core import errors, types
from numba.core.datamodel import models

from xebench.dpex.numba_target.pipeline import compile_function
from xebench.dpex.source_kernel import SourceFunction
from xebench.dpex.target_base.context import target
from xebench.dpex.target_base.device_types import own_models


class DeviceFuncType(types.Callable, types.Opaque):  # type: ignore[misc]
    """The type of one such function.

    Args:
        source: the function; nothing else has this type.
    """

    def __init__(self, source: SourceFunction) -> None:
        self._source = source
        self._signature = inspect.signature(source.py_func)
        self._compiled: dict[tuple[Any, ...], Any] = {}
        self._called: dict[tuple[Any, ...], Any] = {}
        super().__init__(f"device function {source.py_func.__name__} {id(source)}")

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
        """For the plain types, so that calls share the code; for literals where the function cannot do without."""
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
        """What the code of a call is registered under (numba's protocol)."""
        return self._called[sig.args]


own_models.register(DeviceFuncType, models.OpaqueModel)
