"""Code that was replaced is found, however it was done; a module that is merely used or extended is not."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from xebench.measuring import comparison, correctness, less_work
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
        (correctness, "LOOKS", "xebench.measuring.correctness.LOOKS"),
        (less_work.takes_longer, "__defaults__", "xebench.measuring.less_work.takes_longer"),
    ],
)
def test_what_was_replaced_is_named(owner: Any, name: str, title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = OwnCode()
    monkeypatch.setattr(owner, name, (9,) if name == "__defaults__" else lambda *arguments, **options: 0)
    assert title in own.changed()


class Measures:
    def __init__(self) -> None:
        self._clock, self._recorder, self._kernels = time.perf_counter_ns, VariantRun(None), VariantRun(None)  # type: ignore[arg-type]
        self.queue = self.device = None
        self.words = ""

    def measure(self) -> None: ...


@pytest.mark.parametrize(
    ("part", "name"),
    [("", "measure"), ("", "_clock"), ("", "_recorder"), ("_recorder", "is_good"), ("_kernels", "drop")],
)
def test_what_a_session_measures_by_stays(part: str, name: str) -> None:
    session = Measures()
    own = OwnCode(session)
    session.words, session._recorder.reason = "used", "used"
    assert own.changed() == []
    setattr(getattr(session, part) if part else session, name, lambda *arguments: 0)
    (title,) = own.changed()
    assert title.endswith(f".{name}")


def test_a_function_with_other_code_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    own = OwnCode()
    monkeypatch.setattr(comparison.difference, "__code__", (lambda *arguments: None).__code__)
    assert own.changed()[0] == "xebench.measuring.comparison.difference"
