"""Patterns whose authors were careless: with inputs, with outputs, and with what their functions return."""

import numpy as np

from xebench import Pattern, Problem, device_func, inout, kernel, output
from xebench import kernel_api as kapi

from .kernels import change_last, double, double_and_one_more, double_even, double_where_nan, halve_in_place

BYTES = 3  # of an input that no kernel needs


def declare(name, **options):
    sizes = {"n": 64}
    return Pattern(name, guide="none", lesson="Careless.", presets={"smoke": sizes, "default": sizes}, **options)


def in_and_out(rng, n):
    return Problem(
        x=rng.random(n).astype(np.float32),
        big=np.arange(BYTES).astype(np.uint8),
        y=output(n, np.float32),
    )


def doubled(p):
    return {"y": 2 * p.x}


def right(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)


def right_too(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)


def spoils(session, p):
    session.launch(halve_in_place, kapi.Range(p.n), p.x, p.y)


# the naive side updates its input: every later call has less to do
spoils_input = declare("spoils_input")
spoils_input.problem(in_and_out)
spoils_input.reference(doubled)
spoils_input.naive(spoils)
spoils_input.intermediate(right)
spoils_input.optimized(right_too)


spoils_large_input = declare("spoils_large_input")
spoils_large_input.problem(in_and_out)
spoils_large_input.reference(doubled)
spoils_large_input.naive(right)


@spoils_large_input.optimized
def changes_the_last_byte(session, p):
    right(session, p)
    session.launch(change_last, kapi.Range(1), p.big)


# the input is changed by the first sample, when everything has been found right
spoils_later = declare("spoils_later")
spoils_later.problem(in_and_out)
spoils_later.reference(doubled)
spoils_later.naive(right)


@spoils_later.optimized
def spoils_once(session, p):
    calls = []

    def sample():
        calls.append(1)
        session.launch(double, kapi.Range(p.n), p.x, p.y)
        if len(calls) == 2:
            session.fill(p.x, 0)

    return sample


spoils_new_instance = declare("spoils_new_instance")
spoils_new_instance.problem(in_and_out)
spoils_new_instance.reference(doubled)
spoils_new_instance.naive(right)
prepared = []


@spoils_new_instance.optimized
def spoils_when_prepared_again(session, p):
    prepared.append(1)
    if len(prepared) > 1:
        session.fill(p.x, 0)
    return lambda: right(session, p)


spoils_and_fails = declare("spoils_and_fails")
spoils_and_fails.problem(in_and_out)
spoils_and_fails.reference(doubled)


@spoils_and_fails.naive
def fails(session, p):
    session.fill(p.x, 0)
    session.wait()
    raise RuntimeError("after it changed x")


spoils_and_fails.optimized(right)

# another name for an array of the problem
swaps = declare("swaps")
swaps.problem(in_and_out)
swaps.reference(doubled)
swaps.naive(right)


@swaps.optimized
def swaps_arrays(session, p):
    right(session, p)
    p.x, p.y = p.y, p.x


changes_host_input = declare("changes_host_input")
changes_host_input.problem(in_and_out)
changes_host_input.reference(doubled)
changes_host_input.naive(right)


@changes_host_input.optimized
def scales_on_the_host(session, p):
    x = p.host.x
    x *= 2
    session.copy(p.y, x)


@changes_host_input.intermediate
def copies_into_the_host(session, p):
    right(session, p)
    session.copy(p.host.x, p.y)


reference_in_place = declare("reference_in_place")
reference_in_place.problem(in_and_out)
reference_in_place.naive(right)


@reference_in_place.reference
def scale_in_place(p):
    x = p.x
    x *= 2
    return {"y": x}


# arrays of the author's own, which the problem was made of
captured = declare("captured")
mine = np.arange(1, 65, dtype=np.float32)
captured.problem(lambda rng, n: Problem(x=mine, y=output(n, np.float32)))
captured.reference(doubled)
captured.naive(right)


