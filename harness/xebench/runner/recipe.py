"""The recipe of a run, as the user gave it: kept in the manifest, so that a later session goes on with the same."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from xebench.errors import RunFolderError
from xebench.patterns.plan import Family, build_plan, parse_override
from xebench.patterns.registry import discover, select
from xebench.vocabulary import STATES_ASKED

#: The manifest's key.
KEY: Final = "request"

LARGEST_SEED: Final = 2**32 - 1

_Positive = Annotated[float, Meta(gt=0, le=sys.float_info.max)]
_Count = Annotated[int, Meta(ge=1)]
_Seed = Annotated[int, Meta(ge=0, le=LARGEST_SEED)]
_States = Annotated[str, Meta(pattern=f"^({'|'.join(STATES_ASKED)})\\Z")]


class Recipe(msgspec.Struct, frozen=True):
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
        state: of the caches before each sample: hot, cold or both; None: as each pattern asks.
        seed: of the data and of the order of samples.
        instances: of each family, before its precision may end the sampling; None: the preset's.
        passes: times that the run comes to each family; None: the preset's.
        min_samples: of each variant and instance, before its precision may end the sampling; None: the preset's.
        max_samples: of each variant and family, both states together; None: the default.
        versions: what the two versions are called that are measured side by side, the old one first (`xebench ab`);
            then no built-in patterns are.
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
    passes: _Count | None = None
    min_samples: _Count | None = None
    max_samples: _Count | None = None
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
        from xebench.tables.files import read_manifest

        kept = read_manifest(folder).get(KEY)
        types = {field.name: field.type for field in msgspec.structs.fields(cls)}
        if not isinstance(kept, dict) or not {"names", "preset"} <= kept.keys() <= types.keys():
            raise RunFolderError(f"{folder} does not say what was asked for: start a new run with --output")
        return cls(**{name: _converted(folder, name, value, types[name]) for name, value in kept.items()})


def _converted(folder: Path, name: str, value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise RunFolderError(
            f"{folder} asks for {name} {value!r}, which cannot be: start a new run with --output"
        ) from None
