"""Rules: conditions on facts, each with the lessons that must have gained, and what would refute it.

A rule asks what must be true of this kernel for its lesson to gain. It is silent where a fact that it needs is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xebench.advisor.facts import LANES, LINE, Access, Facts, KernelFacts, SampleFacts
from xebench.advisor.lessons import Lesson

#: A kernel this near to its memory roof gains nothing from better accesses.
NEAR: Final = 0.6
#: Share of the host's time that other things than kernels must take.
SHARE: Final = 0.3


@dataclass(frozen=True)
class Finding:
    """Where a rule holds.

    Attributes:
        kernel: name of the kernel; "" for the whole sample.
        what: the fact in words, with its place.
        share: share of the time that the advice is about, from 0 to 1.
    """

    kernel: str
    what: str
    share: float


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes:
        name: short name.
        find: yields where it holds.
        advice: sentence.
        lessons: steps of lessons, the nearest first; the first that was measured decides.
        refuted_by: observation that would refute it.
    """

    name: str
    find: Callable[[Facts], Iterator[Finding]]
    advice: str
    lessons: tuple[Lesson, ...]
    refuted_by: str


def _is_far(facts: Facts) -> bool:
    """True if the memory roof is known and far away."""
    return facts.memory_fraction is not None and facts.memory_fraction < NEAR


def _readable(facts: Facts) -> Iterator[tuple[KernelFacts, float]]:
    """Kernels whose accesses are known, with the share of the host's time that one of them can have."""
    for kernel in facts.kernels:
        if not kernel.unreadable and facts.sample.host_ns:
            yield kernel, min(1.0, facts.sample.device_ns / facts.sample.host_ns)


def _of_memory(facts: Facts, holds: Callable[[Facts, KernelFacts, Access], str]) -> Iterator[Finding]:
    """The access of a kernel that is done most often and of which something holds; all data must exceed the caches."""
    if not _is_far(facts):
        return
    for kernel, share in _readable(facts):
        large = [
            access
            for access in kernel.accesses
            if access.space == "global" and access.array_bytes > 2 * facts.device.cache_bytes
        ]
        of = [(access.count, access, words) for access in large if (words := holds(facts, kernel, access))]
        if of:
            _, access, words = max(of, key=lambda one: one[0])
            yield Finding(kernel.name, f"{words} ({_place(access)})", share)


def _place(access: Access) -> str:
    return f"{Path(access.file).name}:{access.line}, {access.text}"


def _size(count: float) -> str:
    return f"{count / 1024:.3g} KiB" if abs(count) >= 1024 else f"{count:.0f} B"


def _swapped(facts: Facts, kernel: KernelFacts, access: Access) -> str:
    stride, row = access.lane_stride, access.row_stride
    if stride is None or row is None or abs(row) != access.element_bytes or abs(stride) < LINE:
        return ""
    return f"neighbouring work-items {_verb(access)} {_size(abs(stride))} apart, those of dimension 1 side by side"


def _verb(access: Access) -> str:
    return {"load": "read", "store": "write"}.get(access.kind, "update")


def _own_block(facts: Facts, kernel: KernelFacts, access: Access) -> str:
    stride, step = access.lane_stride, access.step_stride
    is_block = stride is not None and step is not None and abs(step) == access.element_bytes and abs(stride) >= LINE
    if not is_block or access.count < 4 or abs(stride or 0) != access.count * access.element_bytes:
        return ""
    apart = _size(abs(stride or 0))
    return f"each work-item {_verb(access)}s {access.count} elements in a row, {apart} from its neighbour's"


def _structures(facts: Facts, kernel: KernelFacts, access: Access) -> str:
    stride = abs(access.lane_stride or 0)
    if access.line_use > 0.5 or not 2 * access.element_bytes <= stride <= 4 * LINE or access.count > 1:
        return ""
    others = [one for one in kernel.accesses if one.array == access.array and one.lane_stride == access.lane_stride]
    used = len({one.text for one in others}) * access.element_bytes
    if used > 0.6 * stride:
        return ""
    return f"the kernel uses {used} of every {stride} bytes of {access.array}"


def _scattered(facts: Facts, kernel: KernelFacts, access: Access) -> str:
    if access.kind != "load" or access.lane_stride is not None or access.shared > 2 or access.line_use > 0.3:
        return ""
    return f"neighbouring work-items read {access.array} at unrelated places, {access.line_use:.0%} of each cache line"


