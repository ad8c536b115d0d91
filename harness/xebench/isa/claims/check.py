"""Check all claims with one compiler."""

from __future__ import annotations

from collections.abc import Sequence

from xebench import runtime
from xebench.isa.claims import about_arithmetic, about_memory, about_registers
from xebench.isa.claims.claim import Built, Claim, Result
from xebench.isa.compilation import Compiled, Compiler
from xebench.isa.compile_cache import CompileCache
from xebench.isa.kernel_code import compile_all, read_code
from xebench.vocabulary import Answer


def all_claims() -> tuple[Claim, ...]:
    """Every claim, by catalogue entry."""
    claims = (*about_memory.CLAIMS, *about_registers.CLAIMS, *about_arithmetic.CLAIMS)
    return tuple(sorted(claims, key=lambda claim: (int("".join(filter(str.isdigit, claim.id))), claim.id)))


def check(claims: Sequence[Claim], compiler: Compiler, cache: CompileCache | None = None) -> list[Result]:
    """Every claim for every GPU that it is about."""
    runtime.load()
    plan = [(claim, gpu, claim.builds(gpu)) for claim in claims for gpu in claim.gpus]
    compiled = compile_all(compiler, [job for *_, builds in plan for job in builds.values()], cache)
    return [
        _result(claim, gpu, {name: compiled[source.sha256, target] for name, (source, target) in builds.items()})
        for claim, gpu, builds in plan
    ]


def _result(claim: Claim, gpu: str, compiled: dict[str, Compiled]) -> Result:
    failures = [f"{name}: {side.status}: {side.reason}" for name, side in compiled.items() if side.status != "ok"]
    if failures:
        return Result(claim.id, gpu, Answer.UNDECIDED, failures[0])
    built = {name: Built(read_code(side), side.warnings) for name, side in compiled.items()}
    judgement = claim.judge(built, gpu)
    numbers = {name: dict(claim.figures(side)) for name, side in built.items()}
    return Result(claim.id, gpu, judgement.answer, judgement.because, numbers)
