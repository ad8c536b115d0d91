"""Every table's columns as data: what a row is, and name, dtype, unit and meaning of each column.

Read these through `xebench.tables.schema`, which makes frames of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from xebench.vocabulary import (
    ACCURACY_CLAIMS,
    END_CLAIMS,
    REASON_CODES,
    TIME_CLAIMS,
    Answer,
    CheckResult,
    DeviceClass,
    Metric,
    Outcome,
    Role,
    Roof,
    State,
    Status,
    Strength,
    VisitPart,
)

Dtype = Literal["string", "Int64", "Float64", "boolean"]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: Column name; it ends in its unit where it has one (`_ns`, `_bytes`, `_gbps`, ...).
        dtype: A pandas nullable dtype.
        meaning: One sentence for the documentation.
        unit: Unit of the values, or "" for a number without one and for text.
        required: Whether a null is an error. A column that is added to a version is not: it is null in earlier runs.
        derived: Whether it is computed from measured tables: rows do not come with it.
    """

    name: str
    dtype: Dtype
    meaning: str
    unit: str = ""
    required: bool = False
    derived: bool = False


def _text(name: str, meaning: str, *, required: bool = False) -> Column:
    return Column(name, "string", meaning, required=required)


def _count(name: str, meaning: str, unit: str = "", *, required: bool = False) -> Column:
    return Column(name, "Int64", meaning, unit, required)


def _number(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "Float64", meaning, unit)


_PATTERN = _text("pattern", "Name of the pattern.", required=True)
_LESSON = (
    _text("chapter", "Chapter of the guide: the folder of the benchmark."),
    _text("guide", "Place of the lesson in the guide."),
    _text("catalogue", "Catalogue entries of the lesson, with commas between them."),
)
_PROGRAM = (
    _text("variant", "Name of the variant.", required=True),
    _text("role", f"{', '.join(Role)}.", required=True),
)
_PROBLEM = (
    _text("preset", "Name of the parameters' defaults: smoke, default or guide.", required=True),
    _text(
        "parameters",
        "JSON object of everything by which the problem is chosen: the preset's numbers and the values of axes. "
        "`xebench.load_run` adds a typed column for each, such as param_n.",
        required=True,
    ),
)
_DEFAULTS = _text(
    "preset_parameters",
    "JSON object of the parameters that the preset gives, with its own values: a parameter of another value was set by "
    "--set or is a preset's further size, and one that is not there is an axis, which is swept. In runs of version 5 "
    "the own value of one that was set is null.",
    required=True,
)
_HOST = _text("host", "Host of the device in a run over several (`--on`); null in a run on one machine.")
_DEVICE = _text("device", "Filter string of the device, such as level_zero:gpu:0.", required=True)
_DEVICE_CLASS = _text("device_class", f"{' or '.join(DeviceClass)}.", required=True)
_PLACE = (_HOST, _DEVICE, _DEVICE_CLASS)
_METRIC = _text("metric", f"Which time of a sample counts: {', '.join(Metric)}.", required=True)
_STATUS = _text("status", f"{', '.join(Status)}.", required=True)
_REASON = _text("reason", "Why the status is not ok, in one line.")
_STATE = _text("state", "hot or cold; null when nothing was sampled.")
_LATER = "Declared for a later version: null so far."
_CASE_ID = _text(
    "case_id",
    "Readable key: pattern/variant/preset/name=value;.../device_class, with the parameters that are swept or not the "
    "preset's own; of what a run over several hosts has measured, @host/device follows.",
    required=True,
)
_FAMILY_ID = _text(
    "family_id",
    "Key of the family, whose variants are compared with each other: the case_id without the variant.",
    required=True,
)
_SAMPLE = _count("sample_id", "Number of the sample, unique and increasing in a run.", required=True)
_ROOF = (
    _number(
        "roof_fraction",
        "Largest part of a measured roof that the case reaches; bandwidth is that of the level that holds its working "
        "set.",
    ),
    _text("nearest_roof", "Name of that roof, such as L2 bandwidth, memory bandwidth or fp32."),
)

