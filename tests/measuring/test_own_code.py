"""Code that was replaced is found, however it was done; a module that is merely used or extended is not."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from xebench.measuring import comparison
from xebench.measuring.place import VariantRun
from xebench.measuring.prepare import OwnCode


def test_nothing_has_changed_where_modules_are_used_and_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    own = OwnCode()
    monkeypatch.setattr(np, "of_my_own", np.add, raising=False)
    with np.errstate(all="ignore"):
        np.random.seed(3)
        assert own.changed() == []


@pytest.mark.device
def test_what_the_current_stack_looks_up_when_a_kernel_is_compiled_is_no_change() -> None:
    import xebench.dpex.sub_group  # noqa: F401

    assert OwnCode().changed() == []


@pytest.mark.parametrize(
    ("owner", "name", "title"),
    [
        (np, "count_nonzero", "numpy.count_nonzero"),
        (np.linalg, "norm", "numpy.linalg.norm"),
        (time, "perf_counter_ns", "time.perf_counter_ns"),
        (comparison, "difference", "xebench.measuring.comparison.difference"),
        (VariantRun, "drop", "xebench.measuring.place.VariantRun.drop"),
        (VariantRun, "name", "xebench.measuring.place.VariantRun.name"),
    ],
)
def test_what_was_replaced_is_named(owner: Any, name: str, title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = OwnCode()
    monkeypatch.setattr(owner, name, lambda *arguments, **options: 0)
    assert title in own.changed()


def test_a_function_with_other_code_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    own = OwnCode()
    monkeypatch.setattr(comparison.difference, "__code__", (lambda *arguments: None).__code__)
    assert own.changed()[0] == "xebench.measuring.comparison.difference"
