"""Run each variant at sizes that are no multiples of a work-group: a tail that is left out shows there."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from xebench.errors import describe_error
from xebench.measuring.bound_problem import host_view
from xebench.measuring.checksums import Sums
from xebench.measuring.correctness import Expected, expected_of
from xebench.measuring.data_sets import DataSets
from xebench.measuring.local import ProblemPlace
from xebench.measuring.place import VariantRun
from xebench.measuring.prepare import make_problem
from xebench.measuring.result_rules import ResultRules
from xebench.patterns.pattern import Pattern
from xebench.session.session import Session

#: Seconds after which no further variant is tried: kernels that capture a size are compiled for this one, too.
MOST_S: Final = 2.0
#: First words of the results, and what no variant is to blame for.
RIGHT, WRONG, UNTRIED = "right at", "wrong at", "not tried:"
#: The same of a size that the pattern's problem refuses with a ValueError, which says what it must be.
REFUSED: Final = "refused:"
NO_TIME: Final = "its other variants took too long"
#: Beside the baseline where all are wrong.
ADVICE: Final = "so are all variants: if it must be a multiple, name other sizes with odd_sizes="

#: Name and value of each size that is made odd.
Sizes = Mapping[str, Any]


def odd_sizes(pattern: Pattern) -> list[Sizes]:
    """The sizes to try, most at once first: those of the pattern, or each integer of its smoke preset less one."""
    if pattern.odd_sizes is not None:
        return [pattern.odd_sizes] if pattern.odd_sizes else []
    odd = {name: size - 1 for name, size in pattern.presets["smoke"].items() if type(size) is int and size > 2}
    return [odd, *({name: size} for name, size in odd.items() if len(odd) > 1)] if odd else []


def tried_at_odd_sizes(
    session: Session, sums: Sums, pattern: Pattern, parameters: Mapping[str, Any], seed: int, runs: Sequence[VariantRun]
) -> dict[str, str]:
    """Results of variants at odd sizes, one sentence each, by name.

    All sizes are made odd at once, and one by one for those variants that are not right then.

    Args:
        session: idle session.
        sums: see `ProblemPlace`.
        pattern: pattern of the family.
        parameters: parameters of the family, for its axes.
        seed: seed of the data.
        runs: variants with right results at the family's size.
    """
    here = [run.name for run in runs if run.can_be_called()]
    here.sort(key=lambda name: name != pattern.baseline_variant.name)
    smoke = {name: size for name, size in pattern.presets["smoke"].items() if type(size) in (int, float, str)}
    end_s = time.monotonic() + MOST_S
    found: dict[str, list[str]] = {name: [] for name in here}
    for odd in odd_sizes(pattern):
        waiting = [name for name in here if not "".join(found[name][:1]).startswith(RIGHT)]
        if waiting:
            at = ", ".join(f"{name}={size}" for name, size in odd.items())
            own = _tried(session, sums, pattern, {**parameters, **smoke, **odd}, seed, waiting, end_s, at)
            for name, words in own.items():
                found[name].append(words)
    return _with_advice({name: _in_all(results) for name, results in found.items() if results})


def _in_all(results: Sequence[str]) -> str:
    """The result at all sizes: a wrong one, of a single size if there is one; else the right ones."""
    wrong = [words for words in results if words.startswith(WRONG)]
    right = [words for words in results if words.startswith(RIGHT)]
    return wrong[-1] if wrong else "; ".join(right) or results[0]


def _with_advice(tried: Mapping[str, str]) -> dict[str, str]:
    """The results; where all are wrong, the size is at fault, and the first has the advice."""
    wrong = [name for name, words in tried.items() if words.startswith(WRONG)]
    if len(wrong) < len(tried) or len(wrong) < 2:
        return dict(tried)
    return {name: f"{words}; {ADVICE}" for name, words in tried.items() if name == wrong[0]}


def _tried(
    session: Session,
    sums: Sums,
    pattern: Pattern,
    parameters: Mapping[str, Any],
    seed: int,
    names: Sequence[str],
    end_s: float,
    at: str,
) -> dict[str, str]:
    """The result of each variant at one size, whose words are ``at``."""

    # a pattern may refuse a size, as a variant may refuse a launch: that needs no remark, since nobody overlooks it
    def refused(error: Exception) -> str:
        return f"{UNTRIED} {at}: {describe_error(error)}"

    if time.monotonic() > end_s:
        return dict.fromkeys(names, f"{UNTRIED} {at}: {NO_TIME}")
    try:
        problem = make_problem(pattern, parameters, seed)
    except ValueError as error:
        return dict.fromkeys(names, f"{REFUSED} {at}: {error}")
    except Exception as error:
        return dict.fromkeys(names, refused(error))
    try:
        view = host_view(problem, parameters)
        expected = expected_of(pattern, view, problem, 0)
        expected.rules = ResultRules.of(pattern, view)
        place = ProblemPlace(session, sums, pattern, DataSets(lambda _: problem, seed), parameters)
        place.begin()
    except Exception as error:
        return dict.fromkeys(names, refused(error))
    tried = {}
    try:
        for name in names:
            if time.monotonic() > end_s:
                tried[name] = f"{UNTRIED} {at}: {NO_TIME}"
                continue
            try:
                fault = _fault(place, expected, name, seed)
                tried[name] = f"{WRONG} {at}: {fault}" if fault else f"{RIGHT} {at}"
            except Exception as error:
                tried[name] = refused(error)
    finally:
        place.end()
    return tried


def _fault(place: ProblemPlace, expected: Expected, name: str, seed: int) -> str:
    started = place.start(name, expected.poison(random.Random(seed), not_a_number=True))
    faults = [f"writes beyond {array}" for array in started.beyond]
    return "; ".join([*faults, *(each.fault for each in expected.check(started.results) if each.fault)])