DEVICES: Final = (
    _HOST,
    _DEVICE,
    _text("name", "Name that the driver gives."),
    _text("vendor", "Vendor that the driver gives."),
    _text("backend", "level_zero or opencl."),
    _text("driver_version", "Version of the driver."),
    _DEVICE_CLASS,
    _count("compute_units", "Compute units (vector engines, cores)."),
    _text("sub_group_sizes", "Sub-group sizes on offer, with commas between them."),
    _count("local_memory_bytes", "Shared local memory of a work-group.", "bytes"),
    _count("global_memory_bytes", "Global memory.", "bytes"),
    _count("global_cache_bytes", "Last-level cache.", "bytes"),
    _count("max_work_group_size", "Largest work-group.", "work-items"),
    _count("max_alloc_bytes", "Largest single allocation.", "bytes"),
    _count("max_clock_mhz", "Highest clock.", "MHz"),
    _number("timer_resolution_ns", "Quantum of the profiling timer.", "ns"),
    _text("aspects", "Capabilities (fp64, usm_shared_allocations, ...), with commas between them."),
    _text("hardware_id", "PCI address or UUID, which tell equal devices apart; null if the driver gives neither."),
    _text("selftest", "ok, or what the device computes wrong."),
    *(_number(roof.column, roof.meaning, roof.unit) for roof in Roof),
    _text(
        "bandwidth_levels",
        "JSON list of level, working_set_bytes, gbps: measured read bandwidth of caches and memory by working set, the "
        "smallest first. A case belongs to the last entry that is not larger than its own working set.",
    ),
    _text(
        "link_roofs",
        "JSON object: measured GB/s of copies between host and device, and to another device, by route, as in "
        "events.route; null for one that the device lacks.",
    ),
    _text(
        "roofs_disturbed",
        "Roofs whose repeats in this run disagree by more than 25 %, or all when others used a CPU device's cores: "
        "they may be too low; empty if none.",
    ),
    _text("roofs_from", "this run, with why a roof has no value; or the 'xebench roofline' whose roofs were higher."),
    _number("timer_quantum_ns", "Smallest difference between two durations that the device's timer showed.", "ns"),
    _number("clock_quantum_ns", "Smallest step of the host's clock that was seen.", "ns"),
    _number("clock_overhead_ns", "Host time to read the host's clock.", "ns"),
    _number("empty_kernel_ns", "Device time of a kernel that does nothing: median.", "ns"),
    _number("empty_kernel_queue_ns", "Its submission to its start: median.", "ns"),
    _number("empty_kernel_host_ns", "Its launch and the wait for it, on the host: median.", "ns"),
    _number("launch_overhead_ns", "Host time to submit a prepared launch, without the wait: median.", "ns"),
    _number("length_r2", "R squared of the straight line through a kernel's times over its trip count."),
    _number("length_residual", "Largest distance of one of these times from the line, relative to the time."),
    _number("aa_speedup", "Speed-up of a kernel over itself: 1 but for what this machine adds."),
    _number("aa_low", "Lower end of its 95 % interval."),
    _number("aa_high", "Upper end of its 95 % interval."),
    _number("sample_overhead_ns", "Host time that a sample takes beside its device time: median.", "ns"),
    _number("bare_overhead_ns", "The same of a plain dpctl loop over the same launches.", "ns"),
)

