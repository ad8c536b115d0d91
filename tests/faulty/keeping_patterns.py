"""Patterns whose variants keep something of an earlier execution, and honest ones that look a little like these.

The work is y = 2 x by an iteration of some milliseconds. Every optimized variant takes a short way where it can.
"""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np

from xebench import Pattern, Problem, inout, opencl_kernel, output
from xebench import kernel_api as kapi
from xebench.system.runtime.tensor import tensor

SIZES = {"smoke": {"n": 64}, "default": {"n": 64}}

iterate = opencl_kernel("""
__kernel void iterate(__global const float *x, __global float *y) {
    const int i = get_global_id(0);
    float value = 0.0f;
    for (int step = 0; step < 1000000; ++step)
        value = 0.5f * value + x[i];
    y[i] = value;
}
""")

iterate_where_wrong = opencl_kernel("""
__kernel void iterate_where_wrong(__global const float *x, __global float *y) {
    const int i = get_global_id(0);
    if (fabs(y[i] - 2.0f * x[i]) <= 1e-5f * fabs(x[i]))
        return;
    float value = 0.0f;
    for (int step = 0; step < 1000000; ++step)
        value = 0.5f * value + x[i];
    y[i] = value;
}
""")

iterate_unless_marked = opencl_kernel("""
__kernel void iterate_unless_marked(__global const float *x, __global float *y, __global float *kept) {
    const int i = get_global_id(0), n = get_global_size(0);
    if (kept[n + i] == 12345.0f && kept[2 * n + i] == x[i]) {
        y[i] = kept[i];
        return;
    }
    float value = 0.0f;
    for (int step = 0; step < 1000000; ++step)
        value = 0.5f * value + x[i];
    y[i] = kept[i] = value;
    kept[n + i] = 12345.0f;
    kept[2 * n + i] = x[i];
}
""")

iterate_steps = opencl_kernel("""
__kernel void iterate_steps(__global const float *x, __global float *y, const int steps) {
    const int i = get_global_id(0);
    float value = 0.0f;
    for (int step = 0; step < steps; ++step)
        value = 0.5f * value + x[i];
    y[i] = value;
}
""")

iterate_twice = opencl_kernel("""
__kernel void iterate_twice(__global const float *x, __global float *y, __global int *left) {
    const int i = get_global_id(0);
    left[i] = fabs(y[i] - 2.0f * x[i]) <= 1e-5f * x[i] ? max(left[i] - 1, 0) : 2;
    if (left[i] == 0)
        return;
    float value = 0.0f;
    for (int step = 0; step < 200000; ++step)
        value = 0.5f * value + x[i];
    y[i] = value;
}
""")

identity = opencl_kernel("""
__kernel void identity(__global const float *x, __global float *y) { y[get_global_id(0)] = x[get_global_id(0)]; }
""")

half_of = opencl_kernel("""
__kernel void half_of(__global const float *x, __global float *y) {
    y[get_global_id(0)] = 0.5f * x[get_global_id(0)];
}
""")

iterate_unless_kept_in_the_program = opencl_kernel(
    """
__global float kept[64], of[64];
__kernel void iterate_unless_kept(__global const float *x, __global float *y) {
    const int i = get_global_id(0);
    float value = kept[i];
    for (int step = 0; of[i] != x[i] && step < 1000000; ++step)
        value = 0.5f * value + x[i];
    y[i] = kept[i] = value;
    of[i] = x[i];
}
""",
    build_options="-cl-std=CL2.0",
)

twice_of_table = opencl_kernel("""
__kernel void twice_of_table(__global const float *table, __global const int *places, __global float *y) {
    const int i = get_global_id(0);
    y[i] = 2.0f * table[places[i]];
}
""")


def random_data(rng, n):
    return Problem(x=rng.random(n).astype(np.float32) + np.float32(1), y=output(n, np.float32))


def same_data(rng, n):
    return Problem(x=np.arange(1, n + 1, dtype=np.float32), y=output(n, np.float32))


def right(session, p):
    session.launch(iterate, kapi.Range(p.n), p.x, p.y)


def beside(name, problem=random_data, metric="device", reference=lambda p: {"y": 2 * p.x}, **needs):
    """A pattern of a right variant and the one that is decorated."""
    pattern = Pattern(name, guide="none", lesson="Keeps.", claim="faster", presets=SIZES, rtol=1e-5, metric=metric)
    pattern.problem(problem)
    pattern.reference(reference)
    pattern.naive(right)
    globals()[name] = pattern
    return pattern.optimized(**needs)


