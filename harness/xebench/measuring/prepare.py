"""Prepare a family before it is bound to a device: find its pattern, make its inputs and its reference."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from numba_sycl.sycl_types import Array
from xebench.errors import PatternError, Unsupported
from xebench.measuring.array_check import UnusableReference, same_bits
from xebench.measuring.place import READ_ONLY, accepted_parameters
from xebench.patterns.pattern import Pattern
from xebench.patterns.pattern_file import load_file
from xebench.patterns.problem import InOut, Output, Problem
from xebench.system.runtime import DeviceInfo, missing
from xebench.system.runtime.devices import LIMITED_AXES
from xebench.vocabulary import GENERATOR

_loaded: dict[str, list[Pattern]] = {}


def find_pattern(source: str, name: str) -> Pattern:
    """The pattern of a file; files are executed once per process, so their kernels are compiled once.

    Raises:
        PatternError: the file cannot be read.
    """
    if source not in _loaded:
        _loaded[source] = load_file(Path(source))
    return next(pattern for pattern in _loaded[source] if pattern.name == name)


def require_device(pattern: Pattern, parameters: Mapping[str, Any], device: DeviceInfo) -> None:
    """Refuse what no variant can run on a device, before anything is allocated.

    Raises:
        Unsupported: names what is missing.
    """
    reason = missing(
        device, pattern.requires, **{name: parameters[name] for name in LIMITED_AXES if name in parameters}
    )
    if reason:
        raise Unsupported(reason)


def make_problem(pattern: Pattern, parameters: Mapping[str, Any], seed: int) -> Problem:
    """The problem on the host, at one size and one point of the axes; its arrays are its own, and cannot be written.

    Arrays that the pattern file may still refer to are copied, so that it cannot change the problem later.

    Args:
        pattern: pattern with the function.
        parameters: parameters of the problem.
        seed: seed of its numbers.

    Raises:
        PatternError: the pattern's function returns no problem, or one with other parameters than requested.
    """
    assert pattern.make_problem is not None
    numbers = np.random.Generator(getattr(np.random, GENERATOR)(seed))
    problem = pattern.make_problem(numbers, **accepted_parameters(pattern.make_problem, parameters))
    if not isinstance(problem, Problem):
        raise PatternError(f"@pattern.problem returned a {type(problem).__name__}: return Problem(...) with the fields")
    require_parameters(problem, parameters)
    for name in problem.fields:  # one by one: each original may be freed before the next is copied
        is_own = _references(problem.fields, name) <= _OF_ITS_FIELD and problem.fields[name].flags.c_contiguous
        problem.fields[name] = _protected(problem.fields[name]) if is_own else _own(problem.fields[name])
    return problem


def require_parameters(problem: Problem, parameters: Mapping[str, Any]) -> None:
    """Refuse a problem whose parameters are not those requested: a table must show what ran.

    Raises:
        PatternError: names what differs.
    """
    for name in parameters.keys() & problem.fields.keys():
        asked, own = parameters[name], problem.fields[name]
        if isinstance(own, np.ndarray | Output | InOut) or own != asked:
            has = f"{name}={own}" if isinstance(own, int | float | str) else f"an array {name}"
            raise PatternError(
                f"the problem has {has} where {name}={asked} was set: compute with that value, refuse what cannot be "
                "computed, or give the field another name"
            )


def make_reference(pattern: Pattern, view: Any, rank: int = 0, ranks: int = 1) -> Any:
    """Compute the results that every variant must compute.

    Args:
        pattern: pattern with the reference.
        view: the problem as the reference sees it.
        rank, ranks: index and number of ranks, for references with these parameters.

    Raises:
        UnusableReference: the reference changes its inputs.
    """
    assert pattern.make_reference is not None
    of_rank = accepted_parameters(pattern.make_reference, {"rank": rank, "ranks": ranks})
    try:
        return pattern.make_reference(view, **of_rank)
    except ValueError as error:
        if READ_ONLY not in str(error):
            raise
        name = _changed_in_place(partial(pattern.make_reference, **of_rank), view)
        raise UnusableReference(f"the reference changes {name} in place: copy it first") from error


def _changed_in_place(function: Callable[..., Any], view: Any) -> str:
    """Find the array that a function tried to change, by letting it change copies."""
    arrays = {name: value for name, value in vars(view).items() if isinstance(value, np.ndarray)}
    copies = {name: array.copy() for name, array in arrays.items()}
    with suppress(Exception):
        function(type(view)(**{**vars(view), **copies}))
    changed = (name for name, array in arrays.items() if not same_bits(array, copies[name]))
    return next((f"p.{name}" for name in changed), "an input")


def _own(field: Any) -> Any:
    if isinstance(field, InOut):
        return replace(field, initial=_own(np.asarray(field.initial)))
    if not isinstance(field, np.ndarray):
        return field
    return _protected(np.array(field, order="C"))


def _protected(array: Array) -> Array:
    array.setflags(write=False)
    return array.view()  # whose flag cannot be set back, as that of the array itself can


def _references(fields: Mapping[str, Any], name: str) -> float:
    """The number of references to an array with memory of its own; infinity for anything else."""
    is_whole = type(fields[name]) is np.ndarray and fields[name].flags.owndata
    return sys.getrefcount(fields[name]) if is_whole else math.inf


#: Reference count of an array that only its problem refers to.
_OF_ITS_FIELD: Final = _references({"": np.empty(0)}, "")