def _one_counter(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        for access in kernel.accesses:
            if access.kind == "atomic" and access.space == "global" and access.shared >= LANES / 2:
                yield Finding(
                    kernel.name, f"all work-items update the same element of {access.array} ({_place(access)})", share
                )
                break


def _few_counters(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        for access in kernel.accesses:
            few = access.array_bytes <= 1 << 16 and kernel.items > 64 * (access.array_bytes // access.element_bytes)
            if access.kind == "atomic" and access.space == "global" and few and access.shared < 8:
                what = f"{kernel.items} work-items update {access.array} of {_size(access.array_bytes)}"
                yield Finding(kernel.name, f"{what} ({_place(access)})", share)
                break


def _sum_in_memory(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        for access in kernel.accesses:
            if access.kind == "store" and access.space == "global" and access.count >= 16 and access.step_stride == 0:
                what = f"each work-item stores {access.count} times or more to one element of {access.array}"
                yield Finding(kernel.name, f"{what} ({_place(access)})", share)
                break


def _reread(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        local = any(access.space == "local" for access in kernel.accesses)
        loads = [one for one in kernel.accesses if one.kind == "load" and one.space == "global" and one.count >= 64]
        shared = [one for one in loads if one.shared >= 8 or (one.row_stride == 0 and one.lane_stride)]
        if len(shared) >= 2 and not local and kernel.local_size and math.prod(kernel.local_size) >= 64:
            one, another = shared[:2]
            what = f"the items of a group read the same {one.count} elements of {one.array} and {another.array}"
            yield Finding(kernel.name, f"{what} ({_place(shared[0])})", share)


def _diverging(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        if kernel.divergent_share is not None and kernel.divergent_share >= 0.3 and not _is_near(facts):
            yield Finding(
                kernel.name, f"{kernel.divergent_share:.0%} of a work-item's steps are not its neighbours'", share
            )


def _is_near(facts: Facts) -> bool:
    return facts.memory_fraction is not None and facts.memory_fraction >= NEAR


def _small_groups(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        size = math.prod(kernel.local_size or (1 << 20,))
        if size <= facts.device.sub_group_size and kernel.items > 1024 * size:
            yield Finding(kernel.name, f"{kernel.items // size} work-groups have {size} work-items each", share)


def _odd_groups(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        first = (kernel.local_size or (0,))[0]
        if first and first % 4 and first > 4:
            yield Finding(kernel.name, f"work-groups of {first} work-items are no whole number of sub-groups", share)


def _banks(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        for access in kernel.accesses:
            words = abs(access.lane_stride or 0) / 4
            if access.space == "local" and access.count >= 8 and words >= 8 and words % 8 == 0:
                what = f"neighbouring work-items use {access.array} {_size(words * 4)} apart, so of the same banks"
                yield Finding(kernel.name, f"{what} ({_place(access)})", share)
                break


def _doubles(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        if (
            kernel.computes_doubles
            and sum(access.count for access in kernel.accesses) < sum(dict(kernel.functions).values()) * 4
        ):
            yield Finding(
                kernel.name, "it computes in float64 on arrays of float32: a literal such as 0.5 is float64", share
            )


_SLOW_FUNCTIONS: Final = frozenset({"exp", "log", "sin", "cos", "tan", "pow", "power", "exp2", "log2", "log10", "tanh"})


def _functions(facts: Facts) -> Iterator[Finding]:
    for kernel, share in _readable(facts):
        calls = sum(times for name, times in kernel.functions if name in _SLOW_FUNCTIONS)
        accesses = sum(access.count for access in kernel.accesses)
        if calls > accesses and not _is_near(facts) and not any(one.dtype == "float64" for one in kernel.accesses):
            yield Finding(kernel.name, f"a work-item calls {calls} functions such as {kernel.functions[0][0]}", share)


def _copies(facts: Facts) -> Iterator[Finding]:
    sample = facts.sample
    if sample.kernels and sample.copied_bytes > 1 << 16 and sample.copy_ns > SHARE * sample.device_ns:
        share = sample.copy_ns / sample.host_ns
        yield Finding("", f"copies of {_size(sample.copied_bytes)} take {share:.0%} of each call's time", share)


def _idle(sample: SampleFacts) -> float:
    """The share of the host's time in which the device does nothing."""
    return max(0.0, 1 - sample.device_ns / sample.host_ns) if sample.host_ns else 0.0


def _allocations(facts: Facts) -> Iterator[Finding]:
    sample = facts.sample
    idle = _idle(sample)
    if sample.allocations >= 2 and idle > SHARE:
        yield Finding(
            "", f"each call allocates {sample.allocations} arrays, and the device idles {idle:.0%} of the time", idle
        )


def _builds(facts: Facts) -> Iterator[Finding]:
    sample = facts.sample
    if sample.host_ns and sample.making_ns > SHARE * sample.host_ns:
        share = sample.making_ns / sample.host_ns
        yield Finding("", f"each call compiles or builds kernels for {share:.0%} of its time", share)


def _many_kernels(facts: Facts) -> Iterator[Finding]:
    sample = facts.sample
    extents = {kernel.global_size for kernel in facts.kernels}
    if sample.kernels >= 2 and len(facts.kernels) >= 2 and len(extents) == 1 and not sample.copies:
        yield Finding(
            "", f"{sample.kernels} kernels of one index space hand arrays to one another", max(_idle(sample), SHARE)
        )


RULES: Final = (
    Rule("dimensions", lambda facts: _of_memory(facts, _swapped),
        "Swap the dimensions: let get_id(0) be the index whose elements are neighbours",
        (Lesson("stencil_row_reuse", "neighbours_in_a_column", "neighbours_in_a_row"),
         Lesson("stream_loop_order", "z_fastest", "x_fastest")),
        "the arrays fit a cache, or another access gets as far apart"),
    Rule("interleave", lambda facts: _of_memory(facts, _own_block),
        "Interleave: let neighbouring work-items take neighbouring elements in each step",
        (Lesson("subgroup_coalesced_copy", "contiguous_per_item", "interleaved_by_constant"),
         Lesson("subgroup_coalesced_store", "contiguous_per_item", "interleaved_by_constant")),
        "a compiler that reads each block as one vector"),
    Rule("structures", lambda facts: _of_memory(facts, _structures),
        "Make the array of structures an array for each member",
        (Lesson("stencil_cacheline_utilisation", "array_of_structures", "structure_of_arrays"),),
        "other kernels use the rest of each structure at the same time"),
    Rule("gather", lambda facts: _of_memory(facts, _scattered),
        "Sort or group the work so that neighbours read neighbouring elements",
        (Lesson("byte_gathers", "bytes_at_random", "bytes_in_order"),
         Lesson("lines_in_any_order", "at_random", "sequential")),
        "the order changes in each call, and sorting costs more"),
    Rule("one counter", _one_counter,
        "Let each work-item, or each group in local memory, sum up first, and update once",
        (Lesson("atomics_global_vs_local", "global_atomics", "local_atomics"),
         Lesson("reduction_sum", "atomic_per_element", "chunk_per_item")),
        "the time does not change when the update is left out"),
    Rule("histogram", _few_counters,
        "Count in local memory, and add each group's bins once",
        (Lesson("atomics_global_vs_local", "global_atomics", "local_atomics"),
         Lesson("slm_histogram", "bins_of_sub_group", "local_atomics")),
        "the time does not change when the update is left out"),
    Rule("sum in memory", _sum_in_memory,
        "Sum up in a variable and store once, after the loop",
        (Lesson("tiled_matmul", "accumulate_in_memory", "accumulate_in_register"),),
        "the compiler does so already: restrict, or arrays that cannot overlap"),
    Rule("tiles", _reread,
        "Fetch tiles of both into local memory, and use each element from there",
        (Lesson("tiled_matmul", "accumulate_in_register", "slm_tiles"),
         Lesson("int32_matmul_slm", "factors_from_cache", "factors_from_slm")),
        "the elements stay in a cache near enough"),
    Rule("divergence", _diverging,
        "Sort the work by branch, or compute both sides and select",
        (Lesson("subgroup_divergence", "branch_by_parity", "uniform_branch"),),
        "the branches are short against the rest"),
    Rule("small groups", _small_groups,
        "Launch larger work-groups, such as four sub-groups",
        (Lesson("work_group_size_copy", "one_sub_group", "two_sub_groups"),),
        "a barrier or local memory needs this size"),
    Rule("odd groups", _odd_groups,
        "Make work-groups a whole number of sub-groups, and guard the rest",
        (Lesson("partial_subgroups", "odd_groups", "whole_sub_groups"),),
        "the driver vectorizes over another dimension"),
    Rule("banks", _banks,
        "Pad or transpose the local array so that neighbours use different banks",
        (Lesson("slm_bank_conflicts", "strided", "adjacent"),),
        "local memory is a small part of the time"),
    Rule("doubles", _doubles,
        "Write np.float32(...) around literals",
        (Lesson("rates_by_type", "fp64", "fp32"),),
        "the accuracy of float64 is needed"),
    Rule("functions", _functions,
        "Try relaxed_math=True, or the functions of xebench.dpex.native",
        (Lesson("log_precision", "precise", "native_log"),),
        "their accuracy is needed"),
    Rule("copies", _copies,
        "Copy once, before the first call, and keep the arrays on the device",
        (Lesson("usm_kinds", "copied_each_step", "copied_once"),
         Lesson("resident_data", "scope_for_each", "one_scope")),
        "the host needs, or makes, the data in each call"),
    Rule("allocations", _allocations,
        "Allocate once, and use the arrays again",
        (Lesson("allocation_in_loop", "allocate_every_step", "allocate_once"),
         Lesson("work_arrays", "allocated", "allocated_once")),
        "sizes change in each call"),
    Rule("builds", _builds,
        "Build kernels beforehand, and keep them",
        (Lesson("kernel_built_beforehand", "built_by_launch", "built_beforehand"),),
        "the program calls it once only"),
    Rule("fusion", _many_kernels,
        "Fuse the kernels: what one hands to the next stays in a register",
        (Lesson("kernel_fusion", "three_kernels", "all_fused"),),
        "a kernel reads what other work-items of the one before have written"),
)  # fmt: skip
