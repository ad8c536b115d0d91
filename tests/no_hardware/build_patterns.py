"""Build and submit the kernels of pattern files on the first GPU; a child process of `pretended_gpus.try_patterns`.

Nothing is computed there: each variant is prepared and run once at preset smoke, and nothing is measured or compared.
The task comes as JSON on standard input; a line of JSON leaves for each step.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xebench.system import runtime

runtime.load()

import numpy as np  # noqa: E402

from xebench.dpex import direct_calls  # noqa: E402
from xebench.errors import XebenchError  # noqa: E402
from xebench.measuring.bound_problem import Binding  # noqa: E402
from xebench.measuring.place import accepted_parameters, start  # noqa: E402
from xebench.patterns.declaration import describe  # noqa: E402
from xebench.patterns.pattern_file import load_file  # noqa: E402
from xebench.patterns.plan import build_plan  # noqa: E402
from xebench.session.device_memory import DeviceMemory  # noqa: E402
from xebench.session.session import Session  # noqa: E402

#: A variant that takes longer hangs: its process ends.
HANG_S = 120


def say(**what: Any) -> None:
    print("\n" + json.dumps(what), flush=True)  # a library may have left a line open


def attempt(session: Session, pattern: Any, variant: Any, binding: Binding, numbers: Mapping[str, Any]) -> str:
    """What becomes of a variant: ``submitted N`` (kernels, 0 where libraries and copies are all), or the error."""
    reason = runtime.missing(DEVICE, (*pattern.requires, *variant.requires))
    if reason:
        return f"skipped: {reason}"
    session.begin()
    try:
        sample = start(variant.function, session, binding.bound, numbers)
        session.wait()
        del sample  # not before: a library may be at work on arrays that it alone keeps
    except XebenchError as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"unexpected {type(error).__name__}: {error}"
    devices = session.take_devices()
    return f"submitted {len(session.take_kernels())}" + (f" on {devices}" if devices else "")


def try_pattern(pattern: Any) -> None:
    """Say the outcome of each of its variants that belongs into this process, and what others need."""
    needs = {each.name: {**pattern.environment, **each.environment} for each in pattern.variants.values()}
    say(environments=sorted({json.dumps(each, sort_keys=True) for each in needs.values()}))
    chosen = [each for each in pattern.variants.values() if needs[each.name] == ENVIRONMENT]
    names = {each.name: f"{pattern.name}/{each.name}" for each in chosen}
    if set(names.values()) <= DONE or runtime.missing(DEVICE, pattern.requires):
        return  # its arrays may be of what the device lacks
    session = Session.on(DEVICE.device)
    family = build_plan([describe(pattern)], "smoke")[0].on(DEVICE.device_class, DEVICE.sub_group_sizes)
    numbers = dict(family.parameters)
    problem = pattern.make_problem(np.random.default_rng(1), **accepted_parameters(pattern.make_problem, numbers))
    binding = Binding(problem, numbers, DeviceMemory(session.queue))
    for variant in chosen:
        if names[variant.name] not in DONE:
            say(at=names[variant.name])
            signal.alarm(HANG_S)
            say(outcome={names[variant.name]: attempt(session, pattern, variant, binding, numbers)})
            signal.alarm(0)
    session.release()


TASK = json.loads(sys.stdin.read())
ENVIRONMENT, DONE = TASK["environment"], set(TASK["done"])
DEVICE = runtime.select_device("auto").device
if DEVICE.device_class != "gpu":
    sys.exit("no GPU")
direct_calls.install()
say(device=DEVICE.to_row())
for file in TASK["files"]:
    for found in load_file(Path(file)):
        try_pattern(found)