CASES: Final = (
    _CASE_ID,
    _FAMILY_ID,
    _PATTERN,
    *_LESSON,
    *_PROGRAM,
    *_PROBLEM,
    _DEFAULTS,
    _text(
        "parameters_from",
        "What parameters follow: the device, or, where the guide has none, ours; null for the guide's and fixed ones.",
    ),
    _text(
        "environment", "Variables that the pattern and the variant set for the process that runs it, as a JSON object."
    ),
    _text(
        "switches_found",
        "JSON object: what was found of each switch that the environment asks for, after it was set; null where none "
        "can be looked up. A variant whose switch did not take is skipped.",
    ),
    *_PLACE,
    _METRIC,
    _text(
        "claims",
        "JSON list of what is claimed of the variant at this point: word, against, at_least, within, where, on, kind, "
        "figure, strength, source (xebench.Claim).",
    ),
    _text("against", "Variant that it is compared with where nothing is claimed; null: the family's baseline."),
    _STATUS,
    _REASON,
    _text(
        "stopped_by",
        "Which rule ended the sampling: precision, budget, max blocks, or pass: the run did not come again.",
    ),
    _text(
        "visit_seconds",
        f"JSON object: seconds of all visits to the family, by what they went into: {', '.join(VisitPart)}.",
    ),
    _number("same_within", "Relative difference below which the case and its baseline count as the same."),
    _number(
        "error_ulp",
        "Largest error of a result against the reference, in units in the last place of the result's type; null where "
        "the reference is in no higher precision, or a result is not finite.",
    ),
    _count("seed", "Seed of the problem's data."),
    _count(
        "data_sets",
        "How many sets of inputs, of two seeds, its instances take in turn; checks are made on the other one. 1 where "
        "a second would show nothing (results do not depend on the seed), cannot be swapped (numbers or shapes depend "
        "on it), or is too large for the host's memory.",
    ),
    _count("bytes_moved", "Least traffic to memory that the lesson needs.", "bytes"),
    _count("operations", "Least number of operations that the lesson needs."),
    _text("operation_kind", "What an operation is: fp32, fp64, int32, ..."),
    _count("slm_bytes", "Least traffic to shared local memory that the lesson needs.", "bytes"),
    _count("host_bytes", "Least traffic between host and device; by default of the results in host memory.", "bytes"),
    _count("peer_bytes", "Least traffic from device to device.", "bytes"),
    _count("working_set_bytes", "Device arrays of the problem, together.", "bytes"),
    _number(
        "read_part",
        "Part of bytes_moved that is read, from the sizes of these arrays: inputs are read, outputs written, and "
        "arrays that are updated in place both; null without arrays.",
    ),
    _text(
        "kernels",
        "JSON list of the kernels: name, spirv_sha256 (of the text where language is opencl), language (spirv or "
        "opencl), compiler (of kernels of Python, with versions; else null), narrow (whether its index arithmetic was "
        "narrowed to 32 bits), build_options, sub_group_size (as "
        "required), max_sub_group_size (on Intel's GPUs the SIMD width), and of the first launch of each: global_size, "
        "local_size (null where the driver chooses), local_bytes (SLM of a work-group).",
    ),
    _text(
        "program",
        "The same for variants of a family that are one program: machine code, launch sizes, arguments, queues and "
        "waits. Null where that is not known: of what is not timed by the device alone, of libraries, memory that the "
        "host can write, several devices or processes.",
    ),
    _text(
        "devices",
        "What it ran on where that is not the device alone: so many devices, or sub-devices of it, and how it was cut.",
    ),
    _text("source", "Where the variant is defined: file and line."),
    _text("source_sha256", "Hash of the pattern's file with the modules that it imports, but for installed ones."),
)

SAMPLES: Final = (
    _CASE_ID,
    _SAMPLE,
    _count("block", "Block of the sampling plan; the variants of a family are compared within a block."),
    _count("order", "Position in its block."),
    _count("instance", "Instance of the family: each has new arrays and newly built kernels."),
    _text("state", f"{', '.join(State)}.", required=True),
    _text("stage", "Stage of a compile row: typing, translate, build or launch."),
    Column("cached", "boolean", "Whether a compile row was answered by a cache."),
    _count("batch", "Executions that were timed together; the times are those of one: total over batch."),
    _count("data_set", "Which of the family's inputs the sample was taken on: 0 or 1."),
    _count("events", "Events that the session recorded of one execution: rows of the table events."),
    *(_number(metric.column, metric.meaning, "ns") for metric in Metric),
    _number("queue_ns", "First submit to first start.", "ns"),
    Column("valid", "boolean", "Whether the timestamps can be trusted.", required=True),
    _text("sample_flags", "What was noticed about the sample, with commas between; empty if nothing.", required=True),
    Column(
        "checked",
        "boolean",
        "Whether the last check that speaks for it passed; rows of compilation and traced executions need none. "
        "Without it a sample does not count.",
        required=True,
        derived=True,
    ),
)

