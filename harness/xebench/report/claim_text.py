"""A claim in words. Plain strings and no heavy import: the list of patterns shows it too."""

from __future__ import annotations

from xebench.tables.analysis.claim import Claim, Figure
from xebench.vocabulary import Outcome, Strength


def describe_claim(claim: Claim) -> str:
    """The claim in words: ``faster than naive by at least 1.5 times where work=1, for GPUs``."""
    return ", ".join(part for part in (_relation(claim) + _at_points(claim), _for_devices(claim)) if part)


def _relation(claim: Claim) -> str:
    least = f" by at least {claim.at_least:g} times" if claim.at_least > 1 else ""
    if claim.word == Outcome.SAME:
        return f"same as {claim.against}" + (f" within {claim.within:.0%}" if claim.within else "")
    if claim.of_time:
        return f"{claim.word} than {claim.against}{least}"
    if claim.of_accuracy:
        return f"more accurate than {claim.against}{least}"
    if claim.of_code:
        return f"fewer {claim.word.replace('_', ' ')} than {claim.against}{least}"
    return f"must end as {claim.word}" + (f" with {claim.kind!r}" if claim.kind else "")


def _at_points(claim: Claim) -> str:
    points = (
        f"{name}={'|'.join(map(str, value)) if isinstance(value, list | tuple) else value}"
        for name, value in claim.where.items()
    )
    return f" where {', '.join(points)}" if claim.where else ""


def _for_devices(claim: Claim) -> str:
    whom = " and ".join(f"{device_class.upper()}s" for device_class in claim.on)
    facts = " and ".join(claim.requires)
    return f"for {whom or 'devices'} with {facts}" if facts else f"for {whom}" if whom else ""


def claim_source(claim: Claim) -> str:
    """The source of the claim: ``G 4530: 2.9 on Max 1550``, ``ours``."""
    if claim.is_ours:
        return "ours"
    implied = " (implied)" if claim.strength == Strength.IMPLIED else ""
    return claim.source + (f": {format_figure(claim.figure)}" if claim.figure else "") + implied


def format_figure(figure: Figure) -> str:
    """The figure that the guide prints: ``2.9 on Max 1550``."""
    return f"{round(figure.speedup, 2):g}" + (f" on {figure.device}" if figure.device else "")
