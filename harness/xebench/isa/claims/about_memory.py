"""Claims about memory messages: E12, E14, E15, E28, E37."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from xebench.isa.claims.claim import Built, Claim, Judgement, fewer, opencl
from xebench.isa.compilation import Job, Target
from xebench.isa.sends import Message
from xebench.vocabulary import Answer

#: Without it ocloc takes buffers to be below 4 GB on dg2 and tgllp, and addresses of 32 bits from their start.
WIDE_ADDRESSES = ("-cl-intel-greater-than-4GB-buffer-required",)
ADDRESS_BYTES = 16 * 8  # lanes, bytes of an address


def _sides(*names: str, build_options: tuple[str, ...] = ()) -> Any:
    def builds(gpu: str) -> dict[str, Job]:
        from xebench.isa.claims.claim_kernels import accesses

        return {name: (accesses()[name], Target(gpu, build_options)) for name in names}

    return builds


def _moved(built: Built) -> list[Message]:
    """Loads from global memory, and stores to it."""
    messages = built.code.assembly.messages
    return [message for message in messages if message.space == "global" and message.kind in {"load", "store"}]


def _figures(built: Built) -> dict[str, int]:
    moved = _moved(built)
    return {
        "loads": built.code.assembly.count("load", "global"),
        "stores": built.code.assembly.count("store", "global"),
        "bytes of the widest message": max((message.bytes for message in moved), default=0),
        "address registers of a message": max((message.address_registers for message in moved), default=0),
        "instructions": len(built.code.assembly.instructions),
    }


def _fill_is_scattered(built: Mapping[str, Built], gpu: str) -> Judgement:
    apart, together = (_figures(built[name])["stores"] for name in ("fill_contiguous", "fill_interleaved"))
    if apart < together:
        because = f"the compiler joins an item's 16 stores: {apart} messages against {together}"
        return Judgement(Answer.NO_EFFECT, because)
    return Judgement(Answer.HOLDS, f"stores stay apart: {apart} messages of scattered lanes against {together}")


def _vectors_are_wider(built: Mapping[str, Built], gpu: str) -> Judgement:
    ones, fours = _figures(built["copy_ones"]), _figures(built["copy_fours"])
    narrow, wide = (figures["bytes of the widest message"] for figures in (ones, fours))
    less = fewer(ones["loads"] + ones["stores"], fours["loads"] + fours["stores"], "loads and stores")
    because = f"{less.because}; bytes of a message: {narrow} against {wide}"
    return Judgement(less.answer if wide == 4 * narrow else Answer.NO_EFFECT, because)


def _blocks_are_messages(built: Mapping[str, Built], gpu: str) -> Judgement:
    moved = _moved(built["copy_blocks"])
    blocks = [message for message in moved if message.width.endswith("t")]
    because = f"{len(blocks)} of {len(moved)} messages are blocks, the widest of {max(m.bytes for m in moved)} bytes"
    return Judgement(Answer.HOLDS if moved and len(blocks) == len(moved) else Answer.NO_EFFECT, because)


def _blocks_need_one_address(built: Mapping[str, Built], gpu: str) -> Judgement:
    name = "address registers of a message"
    lanes, block = (_figures(built[side])[name] for side in ("copy_by_lane", "copy_by_block"))
    size = built["copy_by_lane"].code.register_bytes
    less = fewer(lanes, block, f"registers of {size} bytes for a message's addresses")
    as_said = block == 1 and lanes * size == ADDRESS_BYTES
    return Judgement(less.answer if as_said else Answer.INVERTS, f"{less.because}, {lanes * size} bytes for the lanes")


def _order(built: Built) -> str:
    """Loads and stores in the order of the text: ``LLSLLS``."""
    return "".join({"load": "L", "store": "S"}[message.kind] for message in _moved(built))


def _restrict_hoists(built: Mapping[str, Built], gpu: str) -> Judgement:
    plain, manual, hinted = (_order(built[side]) for side in ("plain", "loads_first", "restricted"))
    because = f"order in the loop: plain {plain}, loads first by hand {manual}, restrict {hinted}"
    if plain == manual:
        return Judgement(Answer.NO_EFFECT, f"{because}: loads are first in any case")
    return Judgement(Answer.HOLDS if hinted == manual else Answer.NO_EFFECT, because)


def _hoisting_sides(gpu: str) -> dict[str, Job]:
    options = {"plain": (), "loads_first": ("-DLOADS_FIRST",), "restricted": ("-DRESTRICT",)}
    return {side: (opencl("pairwise_add"), Target(gpu, flags)) for side, flags in options.items()}


_ACCESS = "Sub-Groups and SIMD Vectorization"
_claim = partial(Claim, figures=_figures)
CLAIMS = (
    _claim(
        "E12",
        f"{_ACCESS} / Vectorization and Memory Access",
        "A work-item that stores 16 neighbours in a loop makes 16 scattered stores; interleaved by lanes they are "
        "contiguous.",
        _sides("fill_contiguous", "fill_interleaved"),
        _fill_is_scattered,
        known_not_to_reproduce=True,
    ),
    _claim(
        "E14",
        f"{_ACCESS} / Maximizing Memory Bandwidth Utilization",
        "Four elements a lane in one access quadruple the payload of a memory operation, from 64 to 256 bytes.",
        _sides("copy_ones", "copy_fours"),
        _vectors_are_wider,
    ),
    _claim(
        "E15",
        f"{_ACCESS} / Memory Block Load and Store",
        "Sub-group block access becomes the hardware's block messages.",
        _sides("copy_fours", "copy_blocks"),
        _blocks_are_messages,
    ),
    _claim(
        "E28",
        "Registerization and Avoiding Register Spills / Using Sub-group Block Load/Store",
        "64-bit addresses of 16 lanes take 128 bytes of registers, the address of a block at most one register.",
        _sides("copy_by_lane", "copy_by_block", build_options=WIDE_ADDRESSES),
        _blocks_need_one_address,
    ),
    _claim(
        "E37",
        "Pointer Aliasing and the Restrict Directive",
        "With restrict the compiler itself moves the loads of the second element before the store of the first.",
        _hoisting_sides,
        _restrict_hoists,
        known_not_to_reproduce=True,
    ),
)
