"""A worker's parent as the worker sees it: requests come, answers go, and a page shows what it is doing."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from xebench.system.children.activity import ActivityPage
from xebench.system.children.channel import Receiver, Sender


class Parent:
    """The worker's side of a `xebench.system.children.worker.WorkerProcess`.

    Args:
        arguments: the command line's; what is not for this class stays in ``arguments``.

    Attributes:
        answers: takes what the parent is told.
        activity: where it looks when there is no answer.
        memory_limit_bytes: resident memory at which it ends the worker; infinite without a limit.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._reading, writing, page = descriptors = [int(argument) for argument in arguments[:3]]
        for descriptor in descriptors:
            # a program that a pattern starts has no business with them, and would keep the pipes open
            os.set_inheritable(descriptor, False)
        self.memory_limit_bytes = int(arguments[3]) or math.inf
        self.arguments = arguments[4:]
        self.answers = Sender(writing)
        self.activity = ActivityPage(page)

    def requests(self, messages: Any) -> Receiver[Any]:
        """The parent's requests, until it ends; ``messages`` is the union of their types."""
        return Receiver(self._reading, messages)