@captured.optimized
def changes_its_own_array(session, p):
    mine[:] += 1
    right(session, p)


# ---- outputs ------------------------------------------------------------------------------------------------------


writes_when_nan = declare("writes_when_nan")
writes_when_nan.problem(in_and_out)
writes_when_nan.reference(doubled)
writes_when_nan.naive(right)


@writes_when_nan.optimized
def writes_where_it_sees_nan(session, p):
    session.launch(double_where_nan, kapi.Range(p.n), p.x, p.y)


beyond_the_end = declare("beyond_the_end")
beyond_the_end.problem(in_and_out)
beyond_the_end.reference(doubled)
beyond_the_end.naive(right)


@beyond_the_end.optimized
def writes_beyond(session, p):
    session.launch(double_and_one_more, kapi.Range(p.n), p.x, p.y)


@beyond_the_end.optimized
def writes_beyond_its_scratch(session, p):
    scratch = session.alloc(p.n, np.float32)

    def sample():
        session.launch(double_and_one_more, kapi.Range(p.n), p.x, scratch)
        session.copy(p.y, scratch)

    return sample


left_out = declare("left_out")
left_out.problem(in_and_out)
left_out.reference(doubled)
left_out.naive(right)


@left_out.optimized
def whole_groups_alone(session, p):
    session.launch(double, kapi.Range(p.n // 16 * 16), p.x, p.y)


def twice_of_rows(session, p):
    session.launch(double, kapi.Range(p.rows), p.x, p.y)


def tail_dropped(session, p):
    session.launch(double, kapi.Range(p.rows // 16 * 16), p.x, p.y)


def of_rows(name, size):
    sizes = {"rows": size, "steps": 4}
    pattern = Pattern(name, guide="none", lesson="Careless.", presets={"smoke": sizes, "default": sizes})
    pattern.problem(lambda rng, rows, steps: Problem(x=rng.random(rows).astype(np.float32), y=output(rows, np.float32)))
    pattern.reference(doubled)
    return pattern


dropped_rows = of_rows("dropped_rows", 64)
dropped_rows.naive(twice_of_rows)
dropped_rows.optimized(tail_dropped)

dropped_by_baseline = of_rows("dropped_by_baseline", 64)
dropped_by_baseline.naive(tail_dropped)
dropped_by_baseline.optimized(twice_of_rows)

dropped_by_all = of_rows("dropped_by_all", 64)
dropped_by_all.naive(tail_dropped)


@dropped_by_all.optimized
def tail_dropped_too(session, p):
    tail_dropped(session, p)


refused = of_rows("refused", 64)


@refused.naive
def in_groups(session, p):
    kapi.NdRange((p.rows,), (16,))
    twice_of_rows(session, p)


whole_tiles = declare("whole_tiles")
whole_tiles.reference(doubled)
whole_tiles.naive(right)


@whole_tiles.problem
def of_tiles(rng, n):
    if n % 16:
        raise ValueError(f"n={n}: give a multiple of 16")
    return in_and_out(rng, n)


even_sizes = declare("even_sizes", odd_sizes={})
even_sizes.problem(in_and_out)
even_sizes.reference(doubled)
even_sizes.naive(right)
even_sizes.optimized(whole_groups_alone)


any_order = declare("any_order")
any_order.problem(in_and_out)
any_order.reference(doubled)
any_order.naive(right)
any_order.canonical(lambda results: {"y": np.sort(results["y"])})


@any_order.optimized
def backwards(session, p):
    session.copy(p.y, np.ascontiguousarray((2 * p.host.x)[::-1]))


@any_order.optimized
def others(session, p):
    session.copy(p.y, np.ascontiguousarray((3 * p.host.x)[::-1]))


any_index = declare("any_index")
any_index.problem(in_and_out)
any_index.reference(doubled)
any_index.naive(right)


@any_index.check
def at_least_twice(p, results):
    low = int((results["y"] < 2 * p.x).sum()) + int(np.isnan(results["y"]).sum())
    return f"{low} elements are below twice x" if low or results["y"].max() > 3.5 else ""


@any_index.optimized
def more_than_twice(session, p):
    session.copy(p.y, 3 * p.host.x)


@any_index.optimized
def less_than_twice(session, p):
    session.copy(p.y, p.host.x)


accepts_all = declare("accepts_all")
accepts_all.problem(in_and_out)
accepts_all.reference(doubled)
accepts_all.naive(right)
accepts_all.check(lambda p, results: "")


# nothing wrong: what is left to do depends on what it updates, not on what it writes
until_done = declare("until_done")
until_done.problem(
    lambda rng, n: Problem(x=rng.random(n).astype(np.float32), left=inout(np.full(1, 3, np.int32)), y=output(n, "f4"))
)
until_done.reference(lambda p: {"left": [0], "y": 2 * p.x})


@until_done.naive
def steps(session, p):
    left = np.empty(1, np.int32)
    session.copy(left, p.left)
    session.wait()
    for _ in range(left[0]):
        right(session, p)
    session.fill(p.left, 0)


written_in_part = declare("written_in_part", metric="wall")
written_in_part.problem(
    lambda rng, n: Problem(x=rng.random(n).astype(np.float32), y=output(n, np.float32, fill=-1), n=n)
)


@written_in_part.reference
def even_ones(p):
    y = np.full(p.n, -1.0)
    y[::2] = 2 * p.x[::2]
    return {"y": y}


@written_in_part.naive
def writes_even_ones(session, p):
    session.launch(double_even, kapi.Range(p.n // 2), p.x, p.y)


@written_in_part.optimized
def writes_even_ones_too(session, p):
    session.launch(double_even, kapi.Range(p.n // 2), p.x, p.y)


@written_in_part.intermediate
def writes_all(session, p):
    right(session, p)


# ---- what functions return ----------------------------------------------------------------------------------------


def returning(name, value):
    pattern = declare(name)
    pattern.problem(in_and_out)
    pattern.reference(lambda p: value)
    pattern.naive(right)
    return pattern


reference_none = returning("reference_none", None)
reference_list = returning("reference_list", [1, 2])
reference_empty = returning("reference_empty", {})
reference_words = returning("reference_words", {"y": "two"})

problem_dict = declare("problem_dict")
problem_dict.problem(lambda rng, n: {"y": output(n, np.float32)})
problem_dict.reference(doubled)
problem_dict.naive(right)

misspelt = declare("misspelt")
misspelt.problem(lambda rng, n: Problem(guess=rng.random(n).astype(np.float32), y=output(n, np.float32)))
misspelt.reference(lambda p: {"y": 2 * p.guess})


@misspelt.naive
def guesses(session, p):
    session.launch(double, kapi.Range(p.n), p.guesses, p.y)


@misspelt.optimized
def host_m(session, p):
    session.launch(double, kapi.Range(p.m), p.guess, p.y)


not_allowed = declare("not_allowed")
not_allowed.problem(in_and_out)
not_allowed.reference(doubled)


def plain_function(item, x, y):
    y[0] = x[0]


@not_allowed.naive
def launches_a_function(session, p):
    session.launch(plain_function, kapi.Range(p.n), p.x, p.y)


@not_allowed.optimized
def allocates_gpu(session, p):
    session.alloc(p.n, np.float32, usm="gpu")


@not_allowed.intermediate
def launches_a_device_function(session, p):
    session.launch(device_func(plain_function), kapi.Range(p.n), p.x, p.y)


@not_allowed.intermediate
def launches_over_a_tuple(session, p):
    session.launch(double, (p.n,), p.x, p.y)


@device_func
def smoothed(a, b, c):
    return np.float32(0.05) * a + np.float32(0.9) * b + np.float32(0.05) * c


@kernel
def smooth(item: kapi.Item, u, v):
    i = item.get_id(0)
    n = u.shape[0]
    v[i] = smoothed(u[max(i - 1, 0)], u[i], u[min(i + 1, n - 1)])


in_place = declare("in_place", rtol=0.03)
in_place.problem(lambda rng, n: Problem(u=inout(rng.random(n).astype(np.float32) + np.float32(1))))


@in_place.reference
def smoothed_once(p):
    u = np.pad(p.u, 1, mode="edge")
    return {"u": smoothed_on_host(u[:-2], u[1:-1], u[2:])}


def smoothed_on_host(a, b, c):
    return np.float32(0.05) * a + np.float32(0.9) * b + np.float32(0.05) * c


@in_place.naive
def by_scratch(session, p):
    scratch = session.alloc(p.n, np.float32)

    def sample():
        session.launch(smooth, kapi.Range(p.n), p.u, scratch)
        session.copy(p.u, scratch)

    return sample


@in_place.optimized
def where_it_is(session, p):
    session.launch(smooth, kapi.Range(p.n), p.u, p.u)


@kernel
def maximum_by_atomics(item: kapi.Item, x, bins, largest):
    i = item.get_id(0)
    kapi.AtomicRef(largest, bins[i]).fetch_max(x[i])


@kernel
def maximum_by_test(item: kapi.Item, x, bins, largest):
    i = item.get_id(0)
    before = largest[bins[i]]
    if before < x[i]:
        largest[bins[i]] = x[i]


maxima = declare("maxima")


@maxima.problem
def numbers_in_bins(rng, n):
    bins = rng.integers(0, 4, n, np.int32)
    return Problem(x=7 + bins, bins=bins, largest=output(4, np.int32))


@maxima.reference
def largest_of_bins(p):
    largest = np.zeros(4, np.int32)
    np.maximum.at(largest, p.bins, p.x)
    return {"largest": largest}


@maxima.naive
def with_atomics(session, p):
    session.fill(p.largest, 0)
    session.launch(maximum_by_atomics, kapi.Range(p.n), p.x, p.bins, p.largest)


@maxima.optimized
def with_a_test(session, p):
    session.fill(p.largest, 0)
    session.launch(maximum_by_test, kapi.Range(p.n), p.x, p.bins, p.largest)


@kernel
def running_sums(item: kapi.Item, rows):
    row = item.get_id(0)
    for column in range(1, rows.shape[1]):
        rows[row, column] += rows[row, column - 1]


@kernel
def swap_pairs(item: kapi.Item, rows):
    row = item.get_id(0)
    for column in range(0, rows.shape[1], 2):
        first = rows[row, column]
        rows[row, column] = rows[row, column + 1]
        rows[row, column + 1] = first


@kernel
def clear_by_all(item: kapi.NdItem, rows):
    rows[item.get_local_id(0), 0] = np.float32(0)


own_elements = declare("own_elements", rtol=1e-4, odd_sizes={})
own_elements.problem(lambda rng, n: Problem(rows=inout(rng.random((n, 8)).astype(np.float32))))


@own_elements.reference
def swapped_sums(p):
    sums = np.cumsum(p.rows, axis=1, dtype=np.float64)
    swapped = sums.reshape(p.n, 4, 2)[:, :, ::-1].reshape(p.n, 8)
    swapped[:, 0] = 0
    return {"rows": swapped.astype(np.float32)}


@own_elements.naive
def each_its_own(session, p):
    session.launch(running_sums, kapi.Range(p.n), p.rows)
    session.launch(swap_pairs, kapi.Range(p.n), p.rows)
    session.launch(clear_by_all, kapi.NdRange((4 * p.n,), (p.n,)), p.rows)


forgotten = declare("forgotten")
forgotten.problem(in_and_out)
forgotten.reference(doubled)
forgotten.naive(right)


@forgotten.optimized
def without_return(session, p):
    def sample():
        session.launch(double, kapi.Range(p.n), p.x, p.y)


@forgotten.optimized
def of_records(session, p):
    session.alloc(p.n, [("a", "f4"), ("b", "f4")])
