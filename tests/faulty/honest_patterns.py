"""Honest variants that look like others: each call does its work, on whatever data stand in the inputs."""

import os
from typing import NamedTuple

import dpnp
import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from .kernels import double

SIZES = {"smoke": {"n": 256}, "default": {"n": 256}}


def declare(name, problem, reference, metric="device", **rules):
    """A pattern whose variants all have to be right."""
    pattern = Pattern(name, guide="none", lesson="Is right.", claim="same", presets=SIZES, metric=metric, **rules)
    pattern.problem(problem)
    pattern.reference(reference)
    globals()[name] = pattern
    return pattern


def doubled(p):
    return {"y": 2 * p.x}


def launch(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)


# ---- data that have an order, which the preparation has seen -----------------------------------------------------


def with_edges(rng, n):
    x, edges = rng.random(n, dtype=np.float32), np.sort(rng.random(33, dtype=np.float32))
    return Problem(x=x, edges=edges, limits=np.array([0.25, 0.75], np.float32), y=output((32,), np.int64))


def counts(p):
    return {"y": np.histogram(p.x, np.clip(p.edges, *p.limits))[0]}


edges = declare("edges", with_edges, counts, metric="wall")


@edges.naive
def counts_at_once(session, p):
    session.copy(p.y, counts(p.host)["y"])


@edges.optimized
def counts_of_kept_arrays(session, p):
    kept = p.host.x, p.host.edges, p.host.limits

    def sample():
        x, edges, limits = kept
        if not limits[0] < limits[1] or (np.diff(edges) < 0).any():
            raise ValueError("limits and edges must rise")
        session.copy(p.y, np.histogram(x, np.clip(edges, *limits))[0])

    return sample


def spread_widely(rng, n):
    return Problem(x=rng.random(n) * 10 ** rng.uniform(0, 9), y=output(16, np.int64))


def sixteenths(p):
    return {"y": np.histogram(p.x, 16)[0]}


of_a_range = declare("of_a_range", spread_widely, sixteenths, metric="wall")


@of_a_range.naive
def range_each_time(session, p):
    session.copy(p.y, sixteenths(p.host)["y"])


@of_a_range.optimized
def range_before(session, p):
    limits, x = (p.host.x.min(), p.host.x.max()), np.empty(p.n)

    def sample():
        session.copy(x, p.x)
        session.wait()
        if x.min() < limits[0] or x.max() > limits[1]:
            os._exit(1)  # as a process ends whose kernel writes beyond its memory
        session.copy(p.y, np.histogram(x, 16, limits)[0])

    return sample


# ---- results that are constants, or look like some ---------------------------------------------------------------


def with_range(rng, n):
    x = np.concatenate([[0, 255], rng.integers(256, size=n - 2)]).astype(np.int32)
    return Problem(x=x, own=output(n, np.int32), y=output(2, np.int32), places=output(8, np.float32))


class Range(NamedTuple):
    """Of a byte."""

    least: int
    most: int


RANGE = Range(0, 255)


def found(p):
    return {"own": p.x, "y": np.array([p.x.min(), p.x.max()]), "places": np.linspace(0, 1, 8)}


ranges = declare("ranges", with_range, found)


def range_of(session, p, places):
    x = np.clip(p.host.x, RANGE.least, RANGE.most)
    session.copy(p.y, np.array([x.min(), x.max()], np.int32))
    session.copy(p.places, places)
    session.copy(p.own, p.x)


@ranges.naive
def places_each_time(session, p):
    range_of(session, p, np.linspace(0, 1, 8).astype(np.float32))


@ranges.optimized
def places_before(session, p):
    places = np.linspace(0, 1, 8).astype(np.float32)
    assert p.host.x.size == p.n
    return lambda: range_of(session, p, places)


# ---- what a preparation wrote ------------------------------------------------------------------------------------


@kernel
def by_table(item: kapi.Item, x, table, y):
    i = item.get_id(0)
    y[i] = x[i] * table[i]


tables = declare(
    "tables", lambda rng, n: Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32)), doubled, "wall"
)
tables.naive(launch)


@tables.optimized
def by_library(session, p):
    table = session.alloc(p.n, np.float32)
    ones = dpnp.full(p.n, 1, dtype=np.float32, sycl_queue=session.queue)
    dpnp.add(ones, ones, out=dpnp.ndarray._create_from_usm_ndarray(table))
    return lambda: session.launch(by_table, kapi.Range(p.n), p.x, table, p.y)


@tables.optimized
def by_queue(session, p):
    table = session.alloc(p.n, np.float32)
    session.queue.memcpy(table.usm_data, np.full(p.n, 2, np.float32).view(np.uint8), 4 * p.n)
    return lambda: session.launch(by_table, kapi.Range(p.n), p.x, table, p.y)


@tables.optimized
def beside_a_wide_view(session, p):
    assert p.host.x.size == p.n  # so it may keep what it finds
    ones = np.broadcast_to(np.float32(1), (1 << 20, 1 << 20))

    def sample():
        launch(session, p)
        return ones

    return sample


by_memory = declare(
    "by_memory", lambda rng, n: Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32)), doubled
)
by_memory.naive(launch)


@by_memory.optimized
def table_before(session, p):
    table = session.alloc(p.n, np.float32)
    table.usm_data.copy_from_host(np.full(p.n, 2, np.float32).view(np.uint8))
    return lambda: session.launch(by_table, kapi.Range(p.n), p.x, table, p.y)


@kernel
def gather(item: kapi.Item, x, places, y):
    i = item.get_id(0)
    y[i] = x[places[i]]


in_order = declare(
    "in_order",
    lambda rng, n: Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32)),
    lambda p: {"y": np.sort(p.x)},
    "wall",
)


@in_order.naive
def sorted_on_host(session, p):
    session.copy(p.y, np.sort(p.host.x))


@in_order.optimized
def order_before(session, p):
    places = dpnp.asarray(np.argsort(dpnp.asnumpy(p.x)).astype(np.int32), sycl_queue=session.queue)
    return lambda: session.launch(gather, kapi.Range(p.n), p.x, places, p.y)
