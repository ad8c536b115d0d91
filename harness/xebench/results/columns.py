"""The columns of measured tables as data: the meaning of a row, and name, dtype, unit and meaning of each column.

Read these through `xebench.results.schema`, which makes frames of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from xebench.records.device_facts import Roof
from xebench.vocabulary import (
    CheckResult,
    DeviceClass,
    Metric,
    Role,
    RoundPart,
    State,
    Status,
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
        required: True if a null is an error. A column added later is not required, since earlier runs lack it.
        derived: True if it is computed from the measured tables instead of recorded.
        remark: Sentence beside the case in reports, with {} for a value that is neither null nor 0; "" for none.
    """

    name: str
    dtype: Dtype
    meaning: str
    unit: str = ""
    required: bool = False
    derived: bool = False
    remark: str = ""


def text(name: str, meaning: str, *, required: bool = False, remark: str = "") -> Column:
    return Column(name, "string", meaning, required=required, remark=remark)


def count(name: str, meaning: str, unit: str = "", *, required: bool = False, remark: str = "") -> Column:
    return Column(name, "Int64", meaning, unit, required, remark=remark)


def number(name: str, meaning: str, unit: str = "", *, remark: str = "") -> Column:
    return Column(name, "Float64", meaning, unit, remark=remark)


PATTERN = text("pattern", "Name of the pattern.", required=True)
LESSON = (
    text("chapter", "Chapter of the guide: the folder of the benchmark."),
    text("guide", "Place of the lesson in the guide."),
    text("catalogue", "Catalogue entries of the lesson, with commas between them."),
)
PROGRAM = (
    text("variant", "Name of the variant.", required=True),
    text("role", f"{', '.join(Role)}.", required=True),
)
PROBLEM = (
    text("preset", "Name of the parameters' defaults: smoke, default or guide.", required=True),
    text(
        "parameters",
        "JSON object of everything by which the problem is chosen: the preset's numbers and the values of axes. "
        "`xebench.load_run` adds a typed column for each to cases, such as param_n.",
        required=True,
    ),
)
DEFAULTS = text(
    "preset_parameters",
    "JSON object of the parameters that the preset gives, with its own values: a parameter of another value was set by "
    "--set or is a preset's further size, and one that is not there is an axis, which is swept.",
    required=True,
)
_HOST = text("host", "Host of the device in a run over several (`--on`); null in a run on one machine.")
_DEVICE = text("device", "Filter string of the device, such as level_zero:gpu:0.", required=True)
DEVICE_CLASS = text("device_class", f"{' or '.join(DeviceClass)}.", required=True)
PLACE = (_HOST, _DEVICE, DEVICE_CLASS)
METRIC = text("metric", f"Time of a sample that counts: {', '.join(Metric)}.", required=True)
STATUS = text("status", f"{', '.join(Status)}.", required=True)
REASON = text("reason", "Reason why the status is not ok, in one line.")
STATE = text("state", "hot or cold; null when nothing was sampled.")
CASE_ID = text(
    "case_id",
    "Readable key: pattern/variant/preset/name=value;.../device_class, with the parameters that are swept or not the "
    "preset's own; of what a run over several hosts has measured, @host/device follows.",
    required=True,
)
FAMILY_ID = text(
    "family_id",
    "Key of the family, whose variants are compared with each other: the case_id without the variant.",
    required=True,
)
_SAMPLE = count("sample_id", "Number of the sample, unique and increasing in a run.", required=True)

