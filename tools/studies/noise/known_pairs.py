"""The pairs of the study: what is compared with what, and what the right answer is."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from xebench.vocabulary import Outcome

Condition = Literal["quiet", "load"]

CONDITIONS: Final[tuple[Condition, ...]] = ("quiet", "load")

#: By how much the longer side's trip count is longer; 0 is an A/A pair.
EXCESSES: Final = (0.0, 0.01, 0.02, 0.05, 0.2)

#: Pairs of each excess in a repetition. False alarms are rare, so they need the most pairs.
PAIRS_OF: Final = {0.0: 3, 0.01: 1, 0.02: 1, 0.05: 1, 0.2: 1}


#: Further pairs, which xebench alone measures with its defaults: a share of 5 % that is sure to be below 7 % takes more
#: than 600 equal pairs, and the other tools are worse by far more than that.
ALONE_OF: Final = {0.0: 30, 0.02: 6}


@dataclass(frozen=True)
class Plan:
    """How much to measure.

    Attributes:
        repetitions: Rounds over all pairs, at most.
        seconds_per_pair: What each tool may take to decide on a pair.
        limit_s: Seconds after which no further repetition begins that would not end in time.
        seed: Of everything random.
        conditions: What is measured.
        first: Number of the first repetition; those before it are measured already.
    """

    repetitions: int
    seconds_per_pair: float
    limit_s: float
    seed: int
    conditions: Sequence[Condition] = CONDITIONS
    first: int = 0


@dataclass(frozen=True)
class KnownPair:
    """Two programs that every tool compares.

    Attributes:
        repetition: In which round of the study.
        condition: quiet, or under the study's own load.
        excess: By how much the trip count of the longer side is longer.
        answer: What the second program is against the first: faster, slower, or same for an A/A pair.
        swapped: Whether the first program is the second of the two kernels.
        seed: Of the tools' order and of xebench's blocks.
        alone: Whether xebench alone measures it, with its defaults.
    """

    repetition: int
    condition: Condition
    excess: float
    answer: str
    swapped: bool
    seed: int
    alone: bool = False


def pair_of(row: Mapping[str, Any]) -> KnownPair:
    """The pair that a row of the study's table is of."""
    return KnownPair(**{field.name: row[field.name] for field in fields(KnownPair)})


def repetition_pairs(repetition: int, seed: int) -> Iterator[KnownPair]:
    """The pairs of one repetition in random order, each condition a block of its own; its order is random too.

    Args:
        repetition: Number of the repetition.
        seed: Of the whole study.
    """
    source = random.Random(f"{seed}/{repetition}")
    for condition in source.sample(CONDITIONS, len(CONDITIONS)):
        kinds = [
            (excess, alone)
            for alone, counts in ((False, PAIRS_OF), (True, ALONE_OF))
            for excess, count in counts.items()
            for _ in range(count)
        ]
        source.shuffle(kinds)
        for excess, alone in kinds:
            answer = source.choice((Outcome.FASTER, Outcome.SLOWER)) if excess else Outcome.SAME
            yield KnownPair(repetition, condition, excess, answer, source.random() < 0.5, source.getrandbits(32), alone)
