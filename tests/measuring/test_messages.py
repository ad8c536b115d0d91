"""What manager and worker say to one another: every message arrives as what it was, and nothing else does."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from xebench.measuring import messages
from xebench.measuring.case_rows import CaseResult, Work
from xebench.measuring.messages import Instance, Message, Request, WorkerMessage
from xebench.measuring.sampling import Sampling
from xebench.measuring.stopping import Instances
from xebench.vocabulary import State, Status

FAMILY = messages.MeasureInstance(
    source="p.py",
    pattern="p",
    parameters={"n": 64, "dtype": "float32"},
    variants=["a", "b"],
    case_ids={"a": "p/a", "b": "p/b"},
    seed=1,
    state=State.COLD,
    limits=Instances(Sampling(states=[State.HOT, State.COLD], budget_s=0.1)).limits,
    compiled=["a"],
    compared=[("b", "a")],
    upcoming=[],
)
WORK = Work(8, None, "fp32", 16)
WRONG = CaseResult(Status.WRONG, "differs", "", WORK, {"error_ulp": 0.5, "kernels": "[]", "program": None})
MEASURED = Instance(
    number=1,
    state=State.HOT,
    speedups={"b": [0.1, 1 / 3]},
    blocks=2,
    seconds=2.5,
    parts={"sampling": 2.5},
    results={"a": WRONG, "b": CaseResult(Status.ERROR, "problem: no")},
)


@pytest.mark.parametrize(
    ("message", "union"),
    [
        (FAMILY, Request),
        (messages.Ready(), WorkerMessage),
        (messages.Done(), WorkerMessage),
        (messages.Failed("no device", 3), WorkerMessage),
        (messages.Step("a", messages.Stage.CHECK), WorkerMessage),
        (messages.Step(None, messages.Stage.PROBLEM), WorkerMessage),
        (
            messages.TableRows("samples", [{"sample_id": 7, "host_ns": 1e9, "valid": True, "stage": None}]),
            WorkerMessage,
        ),
        (messages.FinishFamily(first=True), Request),
        (MEASURED, WorkerMessage),
        (messages.Finished({"a": WRONG}, {"ending": 0.5}), WorkerMessage),
    ],
)
def test_a_message_arrives_as_it_was_sent(message: Message, union: Any) -> None:
    assert msgspec.json.decode(msgspec.json.encode(message), type=union) == message


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"Finished","results":{"a":{"status":"fine"}},"parts":{}}',
        b'{"kind":"Finished","results":{"a":{"status":"ok","work":{"operations":9223372036854775808}}},"parts":{}}',
        b'{"kind":"Finished","results":{},"parts":{},"colour":"red"}',
        b'{"kind":"Instance","number":0,"state":"hot","speedups":{"b":[null]}}',
        b'{"kind":"Failed","reason":"x"}',
        b'{"kind":"Call","method":"instrument"}',
    ],
)
def test_nothing_else_is_an_answer(line: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(line, type=WorkerMessage)


def test_an_array_of_one_number_is_sent_as_the_number() -> None:
    poison = np.broadcast_to(np.float32("nan"), (1 << 10, 1 << 10))
    text = messages.pickled({"y": poison, "one": np.ones(1)})
    assert text.nbytes < 1000
    arrived = messages.unpickled(messages.Returned(text))
    assert arrived["y"].shape == poison.shape and arrived["y"].dtype == poison.dtype and np.isnan(arrived["y"]).all()
    assert arrived["one"].tolist() == [1.0]
