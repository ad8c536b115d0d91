"""The roofs that a run measures, over those of `xebench roofline`: ``python -m tools.roofs_of_runs --rounds 3``.

Each round makes both, with an empty cache folder, so that neither has the other's. The ratios of the best of all rounds
go to ``results/studies/roofline/runs.md``: what others do to the machine lowers a roof, and never raises one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import pandas as pd

from xebench import load_run
from xebench.system import runtime
from xebench.tables.device_facts import Roof

ALLOWED = 0.02
PAGE = Path(__file__).parents[1] / "results" / "studies" / "roofline" / "runs.md"
#: The shortest run that measures the roofs as all runs do.
RUN = ("run", "stream_kernels", "--budget", "0.1", "--instances", "1", "--passes", "1", "--preset", "default")
ROOFS = """
import json, sys
from xebench.measuring.roofline.measure import roofs
print(json.dumps(roofs(sys.argv[1])))
"""


def measured(folder: str, device: str) -> tuple[dict[str, float], dict[str, float]]:
    """The roofs by `xebench roofline`, and those of a run, which comes first and so finds none that is kept."""
    environment = dict(os.environ, XDG_CACHE_HOME=folder)
    command = [sys.executable, "-m", "xebench", *RUN, "--device", device, "--output", f"{folder}/run"]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    row = load_run(f"{folder}/run").devices.iloc[0]

    done = subprocess.run(
        [sys.executable, "-c", ROOFS, device], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    whole = json.loads(done.stdout)
    return (
        {roof.column: float(value) for roof in Roof if (value := whole.get(roof.column))},
        {roof.column: float(row[roof.column]) for roof in Roof if pd.notna(row[roof.column])},
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    device = runtime.select_device(options.device).device
    best: list[dict[str, float]] = [{}, {}]
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            for side, found in zip(best, measured(folder, device.device), strict=True):
                side.update({roof: max(value, side.get(roof, 0.0)) for roof, value in found.items()})
    whole, run = best
    lines = [
        "# Roofs of a run beside those of `xebench roofline`\n",
        f"{device.name} ({device.device}, driver {device.driver_version}), {date.today()}, the best of "
        f"{options.rounds} rounds; load {os.getloadavg()[2]:.1f}. Made by `python -m tools.roofs_of_runs`.\n",
        "| roof | of a run | of `xebench roofline` | ratio | within 2 % |",
        "|---|--:|--:|--:|---|",
    ]
    for roof in sorted(whole.keys() & run.keys()):
        ratio = run[roof] / whole[roof]
        within = "yes" if abs(ratio - 1) <= ALLOWED else "no"
        lines.append(f"| `{roof}` | {run[roof]:.4g} | {whole[roof]:.4g} | {ratio:.3f} | {within} |")
    PAGE.write_text("\n".join(lines) + "\n")
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
