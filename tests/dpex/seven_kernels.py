"""Seven kernels as different as a user's are."""

import numpy as np

from numba_sycl import atomics, sub_group, vector
from xebench import Pattern, Problem, device_func, inout, kernel, output, specialize
from xebench import kernel_api as kapi

GROUP = 64


def declared(name, lesson, **more):
    return Pattern(
        name=name, guide="none", lesson=lesson, presets={"smoke": {"n": 1 << 10}, "default": {"n": 1 << 20}}, **more
    )


# a tree in local memory, one atomic addition a group

sums = declared("seven_sums", "A group adds up in local memory.", rtol=1e-4)


@kernel
def add_by_tree(item: kapi.NdItem, x, total, tile):
    i = item.get_local_id(0)
    tile[i] = x[item.get_global_id(0)]
    group = item.get_group()
    kapi.group_barrier(group, kapi.MemoryScope.WORK_GROUP)
    half = item.get_local_range(0) // 2
    while half > 0:
        if i < half:
            tile[i] += tile[i + half]
        kapi.group_barrier(group, kapi.MemoryScope.WORK_GROUP)
        half //= 2
    if i == 0:
        atomics.fetch_add(total, 0, tile[0])


@kernel
def add_each(item: kapi.NdItem, x, total):
    atomics.fetch_add(total, 0, x[item.get_global_id(0)])


@kernel
def add_by_sub_groups(item: kapi.NdItem, x, total):
    together = sub_group.reduce_add(x[item.get_global_id(0)])
    if sub_group.local_id() == 0:
        atomics.fetch_add(total, 0, together)


@sums.problem
def numbers(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), total=inout(np.zeros(1, np.float32)))


@sums.reference
def sum_of_numbers(p):
    return {"total": np.array([p.x.sum(dtype=np.float64)], np.float32)}


@sums.naive
def every_item(session, p):
    session.launch(add_each, kapi.NdRange((p.n,), (GROUP,)), p.x, p.total)


@sums.intermediate
def every_sub_group(session, p):
    session.launch(add_by_sub_groups, kapi.NdRange((p.n,), (GROUP,)), p.x, p.total)


@sums.optimized
def every_group(session, p):
    tile = kapi.LocalAccessor(GROUP, np.float32)
    session.launch(add_by_tree, kapi.NdRange((p.n,), (GROUP,)), p.x, p.total, tile)


# sub-groups, complex numbers, a device function

turned = declared("seven_turns", "Neighbours of a sub-group swap complex numbers.", axes={"sub_group_size": "device"})


@device_func
def turn(value, by):
    return np.complex64(value * by)


def make_swap(lanes):
    @kernel(sub_group_size=lanes)
    def swap(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        own = turn(x[i], np.complex64(1j))
        real = sub_group.shuffle_xor(np.float32(own.real), np.uint32(1))
        y[i] = complex(real, sub_group.shuffle_xor(np.float32(own.imag), np.uint32(1)))

    return swap


@kernel
def read_neighbour(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = turn(x[i ^ 1], np.complex64(1j))


@turned.problem
def complex_numbers(rng, n):
    return Problem(x=(rng.random(n) + 1j * rng.random(n)).astype(np.complex64), y=output(n, np.complex64))


@turned.reference
def swapped(p):
    return {"y": (p.x.reshape(-1, 2)[:, ::-1] * np.complex64(1j)).reshape(-1)}


@turned.naive
def from_memory(session, p):
    session.launch(read_neighbour, kapi.Range(p.n), p.x, p.y)


@turned.optimized
def from_registers(session, p, sub_group_size):
    session.launch(specialize(make_swap, lanes=sub_group_size), kapi.NdRange((p.n,), (GROUP,)), p.x, p.y)


# private arrays, half precision, vectors; three dimensions

sorted_rows = declared("seven_rows", "A row of four in a private array, by loads of four.")


@kernel
def sort_rows(item: kapi.Item, x, y):
    row = item.get_id(0)
    own = kapi.PrivateArray(4, np.float32)
    for j in range(4):
        own[j] = np.float32(x[4 * row + j])
    for last in range(3, 0, -1):
        for j in range(last):
            if own[j] > own[j + 1]:
                own[j], own[j + 1] = own[j + 1], own[j]
    for j in range(4):
        y[4 * row + j] = own[j]


@kernel(unroll="full")
def sort_vectors(item: kapi.NdItem, x, y):
    row = item.get_global_id(2) + item.get_global_range(2) * (
        item.get_global_id(1) + item.get_global_range(1) * item.get_global_id(0)
    )
    first = 4 * row
    a, b = np.float32(x[first]), np.float32(x[first + 1])
    c, d = np.float32(x[first + 2]), np.float32(x[first + 3])
    a, b = min(a, b), max(a, b)
    c, d = min(c, d), max(c, d)
    a, c = min(a, c), max(a, c)
    b, d = min(b, d), max(b, d)
    vector.store4(y, first, (a, min(b, c), max(b, c), d))


@sorted_rows.problem
def rows_of_halves(rng, n):
    return Problem(x=rng.random(n).astype(np.float16), y=output(n, np.float32))


@sorted_rows.reference
def rows_in_order(p):
    return {"y": np.sort(p.x.astype(np.float32).reshape(-1, 4), axis=1).reshape(-1)}


@sorted_rows.naive
def in_private_memory(session, p):
    session.launch(sort_rows, kapi.Range(p.n // 4), p.x, p.y)


@sorted_rows.optimized
def in_registers(session, p):
    session.launch(sort_vectors, kapi.NdRange((p.n // 4 // 16, 4, 4), (2, 2, 4)), p.x, p.y)
