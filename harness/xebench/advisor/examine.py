"""Examine a variant of a pattern file in a worker process, so that a crash or a hang is an error in one line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec

from xebench.advisor.facts import Facts
from xebench.errors import PatternError, XebenchError, suggestion
from xebench.measuring.device_worker import DeviceWorker, Lost, start_worker
from xebench.measuring.messages import Call, Returned, WorkerMessage, pickled, unpickled
from xebench.patterns.plan import Family
from xebench.system.children import Program
from xebench.vocabulary import find_baseline

#: Seconds of silence after which a worker counts as hung.
TIMEOUT_S: Final = 120.0

# built at import time: msgspec crashes if two threads use a type first at the same time
msgspec.json.Decoder(WorkerMessage)


def chosen_variants(family: Family, variant: str | None) -> list[str]:
    """A variant, or by default the baseline.

    Raises:
        PatternError: there is no such variant.
    """
    variants = family.pattern.variants
    names = [one.name for one in variants]
    if variant is None:
        baseline = find_baseline(variants, role=lambda one: one.role) or variants[0]
        return [baseline.name]
    if variant not in names:
        raise PatternError(f"{family.pattern.name} has no variant {variant!r}: {suggestion(variant, names)}")
    return [variant]


def examine(family: Family, variants: Sequence[str], device: str = "auto") -> list[Facts]:
    """The facts of variants, each by a few samples.

    Raises:
        XebenchError: the worker ends, or a variant fails; the message names it.
    """
    worker = DeviceWorker(partial(start_worker, device, handler=Program.ADVISE))
    try:
        worker.use({}, family.pattern.source)
        request = (family.pattern.source, family.pattern.name, dict(family.parameters), list(variants))
        answers = worker.answers(Call("examine", pickled(request)), variants, silence_s=lambda: TIMEOUT_S)
        return [unpickled(answer) for answer in answers if isinstance(answer, Returned)]
    except Lost as lost:
        raise XebenchError(f"{family.pattern.name}/{lost.variant or 'problem'}: {lost.how}") from None
    finally:
        worker.close_all()