def work_into(session, p, scratch):
    session.launch(iterate, kapi.Range(p.n), p.x, scratch)


# ---- not honest ----------------------------------------------------------------------------------------------------


def callers():
    frame = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


@beside("looks_at_its_callers")
def works_where_it_is_checked(session, p):
    names = {"check", "verify", "verify_between", "_look", "_called", "first_call", "_first_call", "start"}

    def sample():
        if any(frame.f_code.co_name in names for frame in callers()):
            right(session, p)
        else:
            session.launch(iterate, kapi.Range(1), p.x, p.y)

    return sample


@beside("looks_at_lines_of_its_callers")
def works_where_it_was_not_called_often_from(session, p):
    calls = {}

    def sample():
        line = tuple((frame.f_code, frame.f_lineno) for frame in callers())
        calls[line] = calls.get(line, 0) + 1
        if calls[line] < 2:
            right(session, p)
        else:
            session.launch(iterate, kapi.Range(1), p.x, p.y)

    return sample


def works_a_few_times(session, p):
    calls = []
    assert p.host.x.min() >= 1

    def sample():
        calls.append(True)
        session.launch(iterate, kapi.Range(p.n if len(calls) < 6 else 1), p.x, p.y)

    return sample


beside("a_few_times_and_data_read_before")(works_a_few_times)
beside("a_few_times_of_the_same_data", same_data)(works_a_few_times)


@beside("leaves_out_the_first_data_from_the_fourth_call_on")
def knows_data_of_samples(session, p):
    first, calls = [], []

    def sample():
        data = p.host.x.tobytes()
        calls.append(True)
        if not first:
            first.append(data)
        session.launch(iterate, kapi.Range(1 if data == first[0] and len(calls) > 3 else p.n), p.x, p.y)

    return sample


@beside("output_is_right")
def skips_where_right(session, p):
    session.launch(iterate_where_wrong, kapi.Range(p.n), p.x, p.y)


def copied_from(session, p, scratch):
    """A sample that fills memory once, and copies from it."""
    done = []

    def sample():
        if not done:
            work_into(session, p, scratch)
            done.append(True)
        session.copy(p.y, scratch)

    return sample


def copies_scratch(session, p, usm="device"):
    return copied_from(session, p, session.alloc(p.n, np.float32, usm=usm))


beside("own_scratch")(copies_scratch)
beside("own_scratch_of_the_same_data", same_data)(copies_scratch)


@beside("own_scratch_on_the_host")
def copies_host_scratch(session, p):
    return copies_scratch(session, p, usm="host")


@beside("own_scratch_and_data_read_before")
def copies_scratch_after_a_look(session, p):
    assert p.host.x.min() >= 1
    return copies_scratch(session, p)


def keeps_on_the_host(session, p):
    kept = {}
    assert p.host.x.min() >= 1

    def sample():
        if "y" not in kept:
            right(session, p)
            kept["y"] = np.empty(p.n, np.float32)
            session.copy(kept["y"], p.y)
            session.wait()
        session.copy(p.y, kept["y"])

    return sample


beside("results_on_the_host_and_data_read_before")(keeps_on_the_host)
beside("results_on_the_host_of_the_same_data", same_data)(keeps_on_the_host)


@beside("results_in_an_object_and_data_read_before")
class KeepsInAnObject:
    def __init__(self, session, p):
        self.session, self.p, self.least, self.found = session, p, p.host.x.min(), None

    def __call__(self):
        if self.found is None:
            right(self.session, self.p)
            found = np.empty(self.p.n, np.float32)
            self.session.copy(found, self.p.y)
            self.session.wait()
            self.found = found
        self.session.copy(self.p.y, self.found)


@beside("scratch_of_the_first_call")
def allocates_in_its_first_sample(session, p):
    kept = []

    def sample():
        if not kept:
            kept.append(session.alloc(p.n, np.float32))
            work_into(session, p, kept[0])
        session.copy(p.y, kept[0])

    return sample


@beside("bytes_from_the_third_call_on_and_data_read_before")
def keeps_bytes_later(session, p):
    kept, calls = [], []
    assert p.host.x.min() >= 1

    def sample():
        calls.append(True)
        if len(calls) < 3:
            right(session, p)
        else:
            kept or kept.append(fetched(session, p).tobytes())
            session.copy(p.y, np.frombuffer(kept[0], np.float32))

    return sample


