"""The roofs that a run measures, over those of `xebench roofline`: ``python -m tools.roofs_of_runs --rounds 6``.

A machine that others share changes its bandwidth by a half within minutes. So both measure each probe one right after
the other, the one that comes first in turns, and the page ``results/studies/roofline/runs.md`` has the median of the
rounds' ratios.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from datetime import date
from pathlib import Path
from statistics import median

from xebench.measuring.roofline.bench import Bench, group_class, measure_groups
from xebench.measuring.roofline.catalogue import WORKING_SETS, grouped, level_name
from xebench.measuring.roofline.measure import known_caches, roof_columns
from xebench.measuring.roofline.search import FULL, RUN
from xebench.measuring.session.session import Session
from xebench.system import runtime
from xebench.tables.device_facts import Roof

ALLOWED = 0.02
PAGE = Path(__file__).parents[1] / "results" / "studies" / "roofline" / "runs.md"
EFFORTS = (RUN, FULL)
#: The probes of all roofs, and the working sets that no cache holds.
PROBES = [*dict.fromkeys(probe for roof in Roof for probe in roof.probes), *map(level_name, WORKING_SETS[-2:])]


def measured(device: runtime.DeviceInfo, *, run_first: bool) -> list[dict[str, float | None]]:
    """The roofs by the effort of a run, and by that of `xebench roofline`; each has memory of its own."""
    values: list[dict[str, float | None]] = [{} for _ in EFFORTS]
    for group, members in grouped(PROBES).items():
        groups = [group_class(group)(Bench(Session.on(device.device), effort)) for effort in EFFORTS]
        for probe in members:
            for side in (0, 1) if run_first else (1, 0):
                (result,) = measure_groups({group: groups[side]}.__getitem__, [probe])
                values[side][probe] = result.value
    caches = known_caches(device.device_class, device.global_cache_bytes)
    return [roof_columns(of_side, caches) for of_side in values]


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    device = runtime.select_device(options.device).device
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number in range(options.rounds):
        run, whole = measured(device, run_first=number % 2 == 0)
        for roof in run:
            if (of_run := run[roof]) and (of_whole := whole[roof]):
                pairs[roof].append((of_run, of_whole))
    lines = [
        "# Roofs of a run beside those of `xebench roofline`\n",
        f"{device.name} ({device.device}, driver {device.driver_version}), {date.today()}, {options.rounds} rounds; "
        f"load {os.getloadavg()[2]:.1f}. Made by `python -m tools.roofs_of_runs`. Both sides measure each probe one "
        "right after the other; values are medians, and the ratio is the median of the rounds' ratios.\n",
        "| roof | of a run | of `xebench roofline` | ratio | lowest to highest | within 2 % |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for roof, of_rounds in sorted(pairs.items()):
        ratios = [run / whole for run, whole in of_rounds]
        run, whole = (median(side) for side in zip(*of_rounds, strict=True))
        ratio, within = median(ratios), "yes" if abs(median(ratios) - 1) <= ALLOWED else "no"
        span = f"{min(ratios):.3f} to {max(ratios):.3f}"
        lines.append(f"| `{roof}` | {run:.4g} | {whole:.4g} | {ratio:.3f} | {span} | {within} |")
    PAGE.write_text("\n".join(lines) + "\n")
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
