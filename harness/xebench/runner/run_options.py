"""Options of a session, and the defaults that go with a preset."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from xebench.errors import XebenchError
from xebench.measuring.roofline.results import Roofline
from xebench.measuring.sampling.limits import FEW_INSTANCES, MIN_BLOCKS, MIN_INSTANCES, Sampling
from xebench.runner.recipe import Recipe
from xebench.runner.resource_limits import DEFAULT_MEMORY, RunBudget
from xebench.runner.visits import Visits
from xebench.system.runtime import DeviceInfo
from xebench.tables.analysis.intervals import MIN_SAMPLES
from xebench.vocabulary import STATES_ASKED

#: Seconds of sampling per family, by preset: smoke proves that everything works, guide takes the time it needs.
BUDGETS_S = {"smoke": 0.4, "default": 6.0, "guide": 60.0}
TIMEOUTS_S = {"smoke": 60.0, "default": 120.0, "guide": 900.0}

#: Times that a run without a budget comes to each family, where it has as many instances.
PASSES = 3


@dataclass(frozen=True)
class Options:
    """The way in which one session measures a plan.

    Attributes:
        output: the run folder.
        recipe: what was asked for; its device, seed and limits of sampling are used, and it is kept in the manifest.
        overwrite: replace an earlier run in the same folder.
        resume: go on with the run in the folder.
        timeout_s: silence after which a worker counts as hung; None: by preset.
        memory_limit: what a worker may occupy, as `xebench.runner.resource_limits.parse_memory` takes it.
        run_budget_s: seconds for the whole run, planned by `xebench.runner.visits`; families that do not fit are not
            measured.
        begun_s: when the command began, by `time.monotonic`; None: when the run does.
        exclusive: refuse to run while another run uses the device.
        command_line: for the manifest.
        kept_roofs: looks up what `xebench roofline` measured of a device earlier.
    """

    output: Path
    recipe: Recipe
    overwrite: bool = False
    resume: bool = False
    timeout_s: float | None = None
    memory_limit: str = DEFAULT_MEMORY
    run_budget_s: float | None = None
    begun_s: float | None = None
    exclusive: bool = False
    command_line: tuple[str, ...] = ()
    kept_roofs: Callable[[DeviceInfo], Roofline | None] = lambda device: None

    def silence_s(self) -> float:
        """Seconds of silence after which a worker counts as hung."""
        return self.timeout_s or TIMEOUTS_S.get(self.recipe.preset, TIMEOUTS_S["default"])

    def budget(self) -> RunBudget:
        """The time that the run has."""
        return RunBudget(self.run_budget_s, begun_s=self.begun_s)

    def visits(self) -> Visits:
        """The plan of visits; with a budget for the run a first one is no longer than a pass would be."""
        sampling = self.sampling()
        return Visits(sampling, self._family_budget_s() / sampling.passes, self.run_budget_s)

    def _family_budget_s(self) -> float:
        asked = self.recipe.budget_s
        return BUDGETS_S.get(self.recipe.preset, BUDGETS_S["default"]) if asked is None else asked

    def sampling(self) -> Sampling:
        """The sampling limits of the preset, with what the user gave instead.

        Where the run has a budget, that alone limits the families, unless the user limits them or they need one
        instance only.

        Raises:
            XebenchError: the fewest samples are more than the most.
        """
        asked = self.recipe
        quick = asked.preset == "smoke"
        instances = asked.instances or (1 if quick else MIN_INSTANCES)
        least = asked.min_samples or (MIN_SAMPLES if quick else MIN_BLOCKS)
        without_limit = self.run_budget_s is not None and asked.budget_s is None and instances > 1
        states = STATES_ASKED[asked.state] if asked.state else ()
        needed = least * max(1, len(states))
        most = asked.max_samples or max(Sampling.max_blocks, needed)
        if most < needed:
            raise XebenchError(f"--max-samples {most} leaves no room for {least} in each state: raise it")
        return Sampling(
            precision=asked.precision or Sampling.precision,
            budget_s=math.inf if without_limit else self._family_budget_s(),
            states=states,
            min_blocks=least,
            first_blocks=least if quick or asked.min_samples else Sampling.first_blocks,
            max_blocks=most,
            min_instances=instances,
            few_instances=asked.instances or min(FEW_INSTANCES, instances),
            passes=min(asked.passes or PASSES, instances),
        )


class Progress(Protocol):
    """Receives the progress of a run; see :mod:`xebench.report.progress`."""

    def say(self, text: str) -> None:
        """A notice that stays visible."""

    def stage(self, text: str) -> None:
        """The work before the first family, such as the self-test."""

    def family(self, done: int, total: int, name: str, left_s: float | None = None) -> None:
        """A visit to a family begins.

        Args:
            done: visits that are over.
            total: visits that are planned now; that may change.
            name: of the family.
            left_s: seconds that are left for all of them, as far as is known.
        """

    def variant(self, name: str) -> None:
        """A variant of the family is at work."""

    def finished(self, name: str, answers: Sequence[tuple[str, str, str]]) -> None:
        """No visit to a family is to come, or its answers are sure.

        Args:
            name: of the family.
            answers: a variant each, with the answer so far and a few words such as ``1.97x``.
        """
