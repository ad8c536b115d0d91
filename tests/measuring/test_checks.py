"""What the checks of a call find, by columns of the table `cases`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xebench.measuring import checks
from xebench.measuring.array_check import ArrayCheck
from xebench.measuring.checks import CheckedCall, find_all
from xebench.measuring.place import Checked, Started
from xebench.results.columns import FACTS
from xebench.session.recorder import MeasuredSample

RESULTS = {"y": np.ones(4, np.float32)}

NOT_PREPARED = {"preparation_ns": 0, "scratch_bytes": 0}


def started(prepared_kernels: int = 0) -> Started:
    return Started(1, (), (), None, RESULTS, prepared_kernels=prepared_kernels)


def test_every_check_has_a_column() -> None:
    files = Path(checks.__file__).parent.glob("[!_]*.py")
    assert {file.stem for file in files} <= {column.name for column in FACTS}


def test_a_finding_is_of_all_calls_so_far() -> None:
    facts: dict[str, Any] = {}
    find_all(facts, CheckedCall(started(2)))
    assert facts == {"error_ulp": None, "tolerance_used": None, "prepared_kernels": 2} | NOT_PREPARED
    again = Checked(MeasuredSample(1, 0, [[]]), RESULTS)
    for used, largest in ((0.5, 0.5), (0.25, 0.5), (0.75, 0.75)):
        find_all(facts, CheckedCall(again, compared=[ArrayCheck(None, used)]))
        assert facts["tolerance_used"] == pytest.approx(largest)
    assert facts["prepared_kernels"] == 2, "only a first call prepares"


def test_a_wrong_result_uses_no_tolerance() -> None:
    facts: dict[str, Any] = {}
    find_all(facts, CheckedCall(started(), compared=[ArrayCheck("y: 1 of 4 elements differs", 7.0)]))
    assert facts["tolerance_used"] is None