DEVICES: Final = (
    _HOST,
    _DEVICE,
    text("name", "Name that the driver gives."),
    text("vendor", "Vendor that the driver gives."),
    text("backend", "level_zero or opencl."),
    text("driver_version", "Version of the driver."),
    DEVICE_CLASS,
    count("compute_units", "Compute units (vector engines, cores)."),
    text("sub_group_sizes", "Sub-group sizes on offer, with commas between them."),
    count("local_memory_bytes", "Shared local memory of a work-group.", "bytes"),
    count("global_memory_bytes", "Global memory.", "bytes"),
    count("global_cache_bytes", "Last-level cache.", "bytes"),
    count("max_work_group_size", "Largest work-group.", "work-items"),
    count("max_alloc_bytes", "Largest single allocation.", "bytes"),
    count("max_clock_mhz", "Highest clock.", "MHz"),
    number("timer_resolution_ns", "Quantum of the profiling timer.", "ns"),
    text("aspects", "Capabilities (fp64, usm_shared_allocations, ...), with commas between them."),
    text("hardware_id", "UUID or PCI address, which distinguish equal devices; null if the driver gives neither."),
    text("selftest", "ok, or what the device computes wrong."),
    *(number(roof.column, roof.meaning, roof.unit) for roof in Roof),
    text(
        "bandwidth_levels",
        "JSON list of level, working_set_bytes, gbps: measured read bandwidth of caches and memory by working set, the "
        "smallest first. A case belongs to the last entry that is not larger than its own working set.",
    ),
    text(
        "link_roofs",
        "JSON object: measured GB/s of copies between host and device, and to another device, by route, as in "
        "events.route; null for one that the device lacks.",
    ),
    text(
        "roofs_disturbed",
        "Roofs whose repeats disagree by more than 25 %, or all when others used a CPU device's cores: "
        "they may be too low; empty if none.",
    ),
    text("roofs_from", "When the roofs were measured, with why one has no value; or why there are none."),
    number("empty_kernel_ns", "Device time of a kernel that does nothing: median.", "ns"),
    number("empty_kernel_queue_ns", "Time from its submission to its start: median.", "ns"),
    number("empty_kernel_host_ns", "Host time to launch it and wait for it: median.", "ns"),
    number("launch_overhead_ns", "Host time to submit a prepared launch, without the wait: median.", "ns"),
    number("aa_speedup", "Speed-up of a kernel over itself: 1 but for what this machine adds."),
    number("aa_low", "Lower end of its 95 % interval."),
    number("aa_high", "Upper end of its 95 % interval."),
)

#: Columns of the table `cases` that are findings about a variant; xebench.measuring.checks has a module for some.
FACTS: Final = (
    text(
        "switches_found",
        "JSON object: what was found of each switch that the environment asks for, after it was set; null where none "
        "can be looked up. A variant whose switch did not take is skipped.",
    ),
    number(
        "error_ulp",
        "Largest error of a result against the reference, in units in the last place of the result's type; null where "
        "the reference is in no higher precision, or a result is not finite.",
    ),
    number("rtol", "Relative tolerance of the comparison with the reference, of several the largest."),
    number("atol", "Absolute tolerance of the comparison, of several the largest."),
    number(
        "tolerance_used",
        "Largest error of a right result, as a part of what the tolerances allow at its element: 0 to 1.",
    ),
    count(
        "first_commands",
        "Commands, without barriers, of the first call in an instance whose samples submitted fewer; null if none did.",
    ),
    count("sampled_commands", "Most commands that a sample of that instance submitted."),
    count("preparation_ns", "Shortest host time of its preparation, without the making of kernels.", "ns"),
    count("scratch_bytes", "Device memory that its preparation allocated and keeps.", "bytes"),
    count("prepared_kernels", "Kernels that its preparation submitted."),
    count(
        "data_sets",
        "Number of input sets, of neighbouring seeds, that its instances take in turn; 1 where the second could not be "
        "made.",
    ),
    text(
        "kernels",
        "JSON list of the kernels: name, spirv_sha256 (of the text where language is opencl), language (spirv or "
        "opencl), compiler (of kernels of Python, with versions; else null), narrow (whether its index arithmetic was "
        "narrowed to 32 bits), build_options, sub_group_size (as "
        "required), fp64_beside_fp32 (whether it computes in double precision though all its arrays of real numbers "
        "are float32), shifts_wide_products (whether it shifts right a product of 32-bit integers in 64 bits), "
        "mixes_fp64_fp32 (whether some of its arrays are float64 and some float32), "
        "max_sub_group_size (on Intel's GPUs the SIMD width), and of the first launch of each: global_size, "
        "local_size (null where the driver chooses), local_bytes (SLM of a work-group).",
    ),
    text(
        "program",
        "The same for variants of a family that are one program: machine code, launch sizes, arguments, queues and "
        "waits. Null where that is not known: of what is not timed by the device alone, of libraries, memory that the "
        "host can write, several devices or processes.",
    ),
    text(
        "devices",
        "Devices that it ran on, if not the device alone: their number and kind, and how a device was partitioned.",
    ),
    text("doubt", "Reason to doubt the times of its commands, with the cure; null if there is none."),
    text("error_text", "Whole text of the error, if the reason has only its first line."),
    text(
        "output",
        "Beginning of what its code wrote to standard output and error, by print, warnings and logging, in the last "
        "round; of the problem and the reference it stands beside the family's first variant.",
    ),
    text(
        "odd_size",
        "Result at sizes that are no multiples of a work-group, in untimed calls: right at ..., wrong at ..., refused: "
        "... by the pattern's problem, or not tried: ... for another reason; null where none was asked for.",
    ),
    text(
        "results_note",
        "Oddity of the reference: all zero, or the same for every seed; null if there is none.",
        remark="{}",
    ),
    text(
        "races",
        "Element that one work-item of a kernel stores and another uses, in no certain order, as the first work-items "
        "show in plain Python; null if none was found.",
        remark="{}",
    ),
    text(
        "traced",
        "JSON object: what a traced execution did: making_ns (kernels compiled and built), own_ns (the host outside of "
        "all calls that submit, wait, allocate or make kernels), allocations, launches (launches and their work-items "
        "by kernel), moved (bytes of copies by route, and of fills), converted (copies that change the "
        "elements' type).",
    ),
)

