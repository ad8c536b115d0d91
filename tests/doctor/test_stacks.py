"""What the doctor says of the two stacks."""

from __future__ import annotations

import pytest

from numba_sycl.stacks import Stack
from xebench.doctor import examination as doctor


@pytest.mark.parametrize("used", Stack)
def test_the_other_stack_is_named_with_what_brings_it_and_is_no_problem(
    used: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "stack", lambda: used)
    first, second = doctor.stack_findings()
    assert (first.title, second.title) == (used, *set(Stack) - {used})
    assert first.detail.startswith("in use: ") and not first.next_step
    assert second.detail.startswith("not installed, nor needed: ")
    assert {first.status, second.status} == {"ok"}
    assert ("setup --kernels" in second.next_step) == (used is Stack.CURRENT)
