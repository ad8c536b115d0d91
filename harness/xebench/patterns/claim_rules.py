"""Claims of one pattern that cannot all hold: no measurement could answer them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from xebench.tables.analysis.claim import Claim
from xebench.vocabulary import DeviceClass, Outcome

#: A claim of time: who makes it, and whom it is compared with.
_Said = tuple[str, str, Claim]


def contradiction(claims: Mapping[str, Sequence[Claim]], baseline: str) -> str | None:
    """Describe in a few words what is wrong with the timing claims of a pattern; None if nothing is.

    Args:
        claims: of each variant, by its name.
        baseline: the variant that claims without `against` compare with.
    """
    said = [(name, claim.against or baseline, claim) for name, own in claims.items() for claim in own if claim.of_time]
    conditions = {(), *(claim.requires for _, _, claim in said)}
    points = _points([claim for _, _, claim in said])
    for device_class, values, fulfilled in itertools.product(DeviceClass, points, conditions):
        of_device = [one for one in said if one[2].is_said_of(device_class) and one[2].requires in ((), fulfilled)]
        here = [one for one in of_device if one[2].is_said_at(values)]
        fault = _opposites(here) or _circle(here)
        if fault:
            at = ", ".join(f"{name}={value}" for name, value in values.items())
            return f"{fault}{f' at {at}' if at else ''}"
    return None


def _points(claims: Sequence[Claim]) -> Iterator[dict[str, Any]]:
    """Every combination of the values that claims name, and of any other value."""
    named: dict[str, dict[Any, None]] = {}
    for claim in claims:
        for name, wanted in claim.where.items():
            values = wanted if isinstance(wanted, list | tuple) else (wanted,)
            named.setdefault(name, {}).update(dict.fromkeys(values))
    choices = [[None, *((name, value) for value in values)] for name, values in named.items()]
    for point in itertools.product(*choices):
        yield dict(one for one in point if one is not None)


def _opposites(said: Sequence[_Said]) -> str | None:
    words: dict[tuple[str, str], str] = {}
    for name, against, claim in said:
        for key, word in (((name, against), claim.word), ((against, name), _mirrored(claim.word))):
            if words.setdefault(key, word) != word:
                return f"{name} is claimed {claim.word} than {against} and the opposite"
    return None


def _mirrored(word: str) -> str:
    opposite = {Outcome.FASTER: Outcome.SLOWER, Outcome.SLOWER: Outcome.FASTER}
    return str(opposite.get(Outcome(word), word))


def _circle(said: Sequence[_Said]) -> str | None:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, against, claim in said:
        if claim.word != Outcome.SAME:
            sorter.add(*((name, against) if claim.word == Outcome.FASTER else (against, name)))
    try:
        sorter.prepare()
    except CycleError as error:
        return f"claims go round in a circle: {' is faster than '.join(reversed(error.args[1]))}"
    return None
