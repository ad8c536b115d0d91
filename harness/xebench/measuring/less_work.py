"""Calls of a variant compared: does one on known data leave out work that one on new data does?"""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final

from xebench.measuring.place import Call, Calls
from xebench.measuring.samples import WAKING_NS, times_of
from xebench.measuring.session.recorder import MeasuredSample
from xebench.vocabulary import Metric

#: Kinds of commands that do not compute.
COPIES: Final = {"copy", "fill", "barrier"}
#: Pause before a call that does not follow another at once.
PAUSE_S: Final = 0.003
#: So many of a variant's samples a checked call is compared with.
LATEST: Final = 8
#: Second calls that may do as much work as the first ones, after one did less: noise may last as long as the work.
NO_LONGER: Final = 2
#: A call on new data is too long when each took so many times as long as any on the same data again. Honest variants
#: are a little quicker then too: branches are predicted better that were taken before.
TIMES_AS_LONG: Final = 2.0
#: ns by which two calls may differ in any case: drivers of discrete GPUs stamp short kernels with jitter of 10 us.
NOISE_NS: Final = 20_000
#: Times as long as samples that no honest call on data takes which it has just met. ns beside that: what drivers and
#: allocators do in the first calls alone of a variant that was prepared again.
FAR_LONGER: Final = 10.0
FIRST_CALLS_NS: Final = 1_000_000
#: Calls on the same data until they do no more than samples, and seconds: a variant may keep what comes often. Then so
#: many calls in a row do no more, other than those of a variant whose work varies by itself.
MOST_CALLS: Final = 16
MOST_CALLS_S: Final = 0.5
CALLS_IN_A_ROW: Final = 4


class SecondCalls:
    """Calls of a variant on data that it had in the call before, compared with that one.

    Args:
        metric: of the family.
        has_ranks: True if processes of MPI run the variant.

    Attributes:
        less: for each second call that did less work, how many times as long the first one took.
    """

    def __init__(self, metric: Metric, has_ranks: bool) -> None:
        self.less: list[float] = []
        self._metric, self._has_ranks = metric.of_work, has_ranks
        self._fewer, self._as_much = True, 0
        self._shortest_new_ns, self._longest_known_ns = math.inf, 0.0

    def add(self, new: MeasuredSample, known: MeasuredSample, has_fewer: bool, other: bool) -> None:
        """Compare a call on new data with the next one.

        Args:
            new, known: the two calls.
            has_fewer: True if the second submitted fewer commands.
            other: True if both do what most samples do not.
        """
        self._fewer &= has_fewer
        new_ns, known_ns = (times_of(measured)[self._metric] for measured in (new, known))
        self._shortest_new_ns = min(self._shortest_new_ns, new_ns)
        self._longest_known_ns = max(self._longest_known_ns, known_ns)
        longer = takes_longer(new_ns, known_ns) or takes_longer(new.host_ns, known.host_ns, WAKING_NS)
        if self._has_ranks:  # if there are more than cores they wait for each other, and longer at first
            longer &= takes_longer(self._shortest_new_ns, self._longest_known_ns, WAKING_NS)
        if self._fewer or other or longer:
            self.less.append(new_ns / (known_ns or 1))
        else:
            self._as_much += 1

    @property
    def do_as_much(self) -> bool:
        """True if the first of them did no less, or several since."""
        return self._as_much == NO_LONGER or (self._as_much > 0 and not self.less)

    @property
    def how(self) -> str:
        """How the variant does less on known data."""
        if self._fewer:
            return "fewer commands when called again on the same data"
        if (times_as_long := statistics.median(self.less)) > TIMES_AS_LONG:
            return f"{times_as_long:.3g} times as long on new data as when called again"
        return "commands, or ten times the time, on new data that most samples lack"


def takes_longer(new_ns: float, known_ns: float, noise_ns: float = NOISE_NS) -> bool:
    """True if a call on new data took so much longer than one on known data that the latter skipped work."""
    return new_ns > TIMES_AS_LONG * known_ns + noise_ns


def does_no_more(checked: Call, samples: Sequence[Call], metric: Metric) -> bool:
    """True if a call on new data did no more than each of some samples, by the metric and by the host's time.

    Samples are calls on known data: what is reported of a variant is what they do.
    """
    if not samples or _commands_of_one(checked) > min(map(_commands_of_one, samples)):
        return False
    new_ns, known_ns = _times_of_one(checked), [_times_of_one(sample) for sample in samples]
    for kind, noise_ns in {Metric.WALL: WAKING_NS, metric.of_work: NOISE_NS}.items():
        times_ns = [own_ns[kind] for own_ns in known_ns]
        if takes_longer(new_ns[kind], statistics.median(times_ns), noise_ns):
            return False
        if takes_longer(new_ns[kind], min(times_ns), WAKING_NS):
            return False
    return True


def become_as(samples: Sequence[Call], call: Callable[[], Calls[Call]], metric: Metric) -> Calls[bool]:
    """True if calls on the same data, one after another, come to do no more than samples.

    Args:
        samples: of the variant.
        call: calls it once more, as samples do.
        metric: of the family.
    """
    in_a_row, calls, end_s = 0, 0, time.monotonic() + MOST_CALLS_S
    while in_a_row < CALLS_IN_A_ROW and calls < MOST_CALLS and time.monotonic() < end_s:
        in_a_row = in_a_row + 1 if does_no_more((yield from call()), samples, metric) else 0
        calls += 1
    return in_a_row == CALLS_IN_A_ROW


def does_what_samples_lack(
    checked: Call, again: Call, samples: Sequence[Call], metric: Metric | None, *, anew: bool
) -> bool:
    """True if a call on new data and the next one both do what most samples leave out, by their commands or time.

    Samples are calls on known data, but of a variant that was called oftener since its preparation.

    Args:
        checked, again: the two calls.
        samples: of the variant.
        metric: of the family; the host's time counts as well. None: their times cannot be compared.
        anew: True if it was prepared again for the first of them; samples have more calls behind them.
    """
    done = commands_of(checked.measured) & commands_of(again.measured)
    if 2 * sum(done <= commands_of(sample.measured) for sample in samples) < len(samples):
        return True
    if metric is None or not samples:
        return False
    allowed_ns = FIRST_CALLS_NS if anew else WAKING_NS
    again_ns, known_ns = _times_of_one(again), [_times_of_one(sample) for sample in samples]
    return any(
        again_ns[kind] > FAR_LONGER * statistics.median(own_ns[kind] for own_ns in known_ns) + allowed_ns
        for kind in (metric.of_work, Metric.WALL)
    )


def usual_commands(done: Sequence[set[tuple[str, str]]]) -> Sequence[tuple[str, str]]:
    """Kinds and names of commands that every second of some calls submitted: a variant may alternate between two ways.

    Args:
        done: kinds and names of what each of them submitted.
    """
    counts = Counter(chain.from_iterable(done))
    return [command for command, count in counts.items() if 2 * count + 1 >= len(done)]


def commands_of(measured: MeasuredSample) -> set[tuple[str, str]]:
    """Kinds and names of what was submitted."""
    return {(command.kind, command.name) for command in measured.events}


def _times_of_one(call: Call) -> dict[Metric, float]:
    return {kind: time_ns / call.batch for kind, time_ns in times_of(call.measured).items()}


def _commands_of_one(call: Call) -> float:
    return call.measured.command_count / call.batch
