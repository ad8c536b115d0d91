"""Build and submit every kernel of pattern files on the first GPU: ``python build_patterns.py FILE...``; prints JSON.

Run as a child process by the tests of Intel's driver without hardware, where nothing is computed: each variant is
prepared and run once at preset smoke, and nothing is measured or compared.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from harness import runtime

runtime.load()

import numpy as np  # noqa: E402

from harness.errors import XebenchError  # noqa: E402
from harness.patterns.declaration import describe  # noqa: E402
from harness.patterns.pattern_file import load_file  # noqa: E402
from harness.patterns.plan import build_plan  # noqa: E402
from harness.runner.worker.bound_problem import Binding  # noqa: E402
from harness.runner.worker.variant_run import accepted  # noqa: E402
from harness.session.device_memory import DeviceMemory  # noqa: E402
from harness.session.session import Session  # noqa: E402


def attempt(session: Session, pattern: Any, variant: Any, binding: Binding, axes: dict[str, Any]) -> str:
    """What becomes of a variant: ``submitted N`` (kernels), or the error."""
    reason = runtime.missing(DEVICE, (*pattern.requires, *variant.requires))
    if reason:
        return f"skipped: {reason}"
    session.begin()
    try:
        prepared = variant.function(session, binding.bound, **accepted(variant.function, axes))
        if callable(prepared):
            prepared()
        session.wait()
    except XebenchError as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"unexpected {type(error).__name__}: {error}"
    return f"submitted {len(session.take_kernels())}"


def build_file(path: str) -> dict[str, str]:
    """The outcome of each variant of a file, by ``pattern/variant``."""
    outcomes = {}
    for pattern in load_file(Path(path)):
        session = Session.on(DEVICE.device)
        family = build_plan([describe(pattern)], "smoke")[0].on(DEVICE.device_class, DEVICE.sub_group_sizes)
        axes = dict(family.axes)
        numbers = {**family.sizes, **axes}
        if runtime.missing(DEVICE, pattern.requires):
            continue  # its arrays may be of what the device lacks
        assert pattern.make_problem is not None
        problem = pattern.make_problem(np.random.default_rng(1), **accepted(pattern.make_problem, numbers))
        binding = Binding(problem, numbers, DeviceMemory(session.queue))
        for variant in pattern.variants.values():
            outcomes[f"{pattern.name}/{variant.name}"] = attempt(session, pattern, variant, binding, axes)
    return outcomes


DEVICE = runtime.select_device("auto").device
RESULT: dict[str, Any] = {"device": DEVICE.to_row(), "outcomes": {}}
for file in sys.argv[1:]:
    RESULT["outcomes"].update(build_file(file))
print(json.dumps(RESULT))
sys.stdout.flush()