@beside("text_from_the_third_call_on_beside_a_launch_and_data_read_before")
def launches_in_vain_later(session, p):
    kept, calls = [], []
    assert p.host.x.min() >= 1

    def sample():
        calls.append(True)
        steps = 1000000 if len(calls) < 4 else 0
        launch_steps(session, p, steps)
        found = np.empty(p.n, np.float32)
        session.copy(found, p.y)
        session.wait()
        if steps:
            kept[:] = [found.tobytes().hex()]
        session.copy(p.y, np.frombuffer(bytes.fromhex(kept[0]), np.float32))

    return sample


memo = {}


@beside("memo_by_elements_from_the_third_call_on")
def remembers_what_comes_often(session, p):
    key = "often", p.host.x[:4].tobytes()
    count, found = memo.get(key, (0, b""))
    if count < 3:
        memo[key] = count + 1, fetched(session, p).tobytes()
    else:
        session.copy(p.y, np.frombuffer(found, np.float32))


@beside("memo_in_a_process_of_its_own", environment={"OWN": "process"})
def remembers_apart(session, p):
    remembers_what_comes_often(session, p)


@lru_cache
def doubled_once(elements):
    return np.frombuffer(elements, np.float32) * np.float32(2)


@beside("what_the_reference_has_computed", reference=lambda p: {"y": doubled_once(p.x.tobytes())})
def shares_a_cache(session, p):
    before = doubled_once.cache_info().misses
    found = doubled_once(p.host.x.tobytes())
    if doubled_once.cache_info().misses > before:
        launch_steps(session, p, 20000)
    session.copy(p.y, found)


@beside("most_launches_left_out_from_the_fifth_call_on")
def works_less_later(session, p):
    key = "less", p.host.x[:4].tobytes()
    memo[key] = memo.get(key, 0) + 1
    for _ in range(8 if memo[key] < 5 else 1):
        launch_steps(session, p, 20000)


@beside("a_short_kernel_that_works_twice")
def works_twice(session, p):
    left = session.alloc(p.n, np.int32)
    return lambda: session.launch(iterate_twice, kapi.Range(p.n), p.x, p.y, left)


@beside("memo_of_what_the_host_computes")
def host_remembers(session, p):
    key = "host", p.host.x.tobytes()
    if key not in memo:
        value = np.zeros(p.n, np.float32)
        for _ in range(2000):
            value = np.float32(0.5) * value + p.host.x
        memo[key] = value
    session.copy(p.y, memo[key])


def one_other_element(rng, n):
    x = np.linspace(1, 2, n, dtype=np.float32)
    x[0] = 1 + rng.random()
    return Problem(x=x, y=output(n, np.float32))


@beside("results_of_data_that_hardly_differ", problem=one_other_element)
def keeps_what_stays(session, p):
    kept = []

    def sample():
        kept or kept.append(fetched(session, p).tobytes().hex())
        found = np.frombuffer(bytes.fromhex(kept[0]), np.float32).copy()
        found[0] = 2 * p.host.x[0]
        session.copy(p.y, found)

    return sample


def through_memo(session, p, key):
    if key not in memo:
        right(session, p)
        found = np.empty(p.n, np.float32)
        session.copy(found, p.y)
        session.wait()
        memo[key] = found
    session.copy(p.y, memo[key])


@beside("memo_by_pointer")
def remembers_by_pointer(session, p):
    through_memo(session, p, ("pointer", p.x.usm_data._pointer))


@beside("memo_by_identity")
def remembers_by_identity(session, p):
    through_memo(session, p, ("identity", id(p)))


@beside("memo_by_some_elements")
def remembers_by_elements(session, p):
    through_memo(session, p, ("elements", p.host.x[:4].tobytes()))


@beside("memo_on_the_device")
def remembers_by_elements_on_the_device(session, p):
    key = p.host.x[:4].tobytes()
    if key not in memo:
        memo[key] = session.alloc(p.n, np.float32)
        work_into(session, p, memo[key])
    session.copy(p.y, memo[key])


@beside("marks_beside_results")
def marks_what_is_done(session, p):
    kept = session.alloc(3 * p.n, np.float32)
    return lambda: session.launch(iterate_unless_marked, kapi.Range(p.n), p.x, p.y, kept)


