"""What the instances of a family say so far."""

from __future__ import annotations

import math

import numpy as np
import pytest

from xebench.measuring.case_rows import CaseResult, fixed_columns
from xebench.measuring.messages import Instance
from xebench.measuring.sampling import Sampling
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.plan import Family
from xebench.records.claim import Claim
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.rounds import MARGIN, pairs_so_far
from xebench.vocabulary import State, Status

DEVICE = {"device": "opencl:cpu:0", "device_class": "cpu", "name": "Max 1550"}
OK = CaseResult(Status.OK, "", "round")


def progress(*speedups: dict[str, float], claims: tuple[Claim, ...] = (), **results: CaseResult) -> FamilyProgress:
    """A family of three variants, with an instance of ten equal blocks for each dictionary of speed-ups."""
    declared = (("a", "naive", ()), ("b", "intermediate", ()), ("c", "optimized", claims))
    variants = tuple(VariantInfo(*one, "") for one in declared)
    info = PatternInfo("p", "f", "g", "l", (), "device", {"smoke": {}}, {}, variants, "p.py")
    family = Family(info, "smoke", {}, {})
    fixed = fixed_columns(family, DEVICE, seed=1)
    found = {**dict.fromkeys("abc", OK), **results}
    logs = [{name: [math.log(value)] * 10 for name, value in one.items()} for one in speedups]
    instances = [Instance(number=number, state=State.HOT, speedups=one) for number, one in enumerate(logs)]
    return FamilyProgress(family, fixed, Sampling(few_instances=3), 0, results=found, instances=instances)


def words(known: FamilyProgress) -> list[tuple[str, str]]:
    return [(pair.variant, pair.words) for pair in pairs_so_far(known)]


def test_every_variant_is_compared_with_the_baseline_and_with_what_its_claims_name() -> None:
    known = progress(
        *({"b": 2.0 + 0.01 * number, "c": 3.0, "c/b": 1.5} for number in range(3)),
        claims=(Claim("faster", against="b"), Claim("slower")),
    )
    assert words(known) == [("b", "2.01x"), ("c", "1.50x over b"), ("c", "3.00x")]
    assert [pair.claimed for pair in pairs_so_far(known)] == [False, True, True]


def test_what_cannot_be_compared_says_why() -> None:
    claims = (Claim("faster"),)
    lost = progress({"b": 2.0}, claims=claims, c=CaseResult(Status.SKIPPED, "no local memory"))
    assert words(lost) == [("b", "2.00x"), ("c", "skipped: no local memory")]
    alone = progress(claims=claims, a=CaseResult(Status.WRONG, "x"))
    assert words(alone)[1] == ("c", "no result of a")
    assert words(progress(claims=claims))[1] == ("c", "no valid sample")
    wrong = progress({"b": 2.0}, claims=(Claim("wrong"),), c=CaseResult(Status.WRONG, "1 element differs"))
    assert words(wrong)[1] == ("c", "wrong result, as claimed")


@pytest.mark.parametrize(
    ("speedups", "claim", "wanted"),
    [
        ((1.5, 1.5, 1.5), Claim("faster"), None),
        ((1.5,), Claim("faster"), math.log(1.5)),
        ((0.9, 1.1, 1.3), Claim("faster"), math.log(0.9 * 1.1 * 1.3) / 3),
        ((0.9, 1.1, 1.3), None, None),
        ((0.95, 1.0, 1.05), Claim("same", within=0.5), None),
        ((0.5, 1.1, 2.0), Claim("same", within=0.5), math.log(1.5) - math.log(1.1) / 3),
    ],
)
def test_a_claim_is_open_until_more_than_its_interval_answers_it(
    speedups: tuple[float, ...], claim: Claim | None, wanted: float | None
) -> None:
    known = progress(*({"c": speedup} for speedup in speedups), claims=(claim,) if claim else ())
    pair = pairs_so_far(known)[-1].state
    assert pair is not None and pair.instances == len(speedups)
    assert pair.wanted == (None if wanted is None else pytest.approx(wanted / MARGIN))


def test_an_interval_that_just_excludes_one_makes_no_room_for_others() -> None:
    lucky = progress(*({"c": speedup} for speedup in (1.09, 1.13, 1.19, 1.04)), claims=(Claim("faster"),))
    (pair,) = [pair for pair in pairs_so_far(lucky) if pair.variant == "c"]
    assert pair.state is not None
    narrower = pair.state.half_width
    assert narrower < abs(float(np.mean(np.log([1.09, 1.13, 1.19, 1.04])))), "it excludes a speed-up of one"
    assert pair.state.wanted is None or narrower > pair.state.wanted


def test_without_a_baseline_nothing_is_compared() -> None:
    known = progress({"b": 2.0})
    known.fixed["a"]["role"] = "optimized"
    assert pairs_so_far(known) == []
