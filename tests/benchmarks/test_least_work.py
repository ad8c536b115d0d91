"""The least work that a problem states is what its arrays carry and what its reference computes, counted in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from counting import arrays_bytes, operations_of

from xebench.measuring.bound_problem import host_view
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.patterns.plan import build_plan
from xebench.patterns.problem import Problem, inout, output
from xebench.patterns.registry import discover
from xebench.system.runtime import load

INFOS = {info.name: info for info in discover()}

#: Part by which what is stated may be below what is counted: a few counters, or a step between two loops.
LEFT_OUT = 0.05

#: A number that is stated for a reason, of the problem and its sizes, and the reason.
Stated = tuple[Callable[[Any], float], str]

OF_PARTICLES: Stated = (
    lambda p: 20 * p.targets.size * p.source_places.size + p.targets.size,
    "the reference computes each pair of places once",
)
OF_DUAL_NUMBERS: Stated = (lambda p: 26 * p.x.size // 10, "of each ten sums in y, the reference adds to zeros")

#: Bytes that are not those of each array once.
BYTES: Mapping[str, Stated] = {
    "usm_kinds": (lambda p: p.steps * 4 * 4 * p.n, "every step reads three arrays and writes one"),
    "usm_vs_buffers": (lambda p: p.steps * 2 * 4 * p.n, "every step reads the array and writes it"),
    "redundant_queue_construction": (lambda p: p.steps * 4 * p.n, "every step reads the array"),
    "buffer_scopes": (lambda p: 4 * p.n * (3 + 4 * p.rounds), "every kernel reads and writes its buffers"),
    "host_accessor_scope": (lambda p: 2 * 4 * p.n, "the host's own array is no traffic of the device"),
    "dispatch_routes": (lambda p: p.launches * 2 * 4, "every launch reads the number and writes it"),
    "kernel_launch_latency": (lambda p: p.launches * 2 * 4, "every launch reads the number and writes it"),
    "keep_queue_full": (lambda p: 2 * 4 * p.frames * p.n, "every frame reads the numbers and writes them"),
    "remove_conditionals": (lambda p: 4 * (p.n + 257 + p.n), "a variant reads the signal with zeros, or without"),
    "byte_gathers": (lambda p: (4 + 1 + 1) * p.n, "few bytes of the table are read"),
    "prefetch_indirect": (
        lambda p: 4 * (p.places.size + np.unique(p.places).size + p.work_group_size),
        "few values of the table are read",
    ),
    "early_loads": (
        lambda p: 4 * (512 * p.per_item + np.unique(p.places[:, :-2]).size + p.work_group_size),
        "few values of the table are read, and of places behind the last step none counts",
    ),
    "stencil_cacheline_utilisation": (lambda p: 4 * (6 + 1) * p.edge**3, "6 of 16 fields are read"),
}

#: Operations that are not those of the reference.
OPERATIONS: Mapping[str, Stated] = {
    "usm_kinds": (lambda p: p.steps * 3 * p.n, "the reference does all steps at once"),
    "usm_vs_buffers": (lambda p: p.steps * p.device_steps * p.n, "the reference does all steps at once"),
    "redundant_queue_construction": (lambda p: p.steps * p.n, "all steps have the same sum"),
    "accessor_modes": (lambda p: 3 * 4 * p.rounds * p.work * p.n, "the kernels add the same again and again"),
    "host_accessor_scope": (lambda p: 2 * p.device_steps * p.n, "the reference does all steps at once"),
    "concurrent_kernels": (lambda p: 3 * p.rounds * p.work * 2 * p.n, "the kernels add the same again and again"),
    "subdevice_partition": (lambda p: sum(p.passes) * p.n, "the kernels add the same again and again"),
    "keep_queue_full": (lambda p: 2 * p.frames * p.steps * p.n, "the reference does all steps at once"),
    "overlap_transfer_compute": (lambda p: 2 * p.steps * p.n, "the reference does all steps at once"),
    "ccs_modes": (lambda p: 4 * 2 * p.n**2 * p.k, "all products are of the same matrices"),
    "multiple_queues": (lambda p: p.totals[0] * p.rounds * p.work * 2 * p.n, "the kernels add the same"),
    "explicit_simd_nbody": OF_PARTICLES,
    "prefetch_nbody1d": OF_PARTICLES,
    "high_register_pressure": OF_DUAL_NUMBERS,
    "simd16_slm_barrier": OF_DUAL_NUMBERS,
    "live_ranges": (lambda p: 10 * p.series.size + 2 * p.n, "the reference computes the weights' sum twice"),
    "moderate_unrolling": (lambda p: 15 * p.x.size, "the reference begins each polynomial with a product of nothing"),
    "split_private_array": (lambda p: 5 * p.samples.size, "the reference goes over all samples for each class"),
    "ccs_mpi_dgemm": (lambda p: 2 * p.n**3, "of the product alone, which the reference need not form"),
    "atomic_order_scope": (lambda p: p.n * p.steps, "the reference multiplies"),
    "atomics_dtype": (lambda p: 10 * p.n, "the reference multiplies"),
    "prefetch_indirect": (lambda p: 3 * 64 * p.places.size, "the reference computes each root once"),
    "early_loads": (lambda p: 3 * 64 * 512 * p.per_item, "the reference computes each root once"),
}

#: Bytes between host and device that are not within those of each array once.
HOST_BYTES: Mapping[str, Stated] = {
    "mpi_line_saturation": (lambda p: 4 * p.message * p.rounds, "there and back, from and to the device each time"),
    "implicit_scaling_copies": (lambda p: 2 * 4 * p.n, "there and back; of what is back the host looks at a part"),
    "usm_vs_buffers": (
        lambda p: 2 * 4 * (p.n + (p.steps - 1) * -(-p.n // p.stride)),
        "there and back, and in between what the host touches",
    ),
}

#: Bytes through shared local memory: no array of the problem lies there.
SLM_BYTES: Mapping[str, Stated] = {
    "slm_bank_conflicts": (
        lambda p: 2 * (1 + p.steps) * 4 * p.n,
        "a word of each item is set, read and written at each step, and read",
    ),
}


def problems(name: str) -> list[tuple[Problem, Any]]:
    """A pattern's problems at smoke, each with the view that its reference has."""
    load()
    info = INFOS[name]
    pattern = find_pattern(info.source, name)
    found = []
    for family in build_plan([info], "smoke"):
        concrete = family.on("cpu", (8, 16, 32, 64))
        numbers = dict(concrete.parameters)
        problem = make_problem(pattern, numbers, 1)
        found.append((problem, host_view(problem, numbers)))
    return found