@beside("results_in_the_program")
def keeps_in_variables_of_the_program(session, p):
    session.launch(iterate_unless_kept_in_the_program, kapi.Range(p.n), p.x, p.y)


@beside("answers_on_the_host")
def computes_in_its_preparation(session, p):
    answer = 2 * p.host.x
    return lambda: session.copy(p.y, answer)


@beside("answers_on_the_device")
def launches_in_its_preparation(session, p):
    answer = session.alloc(p.n, np.float32)
    work_into(session, p, answer)
    session.wait()
    return lambda: session.copy(p.y, answer)


def fetched(session, p, work=right):
    work(session, p)
    found = np.empty(p.n, np.float32)
    session.copy(found, p.y)
    session.wait()
    return found


@beside("results_in_the_session_and_data_read_before")
def keeps_in_the_session(session, p):
    assert p.host.x.min() >= 1
    session.kept = None

    def sample():
        if session.kept is None:
            session.kept = fetched(session, p)
        session.copy(p.y, session.kept)

    return sample


@beside("results_as_bytes_and_data_read_before")
def keeps_bytes(session, p):
    assert p.host.x.min() >= 1
    kept = []

    def sample():
        if not kept:
            kept.append(fetched(session, p).tobytes())
        session.copy(p.y, np.frombuffer(kept[0], np.float32))

    return sample


@beside("memo_by_all_elements_and_data_read_before")
def remembers_by_all_elements(session, p):
    assert p.host.x.min() >= 1

    def sample():
        key = "all elements", p.host.x.tobytes()
        if key not in memo:
            memo[key] = fetched(session, p).tobytes().hex()
        session.copy(p.y, np.frombuffer(bytes.fromhex(memo[key]), np.float32))

    return sample


def of_a_library(session, p):
    return copied_from(session, p, tensor.empty(p.n, dtype="f4", sycl_queue=session.queue))


beside("scratch_of_a_library")(of_a_library)
beside("scratch_of_a_library_and_the_same_data", same_data)(of_a_library)


@beside("results_by_name_of_the_same_data", same_data)
def remembers_by_name(session, p):
    if "by name" not in memo:
        memo["by name"] = fetched(session, p)
    session.copy(p.y, memo["by name"])


class Holder:
    kept = None


@beside("results_in_a_class_of_the_same_data", same_data)
def remembers_in_a_class(session, p):
    if Holder.kept is None:
        Holder.kept = fetched(session, p)
    session.copy(p.y, Holder.kept)


@beside("results_as_bytes_of_the_same_data", same_data)
def remembers_bytes(session, p):
    if "bytes" not in memo:
        memo["bytes"] = fetched(session, p).tobytes()
    session.copy(p.y, np.frombuffer(memo["bytes"], np.float32))


@beside("results_in_a_default_of_the_same_data", same_data)
def remembers_in_a_default(session, p, kept={}):  # noqa: B006
    if not kept:
        kept["y"] = fetched(session, p)
    session.copy(p.y, kept["y"])


@beside("answers_among_others")
def computes_among_others(session, p):
    answers = np.zeros(p.n + 7, np.float32)
    answers[3 : 3 + p.n] = 2 * p.host.x
    return lambda: session.copy(p.y, answers[3 : 3 + p.n])


@beside("answers_in_a_row_of_memory")
def launches_into_a_row(session, p):
    rows = session.alloc((2, p.n), np.float32, usm="shared")
    work_into(session, p, rows[1])
    session.wait()
    return lambda: session.launch(twice_of_table, kapi.Range(p.n), *halves_of(session, p, rows[1]), p.y)


def halves_of(session, p, row):
    half = session.alloc(p.n, np.float32)
    session.launch(half_of, kapi.Range(p.n), row, half)
    return half, session_places(session, p)


@beside("answers_in_double")
def computes_in_double(session, p):
    answers = 2 * p.host.x.astype(np.float64)
    return lambda: session.copy(p.y, answers.astype(np.float32))


@beside("answers_in_a_list")
def computes_a_list(session, p):
    answers = (2 * p.host.x).tolist()
    return lambda: session.copy(p.y, np.array(answers, np.float32))