CASES: Final = (
    CASE_ID,
    FAMILY_ID,
    PATTERN,
    *LESSON,
    *PROGRAM,
    *PROBLEM,
    DEFAULTS,
    text(
        "parameters_from",
        "Origin of sizes: the device, or ours if the guide has none; null for the guide's and fixed ones.",
    ),
    text(
        "environment", "Variables that the pattern and the variant set for the process that runs it, as a JSON object."
    ),
    *PLACE,
    METRIC,
    text(
        "claims",
        "JSON list of the claims about the variant at this point: word, against, at_least, within, where, on, kind, "
        "figure, strength, source (xebench.Claim).",
    ),
    text("against", "Variant that it is compared with without a claim; null for the family's baseline."),
    STATUS,
    REASON,
    text(
        "stopped_by",
        "Rule that ended the sampling: precision, budget, max blocks, or round: another one was to follow.",
    ),
    text(
        "round_seconds",
        f"JSON object: seconds of all rounds of the family, by part: {', '.join(RoundPart)}.",
    ),
    number("same_within", "Relative difference below which the case and its baseline count as the same."),
    count("seed", "Seed of the problem's data."),
    count("bytes_moved", "Least traffic to memory that the lesson needs.", "bytes"),
    count("operations", "Least number of operations that the lesson needs."),
    text("operation_kind", "Kind of operation: fp32, fp64, int32, ..."),
    count("slm_bytes", "Least traffic to shared local memory that the lesson needs.", "bytes"),
    count("host_bytes", "Least traffic between host and device; by default of the results in host memory.", "bytes"),
    count("peer_bytes", "Least traffic from device to device.", "bytes"),
    count("working_set_bytes", "Device arrays of the problem, together.", "bytes"),
    number(
        "read_part",
        "Part of bytes_moved that is read, from the sizes of these arrays: inputs are read, outputs written, and "
        "arrays that are updated in place both; null without arrays.",
    ),
    *FACTS,
    text("source", "Where the variant is defined: file and line."),
    text("source_sha256", "Hash of the pattern's file with the modules that it imports, but for installed ones."),
    text("stand_in", "What the pattern measures in place of a lesson that cannot be said; null for the lesson itself."),
)

