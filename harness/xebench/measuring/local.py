"""A family on a session of this process: the variants of a problem."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from xebench.dpex import direct_calls
from xebench.measuring import less_work
from xebench.measuring.between_samples import KeptArrays, KeptMemory, Uploads, has_bits
from xebench.measuring.bound_problem import Binding, has_room
from xebench.measuring.comparison import are_alike
from xebench.measuring.data_sets import DataSets, doubled, turned
from xebench.measuring.own_threads import OwnThreads
from xebench.measuring.place import Array, Call, Calls, Checked, CompiledStage, Contents, Started, start
from xebench.measuring.results import LARGE_BYTES, Inputs, Programs, Sums
from xebench.measuring.session import switches
from xebench.measuring.session.device_memory import DeviceMemory, allocate
from xebench.measuring.session.recorder import MeasuredSample
from xebench.measuring.session.session import Session
from xebench.patterns.pattern import Pattern
from xebench.patterns.problem import PLAIN, Problem
from xebench.vocabulary import metric_named


@dataclass
class _Prepared:
    """A variant that was prepared.

    Attributes:
        memory: that it allocated.
        arrays: of the host that it holds, where it may keep what it found in data.
        read: whether its preparation may have read data: it read arrays of the host, or submitted commands.
        sample: what its samples call; it was called once.
        latest: of its samples.
        done: its latest calls, in samples and checks.
        commands: kinds and names of what its first call submitted.
        computed: results that it wrote by copies alone, or uploaded, though other data stood in the inputs by then.
    """

    memory: KeptMemory = field(default_factory=KeptMemory)
    arrays: KeptArrays | None = None
    read: bool = False
    sample: Callable[[], Any] = tuple
    latest: deque[Call] = field(default_factory=partial(deque, maxlen=less_work.LATEST))
    done: deque[MeasuredSample] = field(default_factory=partial(deque, maxlen=less_work.LATEST))
    commands: Sequence[tuple[str, str]] = ()
    computed: Contents = field(default_factory=dict)


class ProblemPlace:
    """The variants of a pattern, on the problems of one size.

    Args:
        session: where they run.
        sums: of inputs on the device.
        pattern: has the variants.
        problems: on the host.
        parameters: of the problem; a variant receives those that it names.
        brief: whether a check leaves out what would show nothing: results with the bits of such that were right, and a
            second call where the first did no more than a sample does. Ranks must do the same, so none may.
    """

    is_there = True

    def __init__(
        self,
        session: Session,
        sums: Sums,
        pattern: Pattern,
        problems: DataSets,
        parameters: Mapping[str, Any],
        *,
        brief: bool = False,
    ) -> None:
        self.session = session
        self._sums, self._brief = sums, brief
        self._sums_of_inputs: dict[int, Mapping[str, bytes]] = {}
        self._was_changed = False
        self._right: set[tuple[int, str, bytes]] = set()  # data set, result, and its sums
        self._written: Sequence[tuple[int, str, bytes]] = ()  # by the last call: what may become right
        self._pattern, self._metric = pattern, metric_named(pattern.metric)
        self._problems, self._parameters = problems, parameters
        self._prepared: dict[str, _Prepared] = {}
        self._set_up: _Prepared | None = None  # for a call of a check
        self._programs = Programs()
        self._threads = OwnThreads()

    def begin(self) -> Mapping[str, Any]:
        """See `xebench.measuring.place.Place`; so for all of these."""
        self.session.records_direct_calls = self._metric.on_device_clock
        self._bind(0)
        given = self._parameters.items()
        values = ((name, value.item() if isinstance(value, np.generic) else value) for name, value in given)
        return {name: value for name, value in values if isinstance(value, PLAIN)}

    def _bind(self, data_set: int) -> None:
        self._data_set = self._shown = data_set
        self._keeps_copies = has_room(self.session.device, self._problems[data_set])
        self.binding = Binding(self._problems[data_set], self._parameters, DeviceMemory(self.session.queue))
        if self._problems.count > 1:
            self.binding.own_host_arrays()
        self._inputs: dict[int, Inputs] = {}
        self._know_inputs(data_set)
        self._work, _ = self._sums.prepare(allocate(LARGE_BYTES, np.int8, self.session.queue))

    def _show(self, data_set: int) -> None:
        """Write these data into the problem's arrays, also if the arrays hold them already."""
        self._shown = data_set
        if self._problems.count > 1:
            kept_as = data_set if self._keeps_copies and data_set < self._problems.count else None
            self.binding.show(self._problems[data_set], kept_as)
            self._know_inputs(data_set)

    def _know_inputs(self, data_set: int) -> None:
        """Sums of data that have a reference are made once; others, which are hardly looked at, have none."""
        if data_set in self._inputs:
            return
        is_kept = data_set < self._problems.count
        made = Inputs(self.binding, self._sums, self._sums_of_inputs.get(data_set) if is_kept else {})
        if is_kept:
            self._sums_of_inputs[data_set] = made.first
        self._inputs[data_set] = made

    def start(self, variant: str, contents: Contents | None) -> Started:
        """Compile and run it."""
        session = self.session
        session.take_compilations()
        self.reset()
        self._fill(contents)
        with self._inputs_kept(look=contents is not None or self._was_changed) as changed:
            begin = time.perf_counter_ns()
            asked = {**self._pattern.environment, **self._pattern.variants[variant].environment}
            with (
                switches.looked_up(asked, session.queue) as found,
                self._programs.noting(session, self._pattern.metric) as noted,
            ):
                self._prepared[variant] = self._prepare(variant)
            host_ns = time.perf_counter_ns() - begin
            compiled, kernels, devices = CompiledStage.taken(session), session.take_kernels(), session.take_devices()
        known = self._known(contents, self._data_set)
        reads = self._may_keep(self._prepared[variant])
        commands = self._prepared[variant].commands
        results, program = self._results(contents, known), self._programs.of(noted)
        return Started(host_ns, compiled, kernels, devices, results, changed, reads, program, found, commands, known)

    def accept(self) -> None:
        """The results of the last call were compared."""
        self._right.update(self._written)

    def _prepare(self, variant: str, *, anew: bool = False) -> _Prepared:
        """Call a variant for the first time on these arrays; ``anew``: for a check.

        Then other data stand in the arrays when its preparation is over, until the call is: whatever the call finds and
        keeps is of no use for the next one. With one data set there are no others.
        """
        session, bound, made = self.session, self.binding.bound, _Prepared()
        other = turned(self._problems[self._shown]) if anew and self._problems.count > 1 else None

        def prepared(sample: Callable[[], Any]) -> None:
            made.sample, made.read = sample, bound.host_was_read or session.has_commands or session.has_called
            session.wait()
            made.memory.prepared(session.take_allocations(), written=made.read or not session.records_direct_calls)
            if self._may_keep(made):
                made.arrays = KeptArrays(sample)
            session.begin()
            if other is not None:
                self._put(other)
                session.on_copy = uploads.note

        uploads = Uploads(self.binding.written().values())
        session.take_allocations()
        session.begin()
        bound.host_was_read = False
        try:
            made.sample = start(self._pattern.variants[variant].function, session, bound, self._parameters, prepared)
        except Exception:
            if session.on_copy is None:  # else these are not the data that it was prepared for
                raise
        finally:
            session.on_copy = None
        if made.arrays is None and self._may_keep(made):  # there was no preparation, and there are no other data
            made.arrays = KeptArrays(made.sample)
        session.wait()
        made.commands = session.commands
        if other is not None and {kind for kind, _ in made.commands} <= less_work.COPIES:
            made.computed = self.binding.results()
        elif uploads:
            made.computed = uploads.of(self.binding.results())
        if made.computed and session.comm.size == 1:  # ranks must make the same calls
            made.computed = self._same_on_other_data(made)
        made.memory.add(session.take_allocations())
        self._threads.note(variant)
        self._queues = session.queue_count
        return made

    def _same_on_other_data(self, made: _Prepared) -> Contents:
        """Return the results of a first call that calls on other data give, too.

        An honest call's follow from the data that it finds. Those of its first call alone say less: its data had only
        the order of real numbers changed, and a sum, a histogram or a maximum is the same in any order. The other data
        set comes last, as it may have numbers for which a kernel that was prepared for this one has no room.
        """
        same = made.computed
        for other in (doubled(self._problems[self._shown]), self._problems[0 if self._shown else 1]):
            self._put(other)
            self.session.begin()
            with suppress(Exception), self.session.watching():  # prepared for others it may fail, having no results
                made.sample()
            self.session.wait()
            again = self.binding.results()
            if not (same := {name: result for name, result in same.items() if has_bits(result, again[name])}):
                break
        return same

    def _put(self, problem: Problem) -> None:
        with direct_calls.unrecorded:
            self.binding.show(problem)
            self.binding.reset()

    def _get(self, variant: str) -> _Prepared:
        """A variant, prepared again where another one has ended the process that it was prepared in."""
        if variant not in self._prepared:
            self.start(variant, None)
        return self._prepared[variant]

    def reset(self) -> None:
        """Set back what variants update, and the data that samples are taken on."""
        if self._shown != self._data_set:
            self._show(self._data_set)
        self.binding.reset()

    def sample(
        self,
        variant: str,
        batch: int,
        flush: Callable[[], None] | None = None,
        *,
        reset: bool = True,
        traced: bool = False,
    ) -> MeasuredSample:
        """Set arrays back, flush, measure; ``reset``: whether the first is still to be done."""
        prepared = self._set_up
        if prepared is None:
            reset = reset or variant not in self._prepared
            prepared = self._get(variant)
            if reset:
                self.reset()
        if flush is not None:
            flush()
        session = self.session
        measured = session.trace(prepared.sample) if traced else session.measure(prepared.sample, batch)
        session.forget_queues(self._queues)
        prepared.memory.add(self.session.take_allocations())
        self._threads.note(variant)
        prepared.done.append(measured)
        if self._set_up is None:
            prepared.latest.append(Call(measured, batch))
        return measured

    def _called(self, variant: str, prepared: _Prepared) -> Calls[Call]:
        """Call a variant for a check, on the arrays that the check has set up."""
        self._work.submit().wait()  # after an idle time a device begins later, which is no work of the call's own
        self._set_up = prepared
        try:
            yield (call := Call())
        finally:
            self._set_up = None
        self._used_ns = self._threads.used_ns(variant)
        return call

    def check(
        self, variant: str, contents: Contents | None, data_set: int = 0, *, anew: bool = True, at: float | None = None
    ) -> Calls[Checked]:
        """Call the variant on the other data with poisoned outputs, then again on its own results."""
        prepared = self._get(variant)
        latest = [*prepared.latest] if self._brief else []  # without the calls that follow
        done = map(less_work.commands_of, prepared.done) if self._problems.count == 1 else ()
        usual = less_work.usual_commands([*done])
        if at is not None:
            self.binding.poison_part(contents or {}, at)
            time.sleep(less_work.PAUSE_S)
            self._sums.wake()
            yield (late := Call())
            at_once: Call | None = None
            if not less_work.does_no_more(late, latest, self._metric):
                yield (at_once := Call())
            results = self.binding.results_in_part(at)
            return Checked(late.measured, results, again=None if at_once is None else at_once.measured)
        anew = anew and self._may_keep(prepared)
        self._show(data_set)
        with self._inputs_kept(look=self._looks) as changed:
            if anew:
                self._fill(contents)
                prepared = self._prepare(variant, anew=True)
                self._show(data_set)
            prepared.memory.set_back()
            if prepared.arrays is not None:
                prepared.arrays.set_back()
            self._fill(contents)
            call = yield from self._called(variant, prepared)
        # a preparation for the check may have left results, which are looked for
        known = () if anew else self._known(contents, data_set)
        results = self._results(contents, known)
        self._threads.see_them_wait(self._used_ns)
        if contents is None:
            return Checked(call.measured, results, changed)
        # not of ranks: all of them must be called as often, and each holds other parts
        is_alone = self.session.comm.size == 1
        ready = (yield from self._ready(variant, prepared, contents, results)) if anew and is_alone else []
        if less_work.does_no_more(call, latest, self._metric):
            return Checked(call.measured, results, changed, None, ready, known, usual=usual)
        # times do not compare for shared memory: just written by the host, it is not where it is among samples
        by = None if prepared.memory.migrates else self._metric
        often = latest if not anew and is_alone and by else []
        again, changed_again = yield from self._called_again(variant, prepared, results, data_set, often)
        other = less_work.does_what_samples_lack(call, again, latest, by, anew=anew)
        return Checked(call.measured, results, [*changed, *changed_again], again.measured, ready, known, other, usual)

    def _called_again(
        self, variant: str, prepared: _Prepared, results: Contents, data_set: int, samples: Sequence[Call]
    ) -> Calls[tuple[Call, list[str]]]:
        """Call it on the same data; where samples do less, often before: it may keep what comes often."""

        def known() -> Calls[tuple[Call, list[str]]]:
            # all is written, or looked at, once more, so that caches are as before
            self._show(data_set)
            prepared.memory.rewrite()
            self._fill(results)
            with self._inputs_kept(look=self._looks) as changed:
                call = yield from self._called(variant, prepared)
            return call, changed

        def as_sampled() -> Calls[Call]:
            self.binding.reset()
            return self._called(variant, prepared)

        again, changed = yield from known()
        if samples and not less_work.does_no_more(again, samples, self._metric):
            with self._inputs_kept(look=self._looks) as changed_often:
                become_alike = yield from less_work.become_as(samples, as_sampled, self._metric)
            again, changed_now = (yield from known()) if become_alike else (again, [])
            changed += [*changed_often, *changed_now]
        return again, changed

    def _known(self, contents: Contents | None, data_set: int) -> Sequence[str]:
        """Large results on the device that need no comparison: a variant's were right that equal them on these data.

        Data sets without a reference need no comparison at all.
        """
        self._written = ()
        if not self._brief or contents is None:
            return ()
        written = self.binding.written()
        on_device = [name for name, array in written.items() if not isinstance(array, np.ndarray)]
        large = [name for name in on_device if written[name].nbytes >= LARGE_BYTES]
        if data_set >= self._problems.count:
            return large
        self._written = [(data_set, name, self._sums(written[name])) for name in large]
        return [name for _, name, sums in self._written if (data_set, name, sums) in self._right]

    def _may_keep(self, prepared: _Prepared) -> bool:
        """True if a variant may keep what it computed of data: its preparation read them, or there is only one set."""
        return prepared.read or self._problems.count == 1

    def _ready(self, variant: str, prepared: _Prepared, contents: Contents, results: Contents) -> Calls[list[str]]:
        """The results of a checked call that the preparation, or another call, had computed before.

        Results that the variant holds are spoilt, and must come again. A preparation may run all of the work, to time
        it, as long as the samples do it again; samples may leave results in memory of the variant.
        """
        computed = [
            name
            for name, result in prepared.computed.items()
            if has_bits(result, results[name]) and not self.binding.has_elements_of(result)
        ]
        own = {name: result for name, result in results.items() if not self.binding.is_given(result)}
        # all is spoilt that is found
        arrays = prepared.arrays or KeptArrays(None)
        undo = [put_back for result in own.values() for put_back in arrays.spoil(result)]
        spoilt = [prepared.memory.spoil(result) for result in own.values()]
        if not (undo or any(spoilt)):
            return computed
        try:
            self._fill(contents)
            yield from self._called(variant, prepared)
            again = self._results(contents)
        finally:
            for put_back in undo:
                put_back()
        rules = self._pattern.rtol, self._pattern.atol
        return computed + [name for name, result in results.items() if not are_alike(again[name], result, *rules)]

    def changed(self) -> Sequence[str]:
        """Return the inputs that changed in this process."""
        changed = self._inputs[self._shown].changed()
        self._was_changed |= bool(changed)
        return changed

    def renew(self, data_set: int = 0) -> None:
        """Free everything, then allocate and build or load again, so that the allocator chooses another place."""
        self.end()
        self.session.load_builds()
        self._bind(data_set)

    def end(self) -> None:
        """Free everything."""
        self._programs.end()
        self._prepared.clear()  # what they hold of the arrays is freed first
        self.session.release()
        for name in ("binding", "_inputs", "_work"):
            vars(self).pop(name, None)

    def _fill(self, contents: Contents | None) -> None:
        if contents:
            self.binding.poison(contents)
        self.binding.reset()

    def _results(self, contents: Contents | None, known: Sequence[str] = ()) -> dict[str, Array]:
        return {} if contents is None else self.binding.results(known)

    @property
    def _looks(self) -> bool:
        """True if inputs are checked for changes, to name the variant that makes them.

        Where there are two data sets all is written before the next check or sample; samples are what is looked at.
        """
        return self._problems.count == 1 or self._was_changed

    @contextmanager
    def _inputs_kept(self, *, look: bool) -> Iterator[list[str]]:
        """Detect changed inputs if ``look``; restore them also after an exception."""
        changed: list[str] = []
        try:
            yield changed
        except BaseException:
            with suppress(Exception):  # why it failed says more
                self.changed()
            raise
        if look:
            changed += self.changed()
