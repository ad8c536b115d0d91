"""Runs of earlier schema versions, read as if today's xebench had written them.

Columns that came later are null in earlier runs and need no entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import pandas as pd

from xebench.analysis.claim import Claim, to_json
from xebench.errors import RunFolderError
from xebench.tables import schema
from xebench.vocabulary import NEVER_RUN, Answer, Outcome, State

#: The version that brought a table; the others were there from the first on.
_TABLE_SINCE: Final = {"machine": 2, "checks": 3}

#: Columns that a version renamed: the version, the table, what they were called before and what since.
_RENAMED: Final = ((3, "cases", "family", "chapter"), (3, "pairs", "family", "chapter"))

#: The first version in which the table `checks` says what counts.
CHECKS_SINCE: Final = _TABLE_SINCE["checks"]

#: The first version with claims as `xebench.Claim` has them, and with answers to them.
CLAIMS_SINCE: Final = 4

#: What earlier ones called an answer; "refuted" depends on the outcome.
_ANSWERS: Final = {"confirmed": Answer.HOLDS, "inconclusive": Answer.UNDECIDED, "not applicable": Answer.NO_CLAIM}

#: What earlier ones put among the flags of a sample that does not count.
_SUPERSEDED: Final = "superseded"


class _Unchecked(msgspec.Struct):
    """Samples that no check followed, in a manifest of version 2; ``end`` is None while a worker took them."""

    case_ids: list[str]
    first: int
    end: int | None = None


def lacks(version: int, table: str) -> bool:
    """Whether runs of a version do not have a table."""
    return version < _TABLE_SINCE.get(table, 1)


def row(table: str, old: Mapping[str, Any], version: int) -> dict[str, Any]:
    """A measured row of an earlier version with the columns of today."""
    if table == "cases" and version < CLAIMS_SINCE:
        old = {
            **{name: value for name, value in old.items() if name != "claim"},
            "claims": _claims(old["claim"], old["device_class"]),
        }
    names = _new_names(table, version)
    return {
        **dict.fromkeys(_later_columns(table, old, names, measured=True)),
        **{names.get(name, name): value for name, value in old.items()},
    }


def frame(table: str, data: pd.DataFrame, version: int) -> pd.DataFrame:
    """A table of an earlier version, as it is in its Parquet file, with the columns of today.

    Before `CHECKS_SINCE` no sample counts in it: `with_marks` says which do.
    """
    if version < CLAIMS_SINCE and table in ("cases", "pairs"):
        data = _with_claims(table, data)
    names = _new_names(table, version)
    later = _later_columns(table, data.columns, names)
    upgraded = data.rename(columns=names)
    upgraded = upgraded.reindex(columns=[*upgraded.columns, *later])
    return upgraded.assign(checked=False) if table == "samples" and version < CHECKS_SINCE else upgraded


def with_marks(samples: pd.DataFrame, manifest: Mapping[str, Any]) -> pd.DataFrame:
    """The table `samples` of an earlier version with the column ``checked``, by the marks of its time.

    Raises:
        RunFolderError: the manifest is damaged.
    """
    flags = samples["flags"].map(lambda text: text.split(","))
    marked = flags.map(lambda words: _SUPERSEDED in words).astype(bool)
    sampled = samples["state"] != State.COMPILE
    for unchecked in _unchecked(manifest):
        after = samples["sample"] >= unchecked.first
        before = True if unchecked.end is None else samples["sample"] < unchecked.end
        marked |= (sampled & samples["case_id"].isin(unchecked.case_ids) & after & before).astype(bool)
    others = flags.map(lambda words: ",".join(word for word in words if word != _SUPERSEDED))
    return samples.assign(checked=(~marked).astype("boolean"), flags=others.astype("string"))


def _unchecked(manifest: Mapping[str, Any]) -> Sequence[_Unchecked]:
    try:
        return msgspec.convert(manifest.get("unchecked", []), list[_Unchecked])
    except msgspec.ValidationError as error:
        raise RunFolderError(f"the manifest's 'unchecked' is damaged ({error}): restore it from a copy") from None


def _claims(word: Any, device_class: str) -> str:
    """What an earlier version claimed of a case: one word, of its class of devices, without a line of the guide."""
    return to_json([] if pd.isna(word) else [Claim(word, on=(device_class,))])


def _with_claims(table: str, data: pd.DataFrame) -> pd.DataFrame:
    if table == "cases":
        claims = [_claims(word, own) for word, own in zip(data["claim"], data["device_class"], strict=True)]
        return data.drop(columns="claim").assign(claims=pd.array(claims, dtype="string"))
    answers: pd.Series[Any] = data["verdict"].map(_ANSWERS)
    refuted = data["verdict"] == "refuted"
    answers = answers.mask(refuted, Answer.INVERTS).mask(refuted & (data["outcome"] == Outcome.SAME), Answer.NO_EFFECT)
    never_run = data["reason"].str.startswith(tuple(NEVER_RUN)) & (data["outcome"] == Outcome.NONE)
    answers = answers.mask(never_run.astype(bool), Answer.SKIPPED).astype("string")
    return data.drop(columns="verdict").assign(answer=answers)


def _new_names(table: str, version: int) -> dict[str, str]:
    return {old: new for since, changed, old, new in _RENAMED if version < since and changed == table}


def _later_columns(table: str, present: Any, names: Mapping[str, str], *, measured: bool = False) -> list[str]:
    """Columns that came later; one that is required was there from the beginning."""
    here = {names.get(name, name) for name in present}
    declared = schema.columns(table, measured=measured)
    return [name for name, column in declared.items() if name not in here and not column.required]