EVENTS: Final = (
    _CASE_ID,
    _SAMPLE,
    _count(
        "sequence", "Order of submission in its sample; calls of the host that submit nothing follow.", required=True
    ),
    _text(
        "kind",
        "kernel, copy, fill, barrier or library. Of a traced execution also what the host did beside submissions, "
        "without times of the device: execution (all of it), wait, allocation, queue, compile, build, or line of the "
        "variant's source that took 1 us or longer: MPI and numpy are there.",
        required=True,
    ),
    _text("name", "Name of the kernel or of the call; file, number and text of a line."),
    _text("queue", "Which queue of the sample took it."),
    _count(
        "clock",
        "Whose clock the times are of: 0 is the device and its sub-devices, others are devices beside it. Times of two "
        "clocks cannot be compared.",
    ),
    _count(
        "submit_began_host_ns",
        "When the host began the call that submitted it, on the host's clock (perf_counter_ns, of all processes); of a "
        "library's work the library's call, as its own submissions cannot be seen; of what the host did, that call. "
        "Null of samples: a traced execution alone is timed so, as the readings take time.",
        "ns",
    ),
    _count("submit_ended_host_ns", "When that call returned.", "ns"),
    _count("over_host_ns", "When the host had waited for the command: it was over by then. Null of samples.", "ns"),
    _count("thread", "Thread of the host that called, of a traced execution: 0 runs the variant, others came later."),
    _count("submit_ns", "Submission, on the device's clock.", "ns"),
    _count("start_ns", "Start, on the device's clock.", "ns"),
    _count("end_ns", "End, on the device's clock.", "ns"),
    _count("bytes", "What a copy, or a fill of the session, writes; null for other kinds.", "bytes"),
    _text(
        "route",
        "Kinds of memory of such a copy: device, shared or host of USM, pageable of other host memory, such as "
        "pageable_to_device; device_to_peer between two devices or parts of one.",
    ),
    _count("mpi_rank", "Rank of MPI that submitted it; null where there are no ranks."),
)

MACHINE: Final = (
    _count("first_sample", "First sample of the range.", required=True),
    _count("last_sample", "Last sample of the range.", required=True),
    _number("load_average", "Load average of the last minute."),
    _number("contended", "Part of the time in which some task waited for a core."),
    _number("stolen", "Part of the cores' time that the hypervisor gave to others."),
    _number("cpu_mhz", "Clock of the first core.", "MHz"),
    _number("gpu_mhz", "Clock of the fastest GPU tile when it was read; low when the GPU idles then.", "MHz"),
    _number("gpu_limit_mhz", "Lowest upper limit of the GPU tiles' clocks.", "MHz"),
    _count("throttled", "Times that the first core and its package were throttled, and GPU tiles that are."),
    _count("gpu_clients", "Other processes that have the GPU open."),
    _text("changed", "Which of these are not what they were when sampling began; empty if none.", required=True),
)

CHECKS: Final = (
    _CASE_ID,
    _count("first_sample", "First sample that the check speaks for.", required=True),
    _count("end_sample", "Number after the last one.", required=True),
    _text("result", f"{', '.join(CheckResult)}; of several that speak for a sample the last counts.", required=True),
)

