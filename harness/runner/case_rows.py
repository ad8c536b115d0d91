"""The rows of the table `cases`: what is fixed before a case is measured, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from harness.analysis.verdict import same_within
from harness.patterns.plan import Family
from harness.patterns.registry import portable_source
from harness.sampling.limits import Sampling
from harness.vocabulary import Status

#: The one status that is not final: the case is still to be measured.
NOT_MEASURED: Final = Status.INTERRUPTED

ENDED_BEFORE: Final = "the run ended before this case did"

Row = dict[str, Any]

#: What a column of whole numbers holds.
_Amount = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class CaseResult(msgspec.Struct, frozen=True):
    """What became of a case: columns that a worker tells, of the same names. By default nothing more becomes of it."""

    status: str = NOT_MEASURED
    reason: str | None = ENDED_BEFORE
    stopped_by: str | None = ""
    bytes_moved: _Amount | None = None
    operations: _Amount | None = None
    operation_kind: str | None = None
    slm_bytes: _Amount | None = None
    kernels: str | None = "[]"

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> CaseResult:
        """The result in a row or in a worker's message, which have other things besides.

        What a pattern states of its problem goes through here: where that cannot be kept, the case is an error.
        """
        try:
            return msgspec.convert(dict(content), cls, strict=False)  # a float that is a whole number is one
        except msgspec.ValidationError as error:
            return cls(Status.ERROR, f"what the problem states cannot be kept: {error}")

    def columns(self) -> Row:
        """The result as columns of a row."""
        return msgspec.structs.asdict(self)


def fixed_columns(
    family: Family, device: Mapping[str, Any], seed: int, precision: float = Sampling.precision
) -> dict[str, Row]:
    """The columns of each variant's case that are known before it is measured, by the variant's name.

    Args:
        family: the variants at one size and one point of their axes.
        device: the row of the device.
        seed: of the problem's data.
        precision: wanted half-width of the speed-ups' intervals.
    """
    info, device_class = family.pattern, str(device["device_class"])
    return {
        variant.name: {
            "case_id": family.case_id(variant.name, device_class),
            "pattern": info.name,
            "chapter": info.chapter,
            "guide": info.guide,
            "catalogue": ",".join(info.catalogue),
            "variant": variant.name,
            "role": variant.role,
            "preset": family.preset,
            "axes": family.axes_json(),
            "sizes": family.sizes_json(),
            "overrides": family.overrides_json(),
            "device": device["device"],
            "device_class": device_class,
            "metric": info.metric,
            "claim": variant.claim.get(device_class),
            "same_within": same_within(precision),
            "seed": seed,
            "source": portable_source(info.source),
        }
        for variant in info.variants
    }
