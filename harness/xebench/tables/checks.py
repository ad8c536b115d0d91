"""Samples that count: the last check that covers a sample passed.

A worker checks every variant again at the end of a pass. What was sampled in one that was cut off, by a signal, a
crash, a spent budget or a full disk, may be of a program that had begun to compute something else. So the table
`checks` is only ever added to, after the samples that a row speaks for: a row that is missing costs samples, and never
lets a wrong one count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from xebench.vocabulary import CheckResult, State


class CheckRow(NamedTuple):
    """A row of the table `checks`; the columns are explained where they are declared, in `xebench.tables.columns`."""

    case_id: str
    first_sample: int
    end_sample: int
    result: CheckResult


def superseding(case_ids: Iterable[str], end_sample: int) -> list[CheckRow]:
    """Rows that make all earlier samples of these cases invalid, as the cases are measured again."""
    return [CheckRow(case_id, 0, end_sample, CheckResult.SUPERSEDED) for case_id in case_ids]


def with_checked(samples: pd.DataFrame, checks: pd.DataFrame) -> pd.DataFrame:
    """The measured table `samples` with its derived column ``checked``.

    Rows of compilation and traced executions need no check; those of an earlier session's code are superseded like
    samples.
    """
    numbers = samples["sample_id"].to_numpy("int64")
    of_case = samples.groupby("case_id").indices
    last = np.full(len(samples), "", dtype=object)
    for check in checks.itertuples(index=False):
        own = of_case.get(check.case_id, np.empty(0, dtype="int64"))
        last[own[(numbers[own] >= check.first_sample) & (numbers[own] < check.end_sample)]] = check.result
    compiled = samples["state"].isin((State.COMPILE, State.TRACED)).to_numpy(bool)
    checked = (last == CheckResult.PASSED) | (compiled & (last != CheckResult.SUPERSEDED))
    return samples.assign(checked=pd.array(checked, dtype="boolean"))
