"""The columns of tables that analysis computes; those that are measured are in `xebench.results.columns`."""

from __future__ import annotations

from typing import Final

from xebench.results.columns import (
    CASE_ID,
    DEFAULTS,
    DEVICE_CLASS,
    FAMILY_ID,
    LESSON,
    METRIC,
    PATTERN,
    PLACE,
    PROBLEM,
    PROGRAM,
    REASON,
    STATE,
    STATUS,
    Column,
    count,
    number,
    text,
)
from xebench.vocabulary import (
    ACCURACY_CLAIMS,
    END_CLAIMS,
    REASON_CODES,
    TIME_CLAIMS,
    Answer,
    Outcome,
    Strength,
)

_ROOF = (
    number(
        "roof_fraction",
        "Largest part of a measured roof that the case reaches; bandwidth is that of the level that holds its working "
        "set.",
    ),
    text("nearest_roof", "Name of that roof, such as L2 bandwidth, memory bandwidth or fp32."),
)

SUMMARIES: Final = (
    CASE_ID,
    FAMILY_ID,
    PATTERN,
    *PROGRAM,
    *PROBLEM,
    *PLACE,
    METRIC,
    STATE,
    count("n", "Samples that count, valid and checked, in this state.", required=True),
    number("median_ns", "Median.", "ns"),
    number(
        "low_ns",
        "Lower end of the 95 % interval of the median over instances, of one alone over its samples (null with fewer "
        "than six); reaches as far as median_ns.",
        "ns",
    ),
    number("high_ns", "Its upper end.", "ns"),
    number("min_ns", "Smallest sample.", "ns"),
    number("q25_ns", "Lower quartile.", "ns"),
    number("q75_ns", "Upper quartile.", "ns"),
    count("outliers", "Samples with a modified z-score above 3.5; counted, never dropped."),
    number("drift", "Median of the second half of the samples against the first half, as a relative change."),
    number(
        "overlap",
        "Part of the time in which any event ran, barriers aside, in which two or more ran: median over the samples; "
        "null without events.",
    ),
    text("overlap_note", "Reason why overlap is null although events ran, in one line; null otherwise."),
    number(
        "concurrency", "Mean number of events that ran while any did: median over the samples; null without events."
    ),
    count("queues", "Queues that the events of its first sample were submitted to."),
    number(
        "copy_gbps",
        "Bytes of the copies between host and device over the time in which any of them ran: median over the samples; "
        "null where a copy is of pageable memory, whose times drivers report wrong.",
        "GB/s",
    ),
    number(
        "link_fraction",
        "The time of these copies one by one at the device's link_roofs, over that time; above 1 where copies that ran "
        "side by side gained from it.",
    ),
    number("link_apart", "The same over the sum of the copies' times: above 1 only where a roof is too low."),
    text("link_note", "Doubt about link_roofs if link_apart is above 1.02, in one line; null otherwise."),
    number("compile_ns", "Sum of the case's compile rows.", "ns"),
    number("bandwidth_gbps", "bytes_moved / median_ns.", "GB/s"),
    number("rate_gops", "operations / median_ns.", "Gop/s"),
    *_ROOF,
    number(
        "bandwidth_fraction",
        "bandwidth_gbps over the measured bandwidth of the level that holds its working set, whatever roof is nearest.",
    ),
    text(
        "bound_by",
        "memory, cache, compute, slm, device link or host link: the roof that is nearest; cache also when a case of "
        "unknown working set is faster than the memory.",
    ),
    text("roof_note", "Doubt about the roof if the fraction is above 1.02, in one line; null otherwise."),
    STATUS,
    REASON,
)

