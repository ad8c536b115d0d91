"""What a claim is, and what can come out of checking it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Final

from xebench.isa.compilation import Job, Source
from xebench.isa.kernel_code import KernelCode
from xebench.vocabulary import Answer

#: Every answer to a claim, and what it means here.
ANSWERS: Final = {
    Answer.HOLDS: "the code shows what the guide says",
    Answer.INVERTS: "the code shows the contrary",
    Answer.NO_EFFECT: "this compiler makes no code in which the claim could be seen",
    Answer.UNDECIDED: "the compiler does not build one of the sides for this GPU",
}

#: What most claims are checked for.
GPUS: Final = ("pvc", "dg2", "tgllp", "bmg")


@dataclass(frozen=True)
class Built:
    """One side of a claim, compiled."""

    code: KernelCode
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """An answer and the sentence that it rests on."""

    answer: str
    because: str


@dataclass(frozen=True)
class Claim:
    """A claim of the guide about generated code.

    Attributes:
        id: entry of the catalogue.
        guide: place in the guide.
        says: the claim, in our words.
        builds: the sides to compile for a GPU, by label: kernels of ours, and how they are compiled.
        judge: the judgement, from the compiled sides and the GPU.
        figures: what is shown of each side.
        gpus: the GPUs that it is about.
        known_not_to_reproduce: whether it was known before that IGC 1.0.12504 (Debian 12) does not show it.
    """

    id: str
    guide: str
    says: str
    builds: Callable[[str], Mapping[str, Job]]
    judge: Callable[[Mapping[str, Built], str], Judgement]
    figures: Callable[[Built], Mapping[str, int]]
    gpus: tuple[str, ...] = GPUS
    known_not_to_reproduce: bool = False


@dataclass(frozen=True)
class Result:
    """A claim checked with one compiler for one GPU; ``numbers`` holds the figures of each side."""

    claim: str
    gpu: str
    answer: str
    because: str
    numbers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def fewer(naive: int, optimized: int, what: str) -> Judgement:
    """The judgement where the guide says that there is less of something on the optimized side."""
    because = f"{what}: {naive} against {optimized}"
    if optimized < naive:
        return Judgement(Answer.HOLDS, because)
    return Judgement(Answer.NO_EFFECT if optimized == naive else Answer.INVERTS, because)


@cache
def opencl(name: str) -> Source:
    """A kernel of ours in OpenCL C, by the name of its file."""
    return Source(resources.files(__package__).joinpath(f"{name}.cl").read_bytes(), "opencl")
