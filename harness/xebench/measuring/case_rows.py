"""Rows of the table `cases`: the columns that are known before a case is measured, and its result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
import numpy as np
from msgspec.structs import asdict

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
from xebench.vocabulary import OWN_SIZES, Status

#: The one status that is not final: the case is still to be measured.
NOT_MEASURED: Final = Status.INTERRUPTED

ENDED_BEFORE: Final = "the run ended before this case did"


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
    """The result of a case, by columns of the table `cases`; the defaults are of an undisturbed case.

    ``work`` is None when its problem was not made.
    """

    status: Status = NOT_MEASURED
    reason: str | None = ENDED_BEFORE
    stopped_by: str | None = ""
    kernels: str | None = "[]"
    error_ulp: float | None = None
    tolerance_used: float | None = None
    rtol: float | None = None
    atol: float | None = None
    first_commands: int | None = None
    sampled_commands: int | None = None
    prepared_kernels: int | None = None
    work: Work | None = None
    devices: str | None = None
    data_sets: int | None = None
    program: str | None = None
    switches_found: str | None = None
    doubt: str | None = None
    error_text: str | None = None
    odd_size: str | None = None
    results_note: str | None = None
    traced: str | None = None

    @classmethod
    def of_row(cls, row: Row) -> CaseResult:
        """The result in a row, which has other columns besides."""
        work = None if row["operation_kind"] is None else row
        return msgspec.convert({**row, "work": work}, cls)

    def columns(self) -> Row:
        """The result as columns of a row."""
        columns = {name: value for name, value in asdict(self).items() if name != "work"}
        return columns | (dict.fromkeys(Work.__struct_fields__) if self.work is None else asdict(self.work))


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
        }
        for variant in info.variants
    }
