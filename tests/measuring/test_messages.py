"""What manager and worker say to one another: every message arrives as what it was, and nothing else does."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from xebench.measuring import messages
from xebench.measuring.case_rows import CaseResult, Work
from xebench.measuring.messages import CaseOver, Message, Request, WorkerMessage
from xebench.measuring.sampling import Sampling
from xebench.vocabulary import State, Status

FAMILY = messages.MeasureFamily(
    source="p.py",
    pattern="p",
    parameters={"n": 64, "dtype": "float32"},
    variants=["a", "b"],
    case_ids={"a": "p/a", "b": "p/b"},
    sampling=Sampling(states=[State.HOT, State.COLD], budget_s=0.1),
    seed=1,
    compiled=["a"],
    compared=[("b", "a")],
    earlier={"hot": [{"b": [0.1, 1 / 3]}]},
    upcoming=[],
)
WORK = Work(8, None, "fp32", 16)


@pytest.mark.parametrize(
    ("message", "union"),
    [
        (FAMILY, Request),
        (messages.Ready(), WorkerMessage),
        (messages.Done(), WorkerMessage),
        (messages.Failed("no device", 3), WorkerMessage),
        (messages.VariantChecked("a"), WorkerMessage),
        (
            messages.TableRows("samples", [{"sample_id": 7, "host_ns": 1e9, "valid": True, "stage": None}]),
            WorkerMessage,
        ),
        (messages.StateSampled(State.HOT, [{"b": [0.1, 1 / 3]}], 2.5), WorkerMessage),
        (CaseOver("a", CaseResult(Status.WRONG, "differs", "", "[]", work=WORK)), WorkerMessage),
        (CaseOver("a", CaseResult(Status.ERROR, "problem: no")), WorkerMessage),
    ],
)
def test_a_message_arrives_as_it_was_sent(message: Message, union: Any) -> None:
    assert msgspec.json.decode(msgspec.json.encode(message), type=union) == message


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"CaseOver","variant":"a","result":{"status":"fine"}}',
        b'{"kind":"CaseOver","variant":"a","result":{"status":"ok","work":{"operations":9223372036854775808}}}',
        b'{"kind":"CaseOver","variant":"a","result":{"status":"ok"},"colour":"red"}',
        b'{"kind":"StateSampled","state":"hot","instances":[{"b":[null]}],"seconds":1}',
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
