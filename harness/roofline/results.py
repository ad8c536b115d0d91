"""What a measurement of the roofs says: plain data, as it goes from the child process to the disk and to readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from harness.vocabulary import Roof

Status = Literal["ok", "skipped", "failed"]


@dataclass(frozen=True)
class Reading:
    """One probe's result.

    Attributes:
        probe: name in the catalogue.
        status: ``ok``; ``skipped``, when the device lacks what it needs; ``failed``: wrong, crashed or hung.
        value: of the fastest sample, in the probe's unit: a roof is what the device can reach.
        median: of all samples of the best form, in the same unit; far from ``value`` on a busy machine.
        samples: how many that were.
        best_ns: how long the fastest took.
        form: the form of the kernel that was best.
        reason: why there is no value, one line.
        rejected: forms that this device does not run, or runs wrong, each with its reason.
    """

    probe: str
    status: Status
    value: float | None = None
    median: float | None = None
    samples: int = 0
    best_ns: float | None = None
    form: Mapping[str, int | str] = field(default_factory=dict)
    reason: str | None = None
    rejected: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Reading:
        """The reading of a decoded JSON object (``dataclasses.asdict`` wrote it)."""
        return cls(**{**fields, "rejected": tuple(fields["rejected"])})


@dataclass(frozen=True)
class Roofline:
    """All readings of one device.

    Attributes:
        device: its row of table ``devices``, as far as it is known before a run.
        measured_utc: when, ISO 8601.
        quick: few forms and samples of small problems: a look, no roof.
        load_average: of the host over the last minute, when the measurement began.
        cores: how many cores the host has for that load.
        readings: in the order of the catalogue.
        cached: they were measured earlier and kept.
    """

    device: Mapping[str, Any]
    measured_utc: str
    quick: bool
    load_average: float
    cores: int
    readings: tuple[Reading, ...]
    cached: bool = False

    def value(self, probe: str) -> float | None:
        """A probe's value; None if it has none."""
        return next((one.value for one in self.readings if one.probe == probe), None)

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the probes that were wrong, crashed or hung."""
        return tuple(one.probe for one in self.readings if one.status == "failed")

    @property
    def busy(self) -> bool:
        """Whether others used so much of a CPU device, more than a quarter of it, that its roofs may be too low."""
        return self.device["device_class"] == "cpu" and self.load_average > self.cores / 4

    def roofs(self) -> dict[str, float | None]:
        """What cases are placed under, by column of table ``devices``; None where nothing was measured."""
        return {roof.column: max(filter(None, map(self.value, roof.probes)), default=None) for roof in Roof}

    def to_json(self) -> dict[str, Any]:
        """Everything, ready for ``json.dumps``."""
        return {**asdict(self), "roofs": self.roofs()}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Roofline:
        """The object that ``to_json`` gave.

        Raises:
            KeyError, TypeError: it is another.
        """
        own = {name: fields[name] for name in ("device", "measured_utc", "quick", "load_average", "cores", "cached")}
        return cls(**own, readings=tuple(Reading.from_json(one) for one in fields["readings"]))
