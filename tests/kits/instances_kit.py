"""Instances of a round, each left when its rule says so."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from xebench.measuring.sampling import Clock, Sampling
from xebench.measuring.stopping import InstanceRule, Instances, Series
from xebench.results.analysis.moderation import NOTHING, Prior

Speedups = Mapping[str, Sequence[float]]


def series(speedups: Speedups) -> dict[str, Series]:
    """The log speed-ups of an instance."""
    return {name: Series(np.asarray(own, float)) for name, own in speedups.items()}


class RoundRule:
    """The decisions for a round, as a worker and a run take them together.

    Args:
        sampling: limits of the round.
        baseline: baseline of the speed-ups.
        earlier: log speed-ups of earlier instances.
        clock: seconds.
        last, prior: see `Instances`.
    """

    def __init__(
        self,
        sampling: Sampling,
        baseline: str,
        earlier: Sequence[Speedups] = (),
        clock: Clock = time.monotonic,
        *,
        last: bool = True,
        prior: Prior = NOTHING,
    ) -> None:
        self._instances = Instances(sampling, [series(one) for one in earlier], last=last, prior=prior)
        self._baseline, self._clock = baseline, clock
        self.taken: list[dict[str, list[float]]] = []
        self._begin()

    def _begin(self) -> None:
        self._rule = InstanceRule(self._instances.limits, self._baseline, clock=self._clock)

    @property
    def share(self) -> Sampling:
        """Limits of the present instance."""
        return self._instances.limits.sampling

    def decide(self, values: Speedups, elapsed_s: float) -> str | None:
        """Why to leave the instance; None to go on."""
        rule = self._rule
        if rule.decide(values, elapsed_s) is None:
            return None
        self.taken.append({name: own.tolist() for name, own in rule.speedups.items()})
        reason = self._instances.add(series(self.taken[-1]), rule.blocks, rule.seconds, enough=rule.enough)
        self._begin()
        return reason
