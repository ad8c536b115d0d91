"""What a run measured of why advice hurts: whom it is for, how the launches differ, how near the roof it comes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

from xebench.report import units
from xebench.report.answer_words import classes, is_foreign, too_short
from xebench.report.result_rows import number

#: How the twin of a variant in OpenCL C is named: its name, and this (docs/adding-a-pattern.md).
_IN_OPENCL: Final = "_in_opencl"

#: A twin in OpenCL C whose speed-up over a kernel in Python is below this has the same cause.
_AS_SLOW: Final = 1.1


def causes(pairs: Sequence[Mapping[Any, Any]], pair: Mapping[Any, Any], kernels: Mapping[str, Any]) -> str:
    """What is measured of why a variant is slower than its baseline, in a few words each; "" if that is nothing.

    Args:
        pairs: of the run, among which are those of twins in OpenCL C.
        pair: of the variant.
        kernels: of each case, by its id: the column of the table `cases`.
    """
    facts = [f"claimed for {classes(pair['claimed_for'])}"] if is_foreign(pair) else []
    facts += _differences(*(kernels.get(pair[side]) for side in ("baseline_case_id", "case_id")))
    if reached := number(pair["roof_fraction"]):
        facts.append(f"{units.percent(reached)} of the roof {pair['nearest_roof']}")
    facts += filter(None, [too_short(pair), _of_twin(pairs, pair)])
    return "; ".join(facts)


def _of_twin(pairs: Sequence[Mapping[Any, Any]], pair: Mapping[Any, Any]) -> str:
    """How the same kernel in OpenCL C does."""
    twin = (pair["family_id"], pair["state"], pair["variant"], pair["variant"] + _IN_OPENCL)
    for other in pairs:
        if (other["family_id"], other["state"], other["baseline"], other["variant"]) == twin:
            faster = number(other["speedup"])
            if faster:
                return "as slow in OpenCL C" if faster < _AS_SLOW else f"{units.ratio(faster)} in OpenCL C"
    return ""


def _differences(baseline: Any, variant: Any) -> list[str]:
    """In what the launches of two programs differ: ``SLM 2K instead of 0``."""
    before, after = (_launches(json.loads(each) if isinstance(each, str) else []) for each in (baseline, variant))
    differing = [name for name in after if name in before and before[name] != after[name]]
    return [f"{name} {after[name]} instead of {before[name]}" for name in differing]


def _launches(kernels: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The shape of a program: how many kernels, and of the one with most work-items its launch."""
    sized = [kernel for kernel in kernels if kernel.get("global_size")]
    if not sized:
        return {}
    largest = max(sized, key=lambda kernel: prod(kernel["global_size"]))
    shape = {
        "kernels": len(kernels),
        "work-items": prod(largest["global_size"]),
        "work-group": prod(largest["local_size"]) if largest.get("local_size") else None,
        "SLM": units.binary_size(largest.get("local_bytes", 0)),
        "sub-group": largest.get("max_sub_group_size"),
    }
    return {name: value for name, value in shape.items() if value is not None}