def check(
    name: str, stated: int, counted: tuple[float, float], table: Mapping[str, Stated], view: Any, fields: Any
) -> None:
    """Refuse a number that is neither counted nor accounted for."""
    if name in table:
        formula, _ = table[name]
        shapes = {
            key: field.shape for key, field in fields.items() if hasattr(field, "shape") and key not in vars(view)
        }
        assert stated == formula(SimpleNamespace(**{**shapes, **vars(view)}))
    else:
        least, most = counted
        assert (1 - LEFT_OUT) * least <= stated <= most, (
            f"{name} states {stated}, counted are {most}: mend it, or say why in this file's tables"
        )


@pytest.mark.parametrize("name", INFOS)
def test_the_least_work_is_what_is_counted(name: str) -> None:
    reference = find_pattern(INFOS[name].source, name).make_reference
    assert reference is not None
    for problem, view in problems(name):
        fields, carried = problem.fields, arrays_bytes(problem)
        if problem.bytes_moved is not None:
            check(name, problem.bytes_moved, carried, BYTES, view, fields)
        if problem.operations is not None:
            counted = 0 if name in OPERATIONS else operations_of(reference, view)
            check(name, problem.operations, (counted, counted), OPERATIONS, view, fields)
        if problem.slm_bytes is not None:
            assert name in SLM_BYTES, "say in SLM_BYTES what goes through shared local memory"
            check(name, problem.slm_bytes, (0, 0), SLM_BYTES, view, fields)
        if problem.host_bytes is not None:
            check(name, problem.host_bytes, (problem.host_output_bytes, carried[1]), HOST_BYTES, view, fields)


def test_arithmetic_of_all_forms_is_counted() -> None:
    view = SimpleNamespace(x=np.arange(6.0), m=np.ones((2, 3)), n=3)

    def operations(reference: Callable[[Any], Any]) -> int:
        return operations_of(reference, view)

    assert operations(lambda p: p.x * 2 + 1) == 12
    assert operations(lambda p: np.where(p.x > 2, p.x, 0)) == 0, "comparing is none"
    assert operations(lambda p: p.x.sum()) == operations(lambda p: np.sum(p.x)) == 6
    assert operations(lambda p: p.m @ p.m.T) == 2 * 2 * 2 * 3
    assert operations(lambda p: np.einsum("ik,jk->ij", p.m, p.m)) == 2 * 2 * 2 * 3
    assert operations(lambda p: np.convolve(p.x, [1, 1], mode="valid")) == 2 * 5 * 2
    assert operations(lambda p: np.bincount(p.x.astype(int))) == 6
    assert operations(lambda p: np.add.reduceat(p.x, [0, 3])) == 4
    assert operations(lambda p: np.sqrt(p.x.astype(np.float32).reshape(2, 3))[0] - 1) == 6 + 3

    def fills(p: Any) -> None:
        y = np.zeros(6)
        y[:] = p.x
        y += 1

    assert operations(fills) == 6
    assert view.x.tolist() == [0, 1, 2, 3, 4, 5]


def test_arrays_carry_inputs_and_outputs_once_and_what_is_updated_up_to_twice() -> None:
    x = np.zeros(5, np.float32)
    problem = Problem(x=x, y=output((2, 3), np.int16), state=inout(np.zeros(4, np.int64)), n=7)
    assert arrays_bytes(problem) == (20 + 12 + 32, 20 + 12 + 2 * 32)
