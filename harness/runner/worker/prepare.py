"""What a family needs before it is bound to a device: its pattern, what that asks of the device, and its problem."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import Unsupported
from harness.patterns.pattern import Pattern
from harness.patterns.pattern_file import load_file
from harness.patterns.problem import Problem
from harness.runner.worker.variant_run import accepted
from harness.runtime import DeviceInfo, missing

_loaded: dict[str, list[Pattern]] = {}


def find_pattern(source: str, name: str) -> Pattern:
    """The pattern of a file; files are executed once per process, so their kernels are compiled once.

    Raises:
        PatternError: the file cannot be read.
    """
    if source not in _loaded:
        _loaded[source] = load_file(Path(source))
    return next(pattern for pattern in _loaded[source] if pattern.name == name)


def check_device(pattern: Pattern, axes: Mapping[str, Any], device: DeviceInfo) -> None:
    """Refuse what no variant can run on a device, before anything is allocated.

    Raises:
        Unsupported: names what is missing.
    """
    limits = ("work_group_size", "sub_group_size")
    reason = missing(device, pattern.requires, **{name: axes[name] for name in limits if name in axes})
    if reason:
        raise Unsupported(reason)


def make_problem(pattern: Pattern, numbers: Mapping[str, Any], seed: int) -> Problem:
    """The problem on the host, at one size and one point of the axes."""
    assert pattern.make_problem is not None
    problem: Problem = pattern.make_problem(np.random.default_rng(seed), **accepted(pattern.make_problem, numbers))
    return problem
