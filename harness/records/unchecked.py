"""Samples after which their variants were not checked again: the manifest names them, and they do not count.

A pass ends with a check of every variant's results. What was sampled in one that was cut off, by a signal, a crash, a
spent budget or a full disk, may be of a program that had begun to compute something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import pandas as pd

from harness.analysis import timestamps
from harness.errors import RunFolderError
from harness.vocabulary import Flag, State

#: The manifest's key.
KEY: Final = "unchecked"


@dataclass(frozen=True)
class Stretch:
    """Samples of some cases that follow one another.

    Attributes:
        case_ids: whose.
        first: number of the first of them.
        end: number after the last; None while a worker takes them.
    """

    case_ids: tuple[str, ...]
    first: int
    end: int | None = None


def to_manifest(stretches: Iterable[Stretch]) -> dict[str, Any]:
    """The manifest's entry."""
    return {KEY: [asdict(stretch) for stretch in stretches]}


def of_manifest(manifest: Mapping[str, Any]) -> list[Stretch]:
    """What a manifest names.

    Raises:
        RunFolderError: its entry has another form.
    """
    try:
        return [
            Stretch(tuple(one["case_ids"]), int(one["first"]), None if one["end"] is None else int(one["end"]))
            for one in manifest.get(KEY, ())
        ]
    except (TypeError, ValueError, KeyError):
        raise RunFolderError(f"the manifest's {KEY!r} is damaged: restore it from a copy of the run") from None


def superseded(samples: pd.DataFrame, stretches: Iterable[Stretch]) -> pd.DataFrame:
    """The table `samples`, in which those of ``stretches`` are invalid; rows of compilation need no check."""
    within = pd.Series(False, index=samples.index)
    for stretch in stretches:
        numbers = samples["sample"] >= stretch.first
        if stretch.end is not None:
            numbers &= samples["sample"] < stretch.end
        within |= numbers & samples["case_id"].isin(stretch.case_ids)
    within &= samples["state"] != State.COMPILE
    marked = samples.loc[within, "flags"].map(lambda flags: timestamps.with_flags(flags, Flag.SUPERSEDED))
    return samples.assign(valid=samples["valid"] & ~within, flags=samples["flags"].mask(within, marked))
