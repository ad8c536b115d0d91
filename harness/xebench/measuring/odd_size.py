"""Run each variant once at a size that is no multiple of a work-group: a tail that is left out shows there."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from xebench.measuring.bound_problem import host_view
from xebench.measuring.checksums import Sums
from xebench.measuring.correctness import expected_of
from xebench.measuring.data_sets import DataSets
from xebench.measuring.local import ProblemPlace
from xebench.measuring.place import VariantRun
from xebench.measuring.prepare import make_problem
from xebench.measuring.result_rules import ResultRules
from xebench.patterns.pattern import Pattern
from xebench.session.session import Session

#: Seconds after which no further variant is tried: kernels that capture a size are compiled for this one, too.
MOST_S: Final = 2.0
#: The size that is made odd by default.
SIZE: Final = "n"
#: First word of the remark on a variant with wrong results there.
WRONG: Final = "wrong"


def odd_parameters(pattern: Pattern, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """The smoke preset's sizes with an odd one; None where a pattern has no plain size ``n``.

    Args:
        pattern: pattern with ``odd_sizes`` or a size ``n``.
        parameters: parameters of the family, for its axes.
    """
    smoke = {name: size for name, size in pattern.presets["smoke"].items() if type(size) in (int, float, str)}
    odd = pattern.odd_sizes
    if odd is None:
        size = smoke.get(SIZE)
        odd = {SIZE: size - 1} if type(size) is int and size > 2 else {}
    return {**parameters, **smoke, **odd} if odd else None


def tried_at_odd_size(
    session: Session, sums: Sums, pattern: Pattern, parameters: Mapping[str, Any], seed: int, runs: Sequence[VariantRun]
) -> dict[str, str]:
    """Results of variants at an odd size, one sentence each, by name; empty if the baseline is wrong there.

    Args:
        session: idle session.
        sums: see `ProblemPlace`.
        pattern: pattern of the family.
        parameters: parameters of the family.
        seed: seed of the data.
        runs: variants with right results at the family's size.
    """
    odd = odd_parameters(pattern, parameters)
    here = [run for run in runs if run.is_good() and not run.variant.ranks and not run.variant.environment]
    baseline = pattern.baseline_variant.name
    if odd is None or baseline not in {run.name for run in here}:
        return {}
    here.sort(key=lambda run: run.name != baseline)
    tried: dict[str, str] = {}
    size = _words(odd, pattern)
    with suppress(Exception):  # a pattern may refuse the size, or a variant the launch: the guide's sizes are even
        problem = make_problem(pattern, odd, seed)
        view = host_view(problem, odd)
        expected = expected_of(pattern, view, problem, 0)
        expected.rules = ResultRules.of(pattern, view)
        place = ProblemPlace(session, sums, pattern, DataSets(lambda _: problem, seed), odd)
        place.begin()
        try:
            end_s = time.monotonic() + MOST_S
            for run in here:
                if time.monotonic() > end_s:
                    break
                with suppress(Exception):
                    started = place.start(run.name, expected.poison(random.Random(seed), not_a_number=True))
                    compared = expected.check(started.results)
                    beyond = [f"writes beyond {name}" for name in started.beyond]
                    fault = "; ".join([*beyond, *(each.fault for each in compared if each.fault)])
                    tried[run.name] = f"{WRONG} at {size}: {fault}" if fault else f"right at {size}"
                    if fault and run.name == baseline:
                        break
        finally:
            place.end()
    return tried if tried.get(baseline, WRONG).startswith("right") else {}


def _words(odd: Mapping[str, Any], pattern: Pattern) -> str:
    sizes = pattern.odd_sizes or {SIZE: odd[SIZE]}
    return ", ".join(f"{name}={odd[name]}" for name in sizes)
