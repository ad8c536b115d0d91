"""Messages between two processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from xebench.measuring.messages import Bytes
from xebench.system.children.worker import Receiver, Sender, UnreadableMessage


class Text(msgspec.Struct, tag=True):
    text: str
    rows: list[dict[str, Any]] = []


class Done(msgspec.Struct, tag=True):
    """Nothing more."""


class Arrays(msgspec.Struct, tag=True):
    arrays: dict[str, Bytes]


Message = Text | Done


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        try:
            os.close(descriptor)
        except OSError:
            continue


def test_messages_arrive_whole_and_in_order(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    sender, receiver = Sender(writing), Receiver[Message](reading, Message)
    sender.send(Text("a\nb", [{"host_ns": 1, "device_ns": 0.1, "valid": True, "stage": None}]))
    sender.send(Done())
    assert receiver.receive(1) == Text("a\nb", [{"host_ns": 1, "device_ns": 0.1, "valid": True, "stage": None}])
    assert receiver.receive(1) == Done()
    with pytest.raises(TimeoutError):
        receiver.receive(0.01)
    os.write(writing, b'{"type":"half')
    os.close(writing)
    assert receiver.receive(1) is None


def test_numbers_of_numpy_are_numbers(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    Sender(writing).send(Text("", [{"a": np.float64(0.5), "b": np.int64(3), "c": np.bool_(True)}]))
    message = Receiver[Message](reading, Message).receive(1)
    assert message == Text("", [{"a": 0.5, "b": 3, "c": True}])
    with pytest.raises(NotImplementedError, match="a message cannot hold a module"):
        Sender(writing).send(Text("", [{"a": np}]))


def test_messages_of_two_threads_do_not_mix(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    sender, receiver = Sender(writing), Receiver[Text](reading, Text)

    def send_20(letter: str) -> None:
        for _ in range(20):
            sender.send(Text(letter * 300_000))  # larger than a pipe, which so takes it in pieces

    threads = [threading.Thread(target=send_20, args=(letter,)) for letter in "ab"]
    for thread in threads:
        thread.start()
    texts = [message.text for _ in range(40) if (message := receiver.receive(60)) is not None]
    for thread in threads:
        thread.join()
    assert sorted(texts) == ["a" * 300_000] * 20 + ["b" * 300_000] * 20


def test_arrays_follow_their_message_and_may_come_in_pieces(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    receiver: Receiver[Any] = Receiver(reading, Arrays | Done)
    sent: dict[str, Any] = {
        "large": np.arange(1 << 17, dtype=np.float64).reshape(2, -1),  # 1 MiB: a pipe holds less
        "columns": np.arange(6, dtype=np.int16).reshape(2, 3).T,
        "number": np.array(7.5),
        "none": np.empty((0, 3), np.float32),
        "lines": np.full(4, ord("\n"), np.uint8),
    }

    def send() -> None:
        for each in (Arrays(sent), Done()):
            Sender(writing).send(each)

    thread = threading.Thread(target=send)
    with pytest.raises(TimeoutError):
        receiver.receive(0)
    thread.start()
    message = None
    while message is None:
        try:
            message = receiver.receive(0)
        except TimeoutError:  # of which nothing is lost
            continue
    thread.join()
    assert receiver.receive(1) == Done()
    assert list(message.arrays) == list(sent)
    for name, array in message.arrays.items():
        assert array.dtype == sent[name].dtype and not array.flags.writeable
        np.testing.assert_array_equal(array, sent[name])
    os.write(writing, b'{"type":"Arrays","arrays":{"half":{"dtype":"<f4","shape":[2]}}}\n1234')
    os.close(writing)
    assert receiver.receive(1) is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"Text","text":[1{"type"',
        b"[]",
        b'{"text":"a"}',
        b"\xff",
        b'{"type":1}',
        b'{"type":"Another"}',
        b'{"type":"Text"}',
        b'{"type":"Text","text":1}',
        b"",
    ],
)
def test_what_is_no_message_is_said_to_be_none(line: bytes, pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, line + b"\n")
    with pytest.raises(UnreadableMessage, match="a message that cannot be read: '"):
        Receiver[Message](reading, Message).receive(1)
