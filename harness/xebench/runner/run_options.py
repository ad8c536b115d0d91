"""The settings of a run. The manifest keeps them, so that a later session can continue the run."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

import msgspec
from msgspec import Meta

from xebench.errors import RunFolderError, XebenchError
from xebench.measuring.sampling import FEW_INSTANCES, MIN_BLOCKS, MIN_INSTANCES, Sampling
from xebench.patterns.plan import Family, build_plan, parse_override
from xebench.patterns.registry import discover, select
from xebench.results.analysis.intervals import MIN_SAMPLES
from xebench.roofs.measure import Store
from xebench.runner.resource_limits import DEFAULT_MEMORY, RunBudget
from xebench.runner.round_plan import RoundPlan
from xebench.system.runtime.kernel_compiler import NUMBA_DPEX
from xebench.vocabulary import STATES_ASKED

#: The manifest's key.
KEY: Final = "request"

LARGEST_SEED: Final = 2**32 - 1

_Positive = Annotated[float, Meta(gt=0, le=sys.float_info.max)]

_Count = Annotated[int, Meta(ge=1)]

_Seed = Annotated[int, Meta(ge=0, le=LARGEST_SEED)]

_States = Annotated[str, Meta(pattern=f"^({'|'.join(STATES_ASKED)})\\Z")]

_Compiler = Annotated[str, Meta(pattern=f"^{NUMBA_DPEX}\\Z")]


class Recipe(msgspec.Struct, frozen=True):
    """The settings of a measurement, as given on the command line.

    Attributes:
        names: patterns, chapters or catalogue ids; all patterns when empty.
        preset: preset of the problem sizes.
        overrides: values of axes and sizes, as ``name=value,value``.
        paths: pattern files beside the built-in ones.
        device: ``auto``, ``gpu``, ``cpu`` or a SYCL filter string.
        require_gpu: refuse the fall-back to the CPU device.
        precision: wanted half-width of the log speed-up's interval; None for the default.
        budget_s: seconds of sampling for each family; None for the preset's.
        state: state of the caches before each sample: hot, cold or both; None for each pattern's own.
        seed: seed of the data and of the order of samples.
        instances: least number of instances per family; None for the preset's.
        min_samples: least number of samples per variant and instance; None for the preset's.
        max_samples: most samples per variant and family, in both states together; None for the default.
        compiler: "numba-dpex" to compile kernels with numba-dpex as it is; None for the stack's compiler.
        versions: names of the two versions to measure side by side, the old one first (`xebench ab`); built-in patterns
            are then left out.
    """

    names: tuple[str, ...]
    preset: str
    overrides: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    device: str = "auto"
    require_gpu: bool = False
    precision: _Positive | None = None
    budget_s: _Positive | None = None
    state: _States | None = None
    seed: _Seed = 20240517
    instances: _Count | None = None
    min_samples: _Count | None = None
    max_samples: _Count | None = None
    compiler: _Compiler | None = None
    versions: tuple[str, ...] = ()

    def plan(self) -> list[Family]:
        """Every family to measure.

        Raises:
            PatternError: a pattern file cannot be read, or nothing fits the names, the preset or an override.
        """
        overrides = dict(parse_override(text) for text in self.overrides)
        known = discover([Path(path) for path in self.paths], builtin=not self.versions)
        return build_plan(select(known, self.names), self.preset, overrides)

    def to_manifest(self) -> dict[str, Any]:
        """The manifest's entry."""
        return {KEY: msgspec.structs.asdict(self)}

    @classmethod
    def of_run(cls, folder: Path) -> Recipe:
        """The recipe of the run in ``folder``.

        Raises:
            RunFolderError: there is no run, or its manifest does not say.
        """
        from xebench.results.files import read_manifest

        kept = read_manifest(folder).get(KEY)
        types = {field.name: field.type for field in msgspec.structs.fields(cls)}
        if isinstance(kept, dict):
            kept.pop("passes", None)  # of earlier runs
        if not isinstance(kept, dict) or not {"names", "preset"} <= kept.keys() <= types.keys():
            raise RunFolderError(f"{folder} does not record its settings: start a new run with --output")
        recipe = cls(**{name: _converted(folder, name, value, types[name]) for name, value in kept.items()})
        for path in map(Path, recipe.paths):
            if not path.is_absolute() or folder.resolve() in path.resolve().parents:
                raise RunFolderError(
                    f"{folder} names the pattern file {path}, which a stranger may have put there (no run has one in "
                    "its own folder, or by a relative path): start a new run with --path and --output"
                )
        return recipe


