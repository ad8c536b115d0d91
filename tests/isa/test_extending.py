"""A word of a claim, added to a copy of the project as docs/extending.md shows it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from temporary_copy import ROOT, copy_with, environment

USED = """
import sys
from xebench import Claim, load_run
from xebench.isa.columns import ISA
from xebench.report.claim_text import said
from xebench.vocabulary import CodeClaim

claim = Claim("barriers", against="two_barriers")
assert claim.fault() is None and claim.of_code
assert set(CodeClaim.BARRIERS.columns) <= {column.name for column in ISA}
print(said(claim), len(load_run(sys.argv[1]).pairs) > 0)
"""


def test_a_word_of_a_claim_is_one_row_and_old_runs_stay_readable(tmp_path: Path) -> None:
    copy = copy_with(tmp_path / "copy", "A word of a claim")
    run = ROOT / "results" / "cpu-epyc-2-cores"
    done = subprocess.run(
        [sys.executable, "-c", USED, str(run)], env=environment(copy), capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("fewer barriers than two_barriers True\n", "")