SAMPLES: Final = (
    CASE_ID,
    _SAMPLE,
    count("block", "Block of the sampling plan; the variants of a family are compared within a block."),
    count("order", "Position in its block."),
    count("instance", "Instance of the family: each has new arrays and newly built kernels."),
    text("state", f"{', '.join(State)}.", required=True),
    text("stage", "Stage of a compile row: typing, translate, build or launch."),
    Column("cached", "boolean", "True if a cache answered a compile row."),
    count("batch", "Executions that were timed together; the times are those of one: total over batch."),
    count("data_set", "Number of the input set that the sample was taken on: 0 or 1."),
    count("events", "Commands that the session recorded of one execution, without barriers: rows of the table events."),
    *(number(metric.column, metric.meaning, "ns") for metric in Metric),
    number("queue_ns", "First submit to first start.", "ns"),
    number("session_ns", "Part of host_ns that passed in calls of the session that submit.", "ns"),
    number(
        "waited",
        "Part of the core time that the process wanted meanwhile and others had; null where the system does not tell, "
        "and where a GPU's clock times the sample.",
    ),
    Column("valid", "boolean", "True if the timestamps are valid.", required=True),
    text("sample_flags", "Flags of the sample, with commas between; empty if there are none.", required=True),
    Column(
        "checked",
        "boolean",
        "True if the last check that covers it passed; rows of compilation and traced executions need none. "
        "Without it a sample does not count.",
        required=True,
        derived=True,
    ),
)

EVENTS: Final = (
    CASE_ID,
    _SAMPLE,
    count(
        "sequence", "Order of submission in its sample; calls of the host that submit nothing follow.", required=True
    ),
    text(
        "kind",
        "kernel, copy, fill, barrier or library. Of a traced execution also what the host did beside submissions, "
        "without times of the device: execution (all of it), wait, allocation, queue, compile or build.",
        required=True,
    ),
    text("name", "Name of the kernel or of the call."),
    text("queue", "Queue of the sample that took it."),
    count(
        "clock",
        "Clock of the times: 0 for the device and its sub-devices, others for further devices. Times of two "
        "clocks cannot be compared.",
    ),
    count(
        "submit_began_host_ns",
        "When the host began the call that submitted it, on the host's clock (perf_counter_ns, of all processes); of a "
        "library's work the library's call, as its own submissions cannot be seen; of what the host did, that call. "
        "Null of samples: a traced execution alone is timed so, as the readings take time.",
        "ns",
    ),
    count("submit_ended_host_ns", "Time at which that call returned.", "ns"),
    count("over_host_ns", "Time at which the host had waited for the command. Null of samples.", "ns"),
    count("thread", "Thread of the host that called, of a traced execution: 0 runs the variant, others came later."),
    count("submit_ns", "Submission, on the device's clock.", "ns"),
    count("start_ns", "Start, on the device's clock.", "ns"),
    count("end_ns", "End, on the device's clock.", "ns"),
    count("bytes", "Bytes that a copy, or a fill of the session, writes; null for other kinds.", "bytes"),
    text(
        "route",
        "Kinds of memory of such a copy: device, shared or host of USM, pageable of other host memory, such as "
        "pageable_to_device; device_to_peer between two devices or parts of one.",
    ),
    count("mpi_rank", "Rank of MPI that submitted it; null where there are no ranks."),
)

MACHINE: Final = (
    count("first_sample", "First sample of the range.", required=True),
    count("last_sample", "Last sample of the range.", required=True),
    number("load_average", "Load average of the last minute."),
    number("contended", "Part of the time in which some task waited for a core."),
    number("stolen", "Part of the cores' time that the hypervisor gave to others."),
    number("cpu_mhz", "Clock of the first core.", "MHz"),
    number("gpu_mhz", "Clock of the fastest GPU tile when it was read; low when the GPU idles then.", "MHz"),
    number("gpu_limit_mhz", "Lowest upper limit of the GPU tiles' clocks.", "MHz"),
    count("throttled", "Times that the first core and its package were throttled, and GPU tiles that are."),
    count("gpu_clients", "Other processes that have the GPU open."),
    text("changed", "Names of those that changed since sampling began; empty if none.", required=True),
)

CHECKS: Final = (
    CASE_ID,
    count("first_sample", "First sample that the check covers.", required=True),
    count("end_sample", "Number after the last sample that the check covers.", required=True),
    text("result", f"{', '.join(CheckResult)}; the last check that covers a sample counts.", required=True),
)
