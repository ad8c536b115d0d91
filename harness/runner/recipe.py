"""What a run measures, as it was asked for: kept in the manifest, so that a later session goes on with the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from harness.errors import RunFolderError
from harness.patterns.plan import Family, build_plan, parse_override
from harness.patterns.registry import discover, select
from harness.vocabulary import STATES_ASKED

#: The manifest's key.
KEY: Final = "request"

LARGEST_SEED: Final = 2**32 - 1


@dataclass(frozen=True)
class Recipe:
    """The part of a command line that says what is measured, and how thoroughly.

    Attributes:
        names: patterns, chapters or catalogue ids; all patterns when empty.
        preset: of the problem sizes.
        overrides: values of axes and sizes, as ``name=value,value``.
        paths: pattern files beside the built-in ones.
        device: ``auto``, ``gpu``, ``cpu`` or a SYCL filter string.
        require_gpu: refuse the fall-back to the CPU device.
        precision: wanted half-width of the log speed-up's interval; None: the default.
        budget_s: seconds of sampling for each family; None: the preset's.
        state: of the caches before each sample: hot, cold or both.
        seed: of the data and of the order of samples.
        instances: of each family, before its precision may end the sampling; None: the preset's.
        passes: times that the run comes to each family; None: the preset's.
        min_samples: of each variant and instance, likewise; None: the preset's.
        max_samples: of each variant and family, both states together; None: the default.
    """

    names: tuple[str, ...]
    preset: str
    overrides: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    device: str = "auto"
    require_gpu: bool = False
    precision: float | None = None
    budget_s: float | None = None
    state: str = "hot"
    seed: int = 20240517
    instances: int | None = None
    passes: int | None = None
    min_samples: int | None = None
    max_samples: int | None = None

    def plan(self) -> list[Family]:
        """Every family to measure.

        Raises:
            PatternError: a pattern file cannot be read, or nothing fits the names, the preset or an override.
        """
        overrides = dict(parse_override(text) for text in self.overrides)
        return build_plan(select(discover([Path(path) for path in self.paths]), self.names), self.preset, overrides)

    def to_manifest(self) -> dict[str, Any]:
        """The manifest's entry."""
        return {KEY: asdict(self)}

    @classmethod
    def of_run(cls, folder: Path) -> Recipe:
        """The recipe of the run in ``folder``.

        Raises:
            RunFolderError: there is no run, or its manifest does not say.
        """
        from harness.records.files import read_manifest

        kept = read_manifest(folder).get(KEY)
        known = {field.name for field in fields(cls)}
        if not isinstance(kept, Mapping) or not {"names", "preset"} <= kept.keys() <= known:
            raise RunFolderError(f"{folder} does not say what was asked for: start a new run with --output")
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()
        }
        recipe = cls(**values)
        for name, value in asdict(recipe).items():
            if not _FITS[name](value):
                raise RunFolderError(
                    f"{folder} asks for {name} {value!r}, which cannot be: start a new run with --output"
                )
        return recipe


def _texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


def _number_or_none(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and 0 < value < math.inf)


def _count_or_none(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 1)


#: What each value of a manifest must be.
_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "names": _texts,
    "preset": lambda value: isinstance(value, str),
    "overrides": _texts,
    "paths": _texts,
    "device": lambda value: isinstance(value, str),
    "require_gpu": lambda value: isinstance(value, bool),
    "precision": _number_or_none,
    "budget_s": _number_or_none,
    "state": lambda value: value in STATES_ASKED,
    "seed": lambda value: type(value) is int and 0 <= value <= LARGEST_SEED,
    "instances": _count_or_none,
    "passes": _count_or_none,
    "min_samples": _count_or_none,
    "max_samples": _count_or_none,
}
