"""Make the two runs of the present schema version that `fixtures` keeps: ``python tests/results/make_fixtures.py``.

One is complete. The other was killed in the first of two passes, resumed, and killed again in the second: it has
samples that were measured again, samples that no check followed, and a journal instead of tables. What names folders of
this machine is shortened to its last part, and the tables are compressed once more.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from xebench.records.points import rows
from xebench.results import journal
from xebench.results.schema import MEASURED, SCHEMA_VERSION

FIXTURES = Path(__file__).parent / "fixtures"

#: A pattern that waits in the middle of its samples, in the pass that the environment names.
GATED = """
import os
import time
from pathlib import Path

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from xebench import Pattern, Problem, output

sizes = {"n": 1 << 14}
pattern = Pattern("gated", guide="none", lesson="Stops.", presets={"smoke": sizes, "default": sizes})
passes = calls = 0

@pattern.problem
def problem(rng, n):
    global passes, calls
    passes, calls = passes + 1, 0
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))

pattern.reference(lambda p: {"y": p.x + p.x})

@dpex.kernel(error_model="numpy")
def double(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i] + x[i]

@pattern.naive
def launch(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)

@pattern.optimized
def launch_and_wait(session, p):
    def sample():
        global calls
        calls += 1
        while passes == int(os.environ["GATED_PASS"]) and calls > 14:
            time.sleep(0.02)
        launch(session, p)

    return sample
"""


def main() -> None:
    """Make both."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "own"
        own.mkdir()
        (own / "gated.py").write_text(GATED)
        complete, killed = (FIXTURES / f"schema-{SCHEMA_VERSION}{ending}" for ending in ("", "-killed"))
        for old in (complete, killed):
            shutil.rmtree(old, ignore_errors=True)
        smoke = ("--preset", "smoke", "--device", "cpu", "--overwrite")
        sweep = ("--set", "odd_size=7,31", "--set", "rounds=1,2", "--budget", "0.1", "--max-samples", "30")
        subprocess.run([*_run("partial_subgroups", *smoke, *sweep), "--output", complete], check=True)
        limits = ("--instances", "2", "--max-samples", "24", "--budget", "60", "--precision", "1e-9")
        asked = ("gated", "--path", str(own / "gated.py"), *smoke, *limits, "--output", str(killed))
        _kill_at_gate(killed, asked, gated_pass=1, instance=0)
        _kill_at_gate(killed, ("--resume", str(killed)), gated_pass=2, instance=1)
    for made in (complete, killed):
        _shorten(made)


def _run(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "xebench", "run", *arguments]


def _kill_at_gate(folder: Path, arguments: tuple[str, ...], *, gated_pass: int, instance: int) -> None:
    """Kill a run when hot samples of an instance are on disk and no more come."""
    process = subprocess.Popen(_run(*arguments), env={**os.environ, "GATED_PASS": str(gated_pass)})
    before, samples = -1, journal.read(folder / journal.FOLDER, "samples")
    while before != len(samples) or not ((samples["state"] == "hot") & (samples["instance"] == instance)).any():
        time.sleep(0.7)
        before, samples = len(samples), journal.read(folder / journal.FOLDER, "samples")
    process.kill()
    process.wait()


def _shorten(folder: Path) -> None:
    (folder / ".lock").unlink()
    for path in folder.glob("*.parquet"):
        table = pq.read_table(path)
        if "source" in table.column_names:
            place = table.column_names.index("source")
            sources = pa.array([_short(text) for text in table["source"].to_pylist()], table.schema.field(place).type)
            table = table.set_column(place, table.schema.field(place), sources)
        pq.write_table(table, path, compression="zstd", write_statistics=False, use_dictionary=False)
    if (old := folder / journal.FOLDER).exists():
        tables = {table: journal.read(old, table) for table in MEASURED}
        shutil.rmtree(old)
        with journal.Journal(old) as written:
            for table, data in tables.items():
                written.append(table, map(_short, rows(data)))
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(_short(json.loads(manifest.read_text())), indent=2) + "\n")


def _short(value: Any) -> Any:
    """A value in which no text is the path of a file on this machine."""
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_short(inner) for inner in value]
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


if __name__ == "__main__":
    main()
