"""Measure a family in this process, as a worker does, with a sender that keeps what is sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs

from xebench.measuring.case_rows import CaseResult
from xebench.measuring.messages import MeasureInstance, TableRows
from xebench.measuring.sampling import Sampling
from xebench.measuring.stopping import NEXT_INSTANCE, Instances, Series, end_of_round
from xebench.system.children.worker import ActivityPage
from xebench.vocabulary import Status


class Sender:
    """Rows by table and the outcome of each case."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.cases: dict[str, dict[str, Any]] = {}

    def end_if_closed(self) -> None: ...

    def send(self, message: Any) -> None:
        if isinstance(message, TableRows):
            self.rows[message.table] += message.rows

    def samples(self, **wanted: Any) -> list[dict[str, Any]]:
        return [row for row in self.rows["samples"] if all(row[name] == value for name, value in wanted.items())]


def measure(path: Path, pattern: str, *, rounds: int = 1, last: bool = True, **sampling: Any) -> Sender:
    """Measure a pattern of a file on the CPU device; 0.5 s and 12 blocks in a round, unless told otherwise.

    Args:
        path: the file.
        pattern: its name.
        rounds: how many.
        last: whether no round follows each of them.
        sampling: see `Sampling`.
    """
    from xebench.measuring.checksums import Sums
    from xebench.measuring.family_run import FamilyRun
    from xebench.measuring.places import Pool
    from xebench.measuring.prepare import find_pattern
    from xebench.measuring.problem_store import ProblemStore
    from xebench.session.device_memory import Flusher
    from xebench.session.session import Session
    from xebench.system.runtime.devices import describe

    session = Session.on("cpu")
    variants = list(find_pattern(str(path), pattern).variants)
    request = MeasureInstance(
        source=str(path),
        pattern=pattern,
        parameters=dict(find_pattern(str(path), pattern).presets["smoke"]),
        variants=variants,
        case_ids={name: name for name in variants},
        seed=1,
        limits=Instances(Sampling()).limits,
    )
    limits = Sampling(**{"budget_s": 0.5, "min_blocks": 6, "max_blocks": 12, **sampling}).for_each_state()
    store = ProblemStore(1 << 30)
    sender, activity, pool = Sender(), ActivityPage.create(), Pool("cpu")
    try:
        kept: Any = sender
        own = Sums(session.queue), pool, store, partial(Flusher, session.queue)
        found: dict[str, CaseResult] = {}
        number, earlier = 0, list[Mapping[str, Series]]()
        for of_round in range(rounds):
            request = structs.replace(request, first_block=1000 * of_round)
            run = FamilyRun(request, session, describe(session.device), kept, activity, *own)
            ends: list[str] = []
            for state in limits.states:
                instances, reason, good = Instances(limits, earlier, last=last), NEXT_INSTANCE, True
                while reason == NEXT_INSTANCE and good:
                    one = run.measure(structs.replace(request, number=number, state=state, limits=instances.limits))
                    reason, number = instances.add(one.series, one.blocks, one.seconds, enough=one.enough), number + 1
                    earlier.append(one.series)
                    good = any(result.status == Status.OK for result in one.results.values())
                ends.append(reason)
            end = end_of_round(ends, last=last)
            for name, result in run.finish(first=not of_round).results.items():
                stopped_by = end if result.status == Status.OK else ""
                found[name] = structs.replace(result, stopped_by=stopped_by).after(found.get(name, CaseResult()))
                sender.cases[name] = found[name].columns()
    finally:
        activity.close()
        pool.close()
    return sender
