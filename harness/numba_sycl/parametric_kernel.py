"""A kernel whose sub-group size is a named parameter: ``@kernel(sub_group_size="sub_group_size")``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numba_sycl.errors import OptionError


class ParametricKernel:
    """A function that is another kernel for each value of a parameter; `at` gives the one to launch.

    Attributes:
        py_func: the Python function.
        parameter: name of the parameter.
    """

    def __init__(self, py_func: Callable[..., None], parameter: str, make: Callable[[int], Any]) -> None:
        self.py_func = py_func
        self.parameter = parameter
        self._make = make
        self._made: dict[int, Any] = {}

    def at(self, parameters: Mapping[str, Any]) -> Any:
        """The kernel for these values of the parameters, the same one each time.

        Raises:
            OptionError: there is no such parameter.
        """
        if self.parameter not in parameters:
            known = ", ".join(parameters) or "none"
            raise OptionError(
                f"kernel {self.py_func.__name__}: sub_group_size={self.parameter!r} is no parameter here "
                f"(there are {known}): write a number, or the name of one"
            )
        value = parameters[self.parameter]
        if value not in self._made:
            self._made[value] = self._make(value)
        return self._made[value]