def _converted(folder: Path, name: str, value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise RunFolderError(
            f"{folder} records {name} {value!r}, which is not valid: start a new run with --output"
        ) from None


#: Seconds of an instance up to which the preset smoke takes several: they fit into its budget.
CHEAP_S: Final = 0.05

#: Seconds of sampling per family, by preset: smoke proves that everything works, guide takes the time it needs.
BUDGETS_S = {"smoke": 0.4, "default": 6.0, "guide": 60.0}

TIMEOUTS_S = {"smoke": 60.0, "default": 120.0, "guide": 900.0}


@dataclass(frozen=True)
class Options:
    """The options of one session of a run.

    Attributes:
        output: folder of the run.
        recipe: the user's settings. Its device, seed and limits of sampling are used; the manifest keeps it.
        overwrite: replace an earlier run in the same folder.
        resume: continue the run in the folder.
        timeout_s: silence after which a worker counts as hung; None: by preset.
        memory_limit: memory limit of a worker, in the form of `xebench.runner.resource_limits.parse_memory`.
        run_budget_s: seconds for the whole run, planned by `xebench.runner.round_plan`; families that do not fit are
            not measured.
        begun_s: start of the command, by `time.monotonic`; None for the start of the run.
        exclusive: refuse to run while another run uses the device.
        command_line: command line, for the manifest.
        roofs: store of roofs; None for a run without roofs.
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
    roofs: Store | None = None

    def silence_s(self) -> float:
        """Seconds of silence after which a worker counts as hung."""
        return self.timeout_s or TIMEOUTS_S.get(self.recipe.preset, TIMEOUTS_S["default"])

    def budget(self) -> RunBudget:
        """The time that the run has."""
        return RunBudget(self.run_budget_s, begun_s=self.begun_s)

    def round_plan(self) -> RoundPlan:
        """The plan of rounds."""
        return RoundPlan(self.sampling(), self._family_budget_s(), self.run_budget_s)

    def _family_budget_s(self) -> float:
        asked = self.recipe.budget_s
        return BUDGETS_S.get(self.recipe.preset, BUDGETS_S["default"]) if asked is None else asked

    def sampling(self) -> Sampling:
        """The sampling limits of the preset, with what the user gave instead.

        Where the run has a budget, that alone limits the families, unless the user or the preset limits them, or they
        need one instance only.

        Raises:
            XebenchError: the fewest samples are more than the most.
        """
        asked = self.recipe
        quick = asked.preset == "smoke"
        instances = asked.instances or MIN_INSTANCES
        in_one_round = quick and not asked.instances
        least = asked.min_samples or (MIN_SAMPLES if quick else MIN_BLOCKS)
        without_limit = self.run_budget_s is not None and asked.budget_s is None and instances > 1 and not in_one_round
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
            few_instances=asked.instances or FEW_INSTANCES,
            instances=MIN_INSTANCES if in_one_round else None,
            alone_s=CHEAP_S if in_one_round else 0.0,
        )


class Progress(Protocol):
    """Receives the progress of a run; see `xebench.report.console.ProgressLine`."""

    def say(self, text: str) -> None:
        """A notice that stays visible."""

    def stage(self, text: str) -> None:
        """The work before the first family, such as the self-test."""

    def family(self, done: int, total: int, name: str, left_s: float | None = None) -> None:
        """A round of a family begins.

        Args:
            done: number of finished families.
            total: number of all families.
            name: name of the family.
            left_s: seconds left for all of them; None if unknown.
        """

    def variant(self, name: str) -> None:
        """A variant of the family is at work."""

    def finished(self, name: str, results: Sequence[tuple[str, str]]) -> None:
        """Called when a family gets no further round, or its answers are sure.

        Args:
            name: name of the family.
            results: variants, each with a short text such as ``1.97x``.
        """
