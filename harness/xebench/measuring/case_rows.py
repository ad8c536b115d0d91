"""Rows of the table `cases`: the columns that are known before a case is measured, and its result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
import numpy as np
from msgspec import structs

from xebench.errors import PatternError
from xebench.measuring.sampling import Sampling
from xebench.patterns.conditions import mark_not_asked
from xebench.patterns.plan import Family
from xebench.patterns.problem import Problem
from xebench.patterns.registry import portable_source
from xebench.records import points
from xebench.records.claim import to_json
from xebench.records.points import Row
from xebench.results.analysis.answer import same_within
from xebench.results.columns import FACTS
from xebench.vocabulary import OWN_SIZES, Status

#: The one status that is not final: the case is still to be measured.
NOT_MEASURED: Final = Status.INTERRUPTED

ENDED_BEFORE: Final = "the run ended before this case did"


_FACTS: Final = [column.name for column in FACTS]

#: Range of an integer column.
_Amount = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Work(msgspec.Struct, frozen=True):
    """The least work of a family, as its problem states it (`xebench.patterns.problem.Problem`)."""

    bytes_moved: _Amount | None = None
    operations: _Amount | None = None
    operation_kind: str = ""
    slm_bytes: _Amount | None = None
    host_bytes: _Amount | None = None
    working_set_bytes: _Amount | None = None
    read_part: float | None = None
    peer_bytes: _Amount | None = None

    @classmethod
    def of(cls, problem: Problem) -> Work:
        """The amounts that a problem states; numpy's numbers and whole floats are amounts, too.

        Raises:
            PatternError: a column cannot hold it.
        """
        stated = {name: getattr(problem, name) for name in cls.__struct_fields__}
        if stated["host_bytes"] is None:
            stated["host_bytes"] = problem.host_output_bytes or None
        stated["working_set_bytes"] = stated["working_set_bytes"] or None
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in stated.items()}
        try:
            return msgspec.convert(plain, cls, strict=False)
        except msgspec.ValidationError as error:
            raise PatternError(f"what the problem states cannot be kept: {error}") from None


class CaseResult(msgspec.Struct, frozen=True):
    """The result of a case; the defaults are of an undisturbed case.

    Attributes:
        status, reason, stopped_by: see the columns of the table `cases`.
        work: least work of its family; None when its problem was not made.
        facts: further findings, by column (`xebench.results.columns.FACTS`).
    """

    status: Status = NOT_MEASURED
    reason: str | None = ENDED_BEFORE
    stopped_by: str | None = ""
    work: Work | None = None
    facts: Mapping[str, str | int | float | None] = {}

    @classmethod
    def of_row(cls, row: Row) -> CaseResult:
        """The result in a row, which has other columns besides."""
        work = None if row["operation_kind"] is None else row
        facts = {name: row[name] for name in _FACTS if row[name] is not None}
        return msgspec.convert({**row, "work": work, "facts": facts}, cls)

    def after(self, earlier: CaseResult) -> CaseResult:
        """The result, with what is known from an earlier one of the case."""
        return structs.replace(self, work=self.work or earlier.work, facts={**earlier.facts, **self.facts})

    def columns(self) -> Row:
        """The result as columns of a row."""
        work = dict.fromkeys(Work.__struct_fields__) if self.work is None else structs.asdict(self.work)
        own = {"status": self.status, "reason": self.reason, "stopped_by": self.stopped_by}
        return own | dict.fromkeys(_FACTS) | {"kernels": "[]"} | dict(self.facts) | work


def fixed_columns(
    family: Family, device: Mapping[str, Any], seed: int, precision: float = Sampling.precision
) -> dict[str, Row]:
    """The columns of each variant's case that are known before measuring, by the variant's name.

    Args:
        family: the variants at one size and one point of their axes.
        device: the row of the device.
        seed: seed of the problem's data.
        precision: wanted half-width of the speed-ups' intervals.
    """
    info, device_class = family.pattern, str(device["device_class"])
    sizes_from = [f"{name}: {reason}" for name, reason in family.reasons.items()]
    if family.preset == "guide" and info.own_sizes:
        sizes_from.insert(0, f"{OWN_SIZES}: {info.own_sizes}")
    return {
        variant.name: {
            "case_id": family.case_id(variant.name, device_class),
            "family_id": family.family_id(device_class),
            "pattern": info.name,
            "chapter": info.chapter,
            "guide": info.guide,
            "catalogue": ",".join(info.catalogue),
            "variant": variant.name,
            "role": variant.role,
            "preset": family.preset,
            "parameters": points.to_json(family.parameters),
            "preset_parameters": points.to_json(family.preset_parameters),
            "parameters_from": "; ".join(sizes_from) or None,
            "environment": json.dumps({**info.environment, **variant.environment}, sort_keys=True),
            "host": device.get("host"),
            "device": device["device"],
            "device_class": device_class,
            "metric": info.metric,
            "claims": to_json(mark_not_asked(family.claims(variant, device_class), device)),
            "against": variant.against or None,
            "same_within": same_within(precision),
            "seed": seed,
            "source": portable_source(info.source),
            "source_sha256": info.source_sha256 or None,
            "stand_in": info.stand_in or None,
        }
        for variant in info.variants
    }