SUMMARIES: Final = (
    _CASE_ID,
    _FAMILY_ID,
    _PATTERN,
    *_PROGRAM,
    *_PROBLEM,
    *_PLACE,
    _METRIC,
    _STATE,
    _count("n", "Samples that count, valid and checked, in this state.", required=True),
    _number("median_ns", "Median.", "ns"),
    _number(
        "low_ns",
        "Lower end of the 95 % interval of the median over instances, of one alone over its samples (null with fewer "
        "than six); reaches as far as median_ns.",
        "ns",
    ),
    _number("high_ns", "Its upper end.", "ns"),
    _number("mad_ns", "Median absolute deviation from the median.", "ns"),
    _number("min_ns", "Smallest sample.", "ns"),
    _number("q25_ns", "Lower quartile.", "ns"),
    _number("q75_ns", "Upper quartile.", "ns"),
    _count("outliers", "Samples with a modified z-score above 3.5; counted, never dropped."),
    _number("drift", "Median of the second half of the samples against the first half, as a relative change."),
    _number(
        "overlap",
        "Part of the time in which any event ran, barriers aside, in which two or more ran: median over the samples; "
        "null without events.",
    ),
    _text("overlap_note", "Why overlap is null although events ran, in one line; null where it is not."),
    _number(
        "concurrency", "How many events ran, on average, while any did: median over the samples; null without events."
    ),
    _count("queues", "Queues that the events of its first sample were submitted to; null in runs of version 5."),
    _number(
        "copy_gbps",
        "Bytes of the copies between host and device over the time in which any of them ran: median over the samples; "
        "null where a copy is of pageable memory, whose times drivers report wrong.",
        "GB/s",
    ),
    _number(
        "link_fraction",
        "The time of these copies one by one at the device's link_roofs, over that time; above 1 where copies that ran "
        "side by side gained from it.",
    ),
    _number("link_apart", "The same over the sum of the copies' times: above 1 only where a roof is too low."),
    _text("link_note", "The doubt of link_roofs where link_apart is above 1.02, in one line; null where it is not."),
    _number("compile_ns", "Sum of the case's compile rows.", "ns"),
    _number("bandwidth_gbps", "bytes_moved / median_ns.", "GB/s"),
    _number("rate_gops", "operations / median_ns.", "Gop/s"),
    *_ROOF,
    _text(
        "bound_by",
        "memory, cache, compute, slm, device link or host link: the roof that is nearest; cache also when a case of "
        "unknown working set is faster than the memory.",
    ),
    _text("roof_note", "The doubt of the roof where the fraction is above 1.02, in one line; null where it is not."),
    _STATUS,
    _REASON,
)

