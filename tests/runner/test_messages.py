"""What manager and worker say to one another: every message arrives as what it was, and nothing else does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.patterns.problem import Problem
from harness.runner import messages
from harness.runner.messages import Answer, CaseOver, Message, Request, Work
from harness.sampling.limits import Sampling
from harness.vocabulary import State, Status

FAMILY = messages.MeasureFamily(
    source="p.py",
    pattern="p",
    sizes={"n": 64},
    axes={"dtype": "float32"},
    variants=["a", "b"],
    case_ids={"a": "p/a", "b": "p/b"},
    sampling=Sampling(states=[State.HOT, State.COLD], budget_s=0.1),
    seed=1,
    compiled=["a"],
    earlier={"hot": [{"b": [0.1, 1 / 3]}]},
)
WORK = Work(8, None, "fp32", 16)


@pytest.mark.parametrize(
    ("message", "union"),
    [
        (messages.MeasureRoofs(), Request),
        (FAMILY, Request),
        (messages.Ready(), Answer),
        (messages.Done(), Answer),
        (messages.Failed("no device", 3), Answer),
        (messages.Roofs({"bandwidth_roof_gbps": 1.5, "fp64_roof_gflops": None}), Answer),
        (messages.VariantChecked("a"), Answer),
        (messages.TableRows("samples", [{"sample": 7, "host_ns": 1e9, "valid": True, "stage": None}]), Answer),
        (messages.StateSampled(State.HOT, [{"b": [0.1, 1 / 3]}], 2.5), Answer),
        (CaseOver("a", Status.WRONG, "differs", "", "[]", WORK), Answer),
    ],
)
def test_a_message_arrives_as_it_was_sent(message: Message, union: Any) -> None:
    assert msgspec.json.decode(msgspec.json.encode(message), type=union) == message


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"CaseOver","variant":"a","status":"fine"}',
        b'{"kind":"CaseOver","variant":"a","status":"ok","colour":"red"}',
        b'{"kind":"StateSampled","state":"hot","instances":[{"b":[null]}],"seconds":1}',
        b'{"kind":"Failed","reason":"x"}',
        b'{"kind":"MeasureRoofs"}',
    ],
)
def test_nothing_else_is_an_answer(line: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(line, type=Answer)


def test_a_case_says_what_its_row_has() -> None:
    said = {"status": "error", "reason": "problem: no", "stopped_by": "", "kernels": "[]"}
    assert CaseOver("a", Status.ERROR, "problem: no").row() == said
    work = {"bytes_moved": 8, "operations": None, "operation_kind": "fp32", "slm_bytes": 16}
    assert CaseOver("a", Status.ERROR, "problem: no", work=WORK).row() == said | work


def test_the_least_work_may_be_counted_by_numpy() -> None:
    problem = Problem(bytes_moved=np.int64(8), operations=2.0, operation_kind=np.str_("fp64"))  # type: ignore[arg-type]
    assert msgspec.json.decode(msgspec.json.encode(Work.of(problem)), type=Answer | Work) == Work(8, 2, "fp64", None)
    with pytest.raises(ValueError, match="many"):
        Work.of(SimpleNamespace(bytes_moved="many", operations=None, slm_bytes=None))  # type: ignore[arg-type]