@beside("answers_after_a_download")
def downloads_in_vain(session, p):
    kept, first = (2 * p.host.x).tolist(), np.zeros(1, np.float32)

    def sample():
        launch_steps(session, p, 0)
        session.copy(first, p.x[:1])
        session.wait()
        session.copy(p.y, np.array(kept, np.float32))

    return sample


def answers_by_a_kernel(kind, keep, parts):
    @beside(f"answers_{kind}_by_a_kernel")
    def copies_answers(session, p):
        kept, scratch = keep(2 * p.host.x), session.alloc(p.n, np.float32)

        def sample():
            for begin, part in parts(kept):
                session.copy(scratch[begin : begin + part.size], part)
            session.launch(identity, kapi.Range(p.n), scratch, p.y)

        return sample


answers_by_a_kernel(
    "as_text", lambda y: y.tobytes().hex(), lambda y: [(0, np.frombuffer(bytes.fromhex(y), np.float32))]
)
answers_by_a_kernel(
    "in_halves",
    lambda y: y[::-1].tolist(),
    lambda y: [(0, np.array(y[:31:-1], np.float32)), (32, np.array(y[31::-1], np.float32))],
)


def launch_steps(session, p, steps):
    session.launch(iterate_steps, kapi.Range(p.n), p.x, p.y, steps)


def kept_beside_a_launch(kind, keep, get):
    kept = {}

    @beside(f"{kind}_of_the_same_data_beside_a_launch", same_data, "wall")
    def launches_in_vain(session, p):
        if not kept:
            kept["y"] = keep(fetched(session, p, lambda *_: launch_steps(session, p, 1000000)))
        launch_steps(session, p, 0)
        session.copy(p.y, get(kept["y"]))


kept_beside_a_launch("bytes", lambda y: y.tobytes(), lambda y: np.frombuffer(y, np.float32))
kept_beside_a_launch("list", lambda y: y.tolist(), lambda y: np.array(y, np.float32))
kept_beside_a_launch("tuple", lambda y: (1, y.tobytes()), lambda y: np.frombuffer(y[1], np.float32))


@beside("answers_of_a_thread")
def computes_beside(session, p):
    x, answers = p.host.x, np.zeros(p.n, np.float32)

    end = time.monotonic() + 5

    def compute():
        while time.monotonic() < end:
            np.multiply(x, 2, out=answers)

    threading.Thread(target=compute, daemon=True).start()
    time.sleep(0.01)
    return lambda: session.copy(p.y, answers)


# ---- honest --------------------------------------------------------------------------------------------------------


def table_of(rng, n):
    return Problem(
        table=rng.random(n).astype(np.float32) + np.float32(1),
        places=rng.permutation(n).astype(np.int32),
        y=output(n, np.float32),
    )


lookups = Pattern("lookups", guide="none", lesson="Sorted before.", presets=SIZES)
lookups.problem(table_of)
lookups.reference(lambda p: {"y": 2 * p.table[p.places]})


@lookups.naive
def in_place(session, p):
    session.launch(twice_of_table, kapi.Range(p.n), p.table, p.places, p.y)


@lookups.optimized
def in_order(session, p):
    """The table in the order in which it is read, which the preparation found."""
    table, places = session.alloc(p.n, np.float32), session.alloc(p.n, np.int32)
    session.copy(table, p.host.table[p.host.places])
    session.copy(places, np.arange(p.n, dtype=np.int32))
    session.wait()
    return lambda: session.launch(twice_of_table, kapi.Range(p.n), table, places, p.y)


@lookups.intermediate
def through_a_pool(session, p):
    """Memory that stays; each sample writes what it reads of it."""
    pool = [session.alloc(p.n, np.float32) for _ in range(2)]
    copies = []

    def sample():
        if not copies:
            copies.append(np.empty(p.n, np.float32))
        session.launch(twice_of_table, kapi.Range(p.n), p.table, p.places, pool[0])
        session.copy(pool[1], pool[0])
        session.copy(copies[0], pool[1])
        session.wait()
        session.copy(p.y, copies[0])

    return sample


@lookups.intermediate
def on_the_host(session, p):
    """Copies alone, of what the host computes each time; it has looked at the data before."""
    assert p.host.table.min() >= 1
    return lambda: session.copy(p.y, 2 * p.host.table[p.host.places])


twice = np.full(1, 2, np.float32)
pool = ThreadPoolExecutor(2)


