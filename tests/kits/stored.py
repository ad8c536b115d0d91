"""The runs of results/, which a checkout has and an sdist has not: what needs them is skipped there, and says so."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

HERE: Final = (Path(__file__).parents[2] / "results/cpu-epyc-2-cores/events.parquet").is_file()
WHY: Final = "needs the runs of results/, which an sdist has not: take a checkout"

needed: Final = pytest.mark.skipif(not HERE, reason=WHY)
