"""Messages between worker and manager, and the beacon."""

from __future__ import annotations

import os

import pytest

from harness.runner.beacon import Beacon
from harness.runner.messages import Receiver, Sender


def test_messages_arrive_whole_and_in_order() -> None:
    reading, writing = os.pipe()
    sender, receiver = Sender(writing), Receiver(reading)
    sender.send("rows", table="samples", rows=[{"host_ns": 1, "flags": "a\nb"}])
    sender.send("done")
    assert receiver.receive(1) == {
        "kind": "rows",
        "table": "samples",
        "rows": [{"host_ns": 1, "flags": "a\nb"}],
    }
    assert receiver.receive(1) == {"kind": "done"}
    with pytest.raises(TimeoutError):
        receiver.receive(0.01)
    os.write(writing, b'{"kind":"half')
    os.close(writing)
    assert receiver.receive(1) is None
    os.close(reading)


def test_a_beacon_shows_across_its_descriptor() -> None:
    ours = Beacon.create()
    theirs = Beacon(os.dup(ours.descriptor))
    assert ours.read() == (None, "idle")
    theirs.show(3, "check")
    assert ours.read() == (3, "check")
    theirs.show(None, "reference")
    assert ours.read() == (None, "reference")
    theirs.close()
    ours.close()