PAIRS: Final = (
    _text("case_id", "Key of the variant's case.", required=True),
    _text("baseline_case_id", "Key of the case that it is compared with.", required=True),
    _FAMILY_ID,
    _PATTERN,
    *_LESSON,
    *_PROBLEM,
    _DEFAULTS,
    *_PLACE,
    _METRIC,
    _STATE,
    _text(
        "baseline",
        "Name of the variant that this one is compared with: the naive one, else baseline or antipattern; or the one "
        "that the claim names.",
        required=True,
    ),
    *_PROGRAM,
    _number("baseline_ns", "Median over the shared blocks of the baseline's median in the block.", "ns"),
    _number("variant_ns", "Median over the shared blocks of the variant's median in the block.", "ns"),
    _number(
        "speedup",
        "Baseline over variant in a block: median over an instance's blocks, mean of these over instances; load that "
        "hits both sides of a block cancels, so it may differ from baseline_ns / variant_ns.",
    ),
    _number("speedup_low", "Lower end of the 95 % interval of the speed-up over instances, of one alone over blocks."),
    _number("speedup_high", "Its upper end."),
    _number("wall_speedup", "The speed-up of the times on the host in the same blocks, which hold all that was done."),
    _number("wall_speedup_low", "Lower end of its 95 % interval."),
    _number("wall_speedup_high", "Its upper end."),
    _count("blocks", "Blocks in which both sides have a sample that counts, of long enough instances.", required=True),
    _count("instances", "Instances of the family that these blocks are of."),
    _text("outcome", f"{', '.join(Outcome)}; same: within the case's same_within.", required=True),
    _text("claim", f"What is claimed: {', '.join((*TIME_CLAIMS, *ACCURACY_CLAIMS, *END_CLAIMS))}; null if nothing."),
    _text("claimed_for", "Class of devices that it is claimed of; null for all."),
    _text("claim_condition", "Facts of a device on which alone it is claimed, such as stacks=2; null for none."),
    _text("judged_sweep", f"Parameter along which the claim is judged over several families. {_LATER}"),
    Column(
        "same_program",
        "boolean",
        "Whether both sides are one program (cases.program): then no claim of time is judged. Null where unknown.",
    ),
    _text("strength", f"Who claims it: {', '.join(Strength)} (stated: the guide says so; implied: it follows)."),
    _text("guide_source", "Lines of the guide that claim it, such as G 4530: a line of its English text."),
    _number("guide_speedup", "The speed-up that the guide prints."),
    _text("guide_device", "Product that it measured on."),
    _number("of_guide", "speedup / guide_speedup."),
    Column(
        "at_guides_size",
        "boolean",
        "Whether product, metric and size are those of the guide's figure: else it does not promise how much. Null "
        "without a figure.",
    ),
    _number("at_least", "The smallest ratio that is promised and was judged; null where nobody promises how much."),
    _text("answer", f"{', '.join(Answer)}.", required=True),
    _text("reason_code", f"Why, for programs: {', '.join(REASON_CODES)}."),
    _text("reason", "What the answer rests on, in one line for people.", required=True),
    _number(
        "times_empty_kernel",
        "The shorter side's device time over an empty kernel's; where it is small, fixed cost is in the speed-up. Null "
        "for other metrics.",
    ),
    *_ROOF,
)

COMPARISONS: Final = (
    _PATTERN,
    *_PROGRAM,
    *_PROBLEM,
    _DEVICE_CLASS,
    _STATE,
    _METRIC,
    _text("before_device", "Name and driver version of the device in the first run, and its host where that is known."),
    _text("after_device", "Name and driver version of the device in the second run, and its host where that is known."),
    _count("before_n", "Samples that count, valid and checked, in the first run.", required=True),
    _count("after_n", "Samples that count, valid and checked, in the second run.", required=True),
    _number("before_ns", "Median in the first run.", "ns"),
    _number("after_ns", "Median in the second run.", "ns"),
    _number("speedup", "before_ns / after_ns: above 1 the second run is faster."),
    _number("speedup_low", "Lower end of the 95 % interval of the speed-up."),
    _number("speedup_high", "Upper end of the 95 % interval of the speed-up."),
    _text("outcome", f"{', '.join(Outcome)}; same: within the threshold.", required=True),
    _text("reason", "What the outcome rests on, in one line.", required=True),
)

PAIR_COMPARISONS: Final = (
    _PATTERN,
    *_PROGRAM,
    _text("baseline", "What the variant is compared with."),
    *_PROBLEM,
    _DEVICE_CLASS,
    _STATE,
    _METRIC,
    _text("claim", "What is claimed; null where nothing is."),
    _text("before_answer", f"In the first run, null where it lacks the pair: {', '.join(Answer)}."),
    _text("after_answer", f"In the second run, null where it lacks the pair: {', '.join(Answer)}."),
    _number("before_speedup", "The variant against its baseline in the first run."),
    _number("after_speedup", "The variant against its baseline in the second run."),
    _number("change", "after_speedup / before_speedup: above 1 the variant gained on its baseline."),
    _number("change_low", "Lower end of the 95 % interval of the change."),
    _number("change_high", "Upper end of the 95 % interval of the change."),
    _text("outcome", f"{', '.join(Outcome)}; same: within the threshold.", required=True),
    _text("reason", "What the outcome rests on, in one line.", required=True),
)
