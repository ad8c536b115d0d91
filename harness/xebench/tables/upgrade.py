"""Runs of the version before, 5, read as if today's xebench had written them.

Columns that came later are null in earlier runs and need no entry: `xebench.tables.schema` has that rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from xebench.tables import schema
from xebench.tables.analysis.points import measured_at, parse, rows, to_json
from xebench.vocabulary import REASON_CODES, Outcome, Reason, Status

#: What its sentences said of a claim before anything else.
_CLAIMED: Final = re.compile(r"claimed \w+(?: by at least (?P<least>\S+) times)?(?: with '.*?')?; ")

_WORDS: Final = {"wrong result": Status.WRONG, "failed": Status.ERROR, "it computes the right result here": "measured"}


def with_codes(pairs: pd.DataFrame) -> pd.DataFrame:
    """The table `pairs` with `reason_code` and `at_least`, and sentences as they are today."""
    told = [_read(*one) for one in zip(pairs["reason"], pairs["outcome"], pairs["baseline"], strict=True)]
    codes, least, reasons = zip(*told, strict=True) if told else ((), (), ())
    return pairs.assign(
        reason_code=pd.array(codes, dtype="string"),
        at_least=pd.array(least, dtype="Float64"),
        reason=pd.array(reasons, dtype="string"),
    )


def _read(sentence: str, outcome: str, baseline: str) -> tuple[str | None, float | None, str]:
    claimed = _CLAIMED.match(sentence)
    least = float(claimed["least"]) if claimed and claimed["least"] else None
    rest = sentence[claimed.end() :] if claimed else sentence
    if outcome not in (Outcome.NONE, Outcome.INCONCLUSIVE) or rest.startswith("errs by "):
        return Reason.MEASURED, least, rest
    if rest.startswith(f"baseline {baseline} "):
        return Reason.BASELINE, least, rest
    word: Any = rest.partition(":")[0]
    code = _WORDS.get(word, word)
    return code if code in REASON_CODES else None, least, rest.removeprefix(f"{Status.SKIPPED}: ")


#: The version that this module reads.
BEFORE: Final = 5

#: What its columns are called since.
_RENAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "cases": {"sizes_from": "parameters_from"},
    "samples": {"sample": "sample_id", "commands": "events", "flags": "sample_flags"},
    "events": {"sample": "sample_id", "rank": "mpi_rank"},
    "summaries": {"roof": "nearest_roof"},
}

#: Its columns that are others since.
_GONE: Final = ("axes", "sizes", "overrides")

#: Columns of today that are made of them.
_MADE: Final[Mapping[str, Sequence[str]]] = {
    "cases": ("parameters", "preset_parameters", "family_id"),
    "summaries": ("parameters", "family_id"),
    "pairs": ("parameters", "preset_parameters", "family_id", "case_id", "baseline_case_id"),
}


def row(table: str, old: Mapping[str, Any]) -> dict[str, Any]:
    """A measured row of version 5 with the names of today.

    Raises:
        SchemaError: it lacks a column of which those of today are made.
    """
    names = _RENAMED.get(table, {})
    renamed = {names.get(name, name): value for name, value in old.items() if name not in _GONE}
    return renamed | _made(table, old) if table in _MADE else renamed


def frame(table: str, data: pd.DataFrame) -> pd.DataFrame:
    """A table of version 5, as it is in its Parquet file, with the names of today; raises as `row`."""
    renamed = data.drop(columns=[name for name in _GONE if name in data]).rename(columns=_RENAMED.get(table, {}))
    if table not in _MADE:
        return renamed
    made = [_made(table, old) for old in rows(data)]
    renamed = renamed.assign(**{name: pd.array([row[name] for row in made], dtype="string") for name in _MADE[table]})
    told = table == "pairs" and {"reason", "outcome", "baseline"} <= {*renamed}  # else it is damaged
    return with_codes(renamed) if told else renamed


def _made(table: str, old: Mapping[str, Any]) -> dict[str, str]:
    try:
        return {name: text for name, text in _keys(table, old).items() if name in _MADE[table]}
    except KeyError as error:
        raise schema.SchemaError(f"a row of table {table} lacks the column {error.args[0]}") from None


def _keys(table: str, old: Mapping[str, Any]) -> dict[str, str]:
    """The columns that say of which family a row is, and at which parameters."""
    sizes, axes = parse(old["sizes"]), parse(old["axes"])
    set_apart = {} if table == "summaries" else parse(old["overrides"])
    preset = {name: None if name in set_apart else value for name, value in sizes.items()}
    # as version 5 made its keys; a pair had none
    point = ";".join(f"{name}={value}" for name, value in sorted({**axes, **set_apart}.items())) or "-"
    end = "/".join((old["preset"], point, old["device_class"]))
    place = measured_at("", (old["host"], old["device"])) if old.get("host") else ""
    case_id = old["case_id"] if table != "pairs" else f"{old['pattern']}/{old['variant']}/{end}{place}"
    return {
        "parameters": to_json({**sizes, **axes}),
        "preset_parameters": json.dumps(preset, sort_keys=True),
        "case_id": case_id,
        "baseline_case_id": f"{old['pattern']}/{old.get('baseline')}/{end}{place}",
        "family_id": case_id.replace(f"{old['pattern']}/{old['variant']}/", f"{old['pattern']}/", 1),
    }
