"""A made-up run of a pattern that is swept, with everything that a page can draw."""

from __future__ import annotations

import json
from pathlib import Path

from synthetic import Synthetic, noisy

from xebench.patterns.registry import BENCHMARKS, discover
from xebench.results import Run


def swept(name: str = "sweep", source: str = "", sha256: str | None = None) -> Run:
    """A pattern at three strides, with bytes and a roof."""
    made = Synthetic(bandwidth_roof_gbps=500.0, fp32_roof_gflops=1e4)
    for number, stride in enumerate((1, 4, 16)):
        for variant, role, time_ns in (("plain", "naive", 1e5 * (1 + number)), ("padded", "optimized", 1e5)):
            point = json.dumps({"n": 8, "stride": stride})
            work = {"bytes_moved": 1_000_000, "operations": 2_000_000, "operation_kind": "fp32"}
            program = {"source": source, "source_sha256": sha256}
            case = made.case(variant, role, pattern=name, parameters=point, **work, **program)
            times = noisy(time_ns, blocks=700, seed=number)
            made.times(case, times, instances=[block // 100 for block in range(700)])
            made.sample(case, state="traced", device_ns=time_ns, host_ns=time_ns)
            made.event((0, int(time_ns)))
    return made.run()


def todays(name: str) -> Run:
    """The same, as if one of the project's patterns as it is today had been measured."""
    info = next(each for each in discover() if each.name == name)
    source = Path(info.source).relative_to(BENCHMARKS.parent).as_posix()
    return swept(name, f"{source}:12", info.source_sha256)
