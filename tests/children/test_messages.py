"""Messages between worker and manager, and the beacon."""

from __future__ import annotations

import os
import threading

import pytest

from harness.children.activity import Beacon
from harness.children.messages import Receiver, Sender, UnreadableMessage


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


def test_messages_of_two_threads_do_not_mix() -> None:
    reading, writing = os.pipe()
    sender, receiver = Sender(writing), Receiver(reading)
    # each is larger than a pipe, which so takes it in pieces
    threads = [
        threading.Thread(target=lambda kind=kind: [sender.send(kind, text=kind * 300_000) for _ in range(20)])
        for kind in "ab"
    ]
    for thread in threads:
        thread.start()
    kinds = [message["kind"] for _ in range(40) if (message := receiver.receive(60)) is not None]
    for thread in threads:
        thread.join()
    os.close(writing)
    os.close(reading)
    assert sorted(kinds) == ["a"] * 20 + ["b"] * 20


@pytest.mark.parametrize(
    "line", [b'{"kind":"rows","rows":[1{"kind"', b"[]", b'{"rows":[]}', b"\xff", b'{"kind":1}', b""]
)
def test_what_is_no_message_is_said_to_be_none(line: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, line + b"\n")
    with pytest.raises(UnreadableMessage, match="a message that cannot be read: '"):
        Receiver(reading).receive(1)
    os.close(writing)
    os.close(reading)