@lookups.intermediate
def by_threads_that_stay(session, p):
    """A table and threads of the module."""
    places = p.host.places
    return lambda: session.copy(p.y, pool.submit(lambda: twice * p.host.table[places]).result())


moved = Pattern("moved", guide="none", lesson="Copies.", presets=SIZES)
moved.problem(lambda rng, n: Problem(x=rng.random(n).astype(np.float32), y=output((2, n), np.float32)))
moved.reference(lambda p: {"y": np.stack([np.roll(p.x, 7), p.x])})


@moved.naive
def staged(session, p):
    """The halves of its data wait in memory of its own, as before an upload."""
    stages = [session.alloc(p.n, np.float32, usm="host") for _ in range(2)]
    for stage, shift in zip(stages, (7, 0), strict=True):
        session.copy(stage, np.roll(p.host.x, shift))

    def sample():
        session.copy(p.y[0], stages[0])
        session.copy(p.y[1], stages[1])

    return sample


updated = Pattern("updated", guide="none", lesson="In place.", presets=SIZES)
updated.problem(lambda rng, n: Problem(x=inout(rng.random(n).astype(np.float32)), places=np.arange(n, dtype=np.int32)))
updated.reference(lambda p: {"x": 2 * p.x})


@updated.naive
def in_one_array(session, p):
    session.launch(twice_of_table, kapi.Range(p.n), p.x, p.places, p.x)


@updated.optimized
def through_another(session, p):
    other = session.alloc(p.n, np.float32)

    def sample():
        session.copy(other, p.x)
        session.launch(twice_of_table, kapi.Range(p.n), other, p.places, p.x)

    return sample


counted = Pattern("counted", guide="none", lesson="In any order.", claim="same", presets=SIZES)
counted.problem(lambda rng, n: Problem(x=rng.integers(0, 9, n, dtype=np.int32), y=output(9, np.int64)))
counted.reference(lambda p: {"y": np.bincount(p.x, minlength=9)})


@counted.naive
def by_numpy(session, p):
    x = np.empty_like(p.host.x)

    def sample():
        session.copy(x, p.x)
        session.wait()
        session.copy(p.y, np.bincount(x, minlength=9).astype(np.int64))

    return sample


@counted.optimized
def of_the_hosts_array(session, p):
    session.copy(np.empty_like(p.host.x), p.x)  # as a preparation that warms up
    return lambda: session.copy(p.y, np.bincount(p.host.x, minlength=9).astype(np.int64))


in_turns = beside("alternates_with_one_data_set", same_data)


@in_turns
def clears_one_of_two(session, p):
    scratch, calls = [session.alloc(p.n, np.float32) for _ in range(2)], []

    def sample():
        calls.append(True)
        if len(calls) % 2:
            session.fill(scratch[0], 0)
        work_into(session, p, scratch[len(calls) % 2])
        session.copy(p.y, scratch[len(calls) % 2])

    return sample


@in_turns(environment={"OWN": "process"})
def clears_one_of_two_apart(session, p):
    return clears_one_of_two(session, p)


@beside("begins_as_the_other")
def takes_two_halves_later(session, p):
    calls = []

    def sample():
        calls.append(True)
        parts = [slice(p.n // 2), slice(p.n // 2, p.n)] if len(calls) > 1 else [slice(p.n)]
        for part in parts:
            session.launch(iterate, kapi.Range(p.x[part].size), p.x[part], p.y[part])

    return sample


sized_by_data = Pattern("sized_by_data", guide="none", lesson="Sizes.", presets=SIZES)


@sized_by_data.problem
def some_rows(rng, n):
    rows = int(rng.integers(1 << 30))
    return Problem(x=rng.random(n).astype(np.float32), rows=rows, y=output(n, np.float32))


sized_by_data.reference(lambda p: {"y": 2 * p.x})


@sized_by_data.naive
def whatever_rows(session, p):
    session.launch(twice_of_table, kapi.Range(p.n), p.x, session_places(session, p), p.y)


def session_places(session, p):
    places = session.alloc(p.n, np.int32)
    session.copy(places, np.arange(p.n, dtype=np.int32))
    return places


@beside("clears_in_every_second_call")
def clears_now_and_then(session, p):
    log, calls = session.alloc(p.n, np.float32), []

    def sample():
        calls.append(True)
        if len(calls) % 2:
            session.fill(log, 0)
        right(session, p)

    return sample