PAIRS: Final = (
    text("case_id", "Key of the variant's case.", required=True),
    text("baseline_case_id", "Key of the case that it is compared with.", required=True),
    FAMILY_ID,
    PATTERN,
    *LESSON,
    *PROBLEM,
    DEFAULTS,
    *PLACE,
    METRIC,
    STATE,
    text(
        "baseline",
        "Name of the variant that this one is compared with: the naive one, else baseline or antipattern; or the one "
        "that the claim names.",
        required=True,
    ),
    *PROGRAM,
    number("baseline_ns", "Median over the shared blocks of the baseline's median in the block.", "ns"),
    number("variant_ns", "Median over the shared blocks of the variant's median in the block.", "ns"),
    number(
        "speedup",
        "Baseline over variant in a block: median over an instance's blocks, mean of these over instances; load that "
        "hits both sides of a block cancels, so it may differ from baseline_ns / variant_ns.",
    ),
    number("speedup_low", "Lower end of the 95 % interval of the speed-up over instances, of one alone over blocks."),
    number("speedup_high", "Its upper end."),
    count("blocks", "Blocks in which both sides have a sample that counts, of long enough instances.", required=True),
    count("instances", "Instances of the family that these blocks are of."),
    text("outcome", f"{', '.join(Outcome)}; same: within the case's same_within.", required=True),
    text("claim", f"Word of the claim: {', '.join((*TIME_CLAIMS, *ACCURACY_CLAIMS, *END_CLAIMS))}; null if nothing."),
    text("claimed_for", "Class of devices that the claim covers; null for all."),
    text("claim_condition", "Facts of a device that the claim requires, such as stacks=2; null for none."),
    Column(
        "same_program",
        "boolean",
        "True if both sides are one program (cases.program): then no claim of time is judged. Null where unknown.",
    ),
    text("strength", f"Source of the claim: {', '.join(Strength)} (stated: the guide says so; implied: it follows)."),
    text("guide_source", "Lines of the guide that claim it, such as G 4530: a line of its English text."),
    number("guide_speedup", "The speed-up that the guide prints."),
    text("guide_device", "Product that it measured on."),
    number("of_guide", "speedup / guide_speedup."),
    Column(
        "at_guides_size",
        "boolean",
        "Whether product, metric and size are those of the guide's figure: else it does not promise how much. Null "
        "without a figure.",
    ),
    number("at_least", "Smallest ratio that is promised and was judged; null if no amount is promised."),
    text("answer", f"{', '.join(Answer)}.", required=True),
    Column(
        "barely",
        "boolean",
        "True if a claim holds by less than the noise: the median half-width of the run's intervals.",
    ),
    Column("stand_in", "boolean", "True if the pattern stands in for a lesson, and does not answer for the guide."),
    Column(
        "edited",
        "boolean",
        "True if the run has later results of the pattern, by another file: the program was edited since.",
    ),
    text("reason_code", f"Why, for programs: {', '.join(REASON_CODES)}."),
    text("reason", "Reason of the answer, in one line for people.", required=True),
    number(
        "times_empty_kernel",
        "The shorter side's device time over an empty kernel's; where it is small, fixed cost is in the speed-up. Null "
        "for other metrics.",
    ),
    *_ROOF,
)

COMPARISONS: Final = (
    PATTERN,
    *PROGRAM,
    *PROBLEM,
    DEVICE_CLASS,
    STATE,
    METRIC,
    text("before_device", "Name and driver version of the device in the first run, and its host where that is known."),
    text("after_device", "Name and driver version of the device in the second run, and its host where that is known."),
    count("before_n", "Samples that count, valid and checked, in the first run.", required=True),
    count("after_n", "Samples that count, valid and checked, in the second run.", required=True),
    number("before_ns", "Median in the first run.", "ns"),
    number("after_ns", "Median in the second run.", "ns"),
    number("speedup", "before_ns / after_ns: above 1 the second run is faster."),
    number("speedup_low", "Lower end of the 95 % interval of the speed-up."),
    number("speedup_high", "Upper end of the 95 % interval of the speed-up."),
    text("outcome", f"{', '.join(Outcome)}; same: within the threshold.", required=True),
    text("reason", "Reason of the outcome, in one line.", required=True),
)

PAIR_COMPARISONS: Final = (
    PATTERN,
    *PROGRAM,
    text("baseline", "Variant that it is compared with."),
    *PROBLEM,
    DEVICE_CLASS,
    STATE,
    METRIC,
    text("claim", "Word of the claim; null without a claim."),
    text("before_answer", f"In the first run, null where it lacks the pair: {', '.join(Answer)}."),
    text("after_answer", f"In the second run, null where it lacks the pair: {', '.join(Answer)}."),
    number("before_speedup", "The variant against its baseline in the first run."),
    number("after_speedup", "The variant against its baseline in the second run."),
    number("change", "after_speedup / before_speedup: above 1 the variant gained on its baseline."),
    number("change_low", "Lower end of the 95 % interval of the change."),
    number("change_high", "Upper end of the 95 % interval of the change."),
    text("outcome", f"{', '.join(Outcome)}; same: within the threshold.", required=True),
    text("reason", "Reason of the outcome, in one line.", required=True),
)
