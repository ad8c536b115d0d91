"""The rows of a family's cases before anything is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from harness.analysis.verdict import same_within
from harness.patterns.plan import Family
from harness.patterns.registry import portable_source
from harness.sampling.limits import Sampling
from harness.vocabulary import Status

#: The one status that is not final: the case is still to be measured.
NOT_MEASURED: Final = Status.INTERRUPTED

ENDED_BEFORE: Final = "the run ended before this case did"


def case_rows(
    family: Family,
    device: Mapping[str, Any],
    seed: int,
    reason: str = ENDED_BEFORE,
    precision: float = Sampling.precision,
) -> dict[str, dict[str, Any]]:
    """A row of the table ``cases`` for every variant, by its name, for the case that nothing more becomes of it.

    Args:
        family: the variants at one size and one point of their axes.
        device: the row of the device.
        seed: of the problem's data.
        reason: why there is no result.
        precision: wanted half-width of the speed-ups' intervals.
    """
    info, device_class = family.pattern, str(device["device_class"])
    return {
        variant.name: {
            "case_id": family.case_id(variant.name, device_class),
            "pattern": info.name,
            "family": info.family,
            "guide": info.guide,
            "catalogue": ",".join(info.catalogue),
            "variant": variant.name,
            "role": variant.role,
            "preset": family.preset,
            "axes": family.axes_json(),
            "device": device["device"],
            "device_class": device_class,
            "metric": info.metric,
            "claim": variant.claim.get(device_class),
            "status": NOT_MEASURED,
            "reason": reason,
            "stopped_by": "",
            "same_within": same_within(precision),
            "seed": seed,
            "bytes_moved": None,
            "operations": None,
            "operation_kind": None,
            "slm_bytes": None,
            "kernels": "[]",
            "source": portable_source(info.source),
        }
        for variant in info.variants
    }
